package files

import (
	"bufio"
	"encoding/hex"
	"path"
	"strconv"
	"strings"

	"odarchive/ns"
)

// crate writes the zip's description as an RO-Crate 1.2 (https://w3id.org/ro/crate/1.2), in flattened JSON-LD: the
// crate is the zip, its files are the entries, and a CreateAction says by which query they were selected.
func crate(w *bufio.Writer, p *Plan) {
	var b []byte
	b = append(b, "{\"@context\": \"https://w3id.org/ro/crate/1.2/context\",\n\"@graph\": [\n"...)
	b = append(b, `{"@id": "`+crateName+
		`", "@type": "CreativeWork", "conformsTo": {"@id": "https://w3id.org/ro/crate/1.2"}, "about": {"@id": "./"}},`...)
	b = append(b, "\n{\"@id\": \"./\", \"@type\": \"Dataset\",\n"...)
	name, archive := p.meta.Title, p.meta.Base
	if name == "" {
		name = "Files of the archive " + archive
	}
	b = member(b, " ", "name", name, ",\n")
	b = member(b, " ", "description",
		"Versions of files of the web, as the archive "+archive+" fetched them. The record of each file says from where and when.", ",\n")
	b = appendInstant(append(b, ` "datePublished": "`...), p.modified) // of the newest version, so that the zip stays the same
	b = append(b, "\",\n \"license\": {\"@id\": \"#licences\"},\n"...)
	b = appendReference(b, ` "publisher": `, archive)
	b = append(b, ",\n \"mentions\": {\"@id\": \"#selection\"},\n \"hasPart\": [{\"@id\": \""+manifestName+"\"}, {\"@id\": \""+metadataName+
		"\"}"...)
	for i := range p.entries {
		b = appendReference(append(b, ",\n  "...), "", p.entries[i].reference())
		w.Write(b)
		b = b[:0]
	}
	b = append(b, "]},\n"...)
	b = append(b,
		`{"@id": "#licences", "@type": "CreativeWork", "name": "The licences of the files", "description": "Each file has the licence `+
			`under which it was published. What portals state of it is in the archive."},`...)
	b = appendReference(b, "\n", archive)
	b = append(b[:len(b)-1], `, "@type": "Organization", `...)
	b = member(b, "", "name", "Archive "+archive, "")
	b = appendReference(append(b, ", "...), `"url": `, archive)
	b = append(b, "},\n"...)
	b = p.appendSelection(b)
	b = append(b, `{"@id": "`+manifestName+
		`", "@type": "File", "name": "Manifest", "description": "All files with their versions and digests", "encodingFormat": `+
		`"application/json"},`...)
	b = append(b, "\n{\"@id\": \""+metadataName+
		`", "@type": "File", "name": "Metadata", "description": "The versions in RDF", "encodingFormat": "text/turtle"}`...)
	for i := range p.entries {
		b = p.appendFile(append(b, ",\n"...), &p.entries[i])
		w.Write(b)
		b = b[:0]
	}
	w.Write(append(b, "\n]}\n"...))
}

// appendSelection writes the action that made the crate.
func (p *Plan) appendSelection(b []byte) []byte {
	b = append(b, `{"@id": "#selection", "@type": "CreateAction", "name": "Selection of the files", "endTime": "`...)
	b = appendInstant(b, p.modified)
	b = append(b, '"')
	b = appendReference(b, `, "agent": `, p.meta.Base)
	b = append(b, `, "result": {"@id": "./"}`...)
	if p.meta.Query == "" {
		return append(b, "},\n"...)
	}
	b = append(b, ", \"instrument\": {\"@id\": \"#query\"}},\n"...)
	b = append(b,
		`{"@id": "#query", "@type": "SoftwareSourceCode", "name": "SPARQL query", "programmingLanguage": {"@id": `+
			`"https://www.w3.org/TR/sparql11-query/"}, `...)
	b = member(b, "", "text", p.meta.Query, "},\n")
	return append(b,
		`{"@id": "https://www.w3.org/TR/sparql11-query/", "@type": "ComputerLanguage", "name": "SPARQL 1.1 Query Language", "url": `+
			`{"@id": "https://www.w3.org/TR/sparql11-query/"}},`+"\n"...)
}

// appendFile writes a file of the crate. Its url is the IRI of the version, below which the archive describes it: with
// the columns of a table, as CSVW has them.
func (p *Plan) appendFile(b []byte, e *Entry) []byte {
	b = appendReference(b, "", e.reference())
	b = append(b[:len(b)-1], `, "@type": "File", `...)
	fileName := e.FileName
	if e.Member != nil || fileName == "" {
		fileName = path.Base(e.Name)
	}
	b = member(b, "", "name", fileName, "")
	if e.Type != "" {
		b = member(b, ", ", "encodingFormat", e.Type, "")
	}
	b = append(b, `, "contentSize": "`...)
	b = strconv.AppendInt(b, e.Ref.Size, 10)
	b = append(b, `", "sha256": "`...)
	b = hex.AppendEncode(b, e.Ref.SHA256[:])
	b = append(b, `", "dateModified": "`...)
	b = append(appendInstant(b, e.At), '"')
	b = appendReference(b, `, "url": `, p.iri(e))
	b = appendReference(b, `, "subjectOf": `, p.iri(e)+"?format=jsonld")
	if e.Member != nil {
		b = appendReference(b, `, "isPartOf": `, ns.Mint{Base: p.meta.Base}.Version(e.ID))
	} else if e.URL != "" {
		b = appendReference(b, `, "isBasedOn": `, e.URL)
	}
	if o := e.Origin; o != nil {
		b = o.append(b)
	}
	return append(b, '}')
}

// reference returns the relative reference to an entry.
func (e *Entry) reference() string {
	if e.plain {
		return e.Name
	}
	return strings.ReplaceAll(relative(e.Name), ":", "%3A")
}

// appendReference writes a reference to an entity, behind a text.
func appendReference(b []byte, before, id string) []byte {
	b = append(append(b, before...), `{"@id": `...)
	return append(appendJSON(b, iri(id)), '}')
}

// Origin is what portals say of a file.
type Origin struct {
	Portal  string // IRI, "" if no portal lists it
	Dataset string // IRI of the dataset that it is of
	Title   string // of the dataset
	Licence string // an IRI, or what the portal calls it; "" if it states none
}

func (o *Origin) append(b []byte) []byte {
	if o.Dataset != "" {
		b = appendReference(b, `, "isPartOf": `, o.Dataset)
	}
	if o.Portal != "" {
		b = appendReference(b, `, "provider": `, o.Portal)
	}
	if strings.Contains(o.Licence, "://") {
		b = appendReference(b, `, "license": `, o.Licence)
	} else if o.Licence != "" {
		b = member(b, ", ", "license", o.Licence, "")
	}
	return b
}

func (o *Origin) text() string {
	if o == nil {
		return ""
	}
	return strings.Join([]string{o.Portal, o.Dataset, o.Title, o.Licence}, "\x00")
}
