package oai

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/iso19115"
	"odarchive/crawler/harvest/loose"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const (
	maxLiteral    = 64 << 10 // bytes of a record kept as a literal
	maxStatements = 10_000   // per record in RDF
	maxFiles      = 5_000    // per record
)

// other reads formats by the local names of elements, on which the usual ones agree (DataCite, OpenAIRE, MODS, METS,
// DIDL, EDM, DDI, MARCXML, Atom), and keeps the record as a literal.
func (b *builder) other(root *loose.Element, raw []byte) {
	b.keepLiteral(root, raw)
	root.Walk(func(e *loose.Element, up []*loose.Element) {
		b.word(e, up)
		if len(b.files) < maxFiles {
			b.link(e, up)
		}
	})
}

// keepLiteral keeps a short record as a literal, and the name of its format.
func (b *builder) keepLiteral(root *loose.Element, raw []byte) {
	if len(raw) <= maxLiteral {
		b.addTerm(vocab.ArcMetadataRecord, term.Typed(string(raw), vocab.RDFXMLLiteral))
	}
	if ns := root.Name.Space; isURL(ns) {
		b.add(vocab.DCTConformsTo, ns)
	}
}

// iso reads a record of geographic data as package csw does.
func (b *builder) iso(root *loose.Element, raw []byte) {
	own, before := iso19115.ID(root), b.d
	b.d = iso19115.Read(root, func(id string) string {
		if id != own {
			return id // the repository's name for that record is unknown
		}
		return before.IRI
	}).Dataset
	b.d.Identifiers, b.d.IsPartOf = append(before.Identifiers, b.d.Identifiers...), append(before.IsPartOf, b.d.IsPartOf...)
	b.d.Modified = cmp.Or(b.d.Modified, before.Modified)
	b.keepLiteral(root, raw)
	if len(b.d.Distributions) > 0 {
		return
	}
	root.Walk(func(e *loose.Element, up []*loose.Element) {
		if len(b.files) < maxFiles {
			b.link(e, up)
		}
	})
}

func (b *builder) addTerm(property string, o term.Key) {
	b.d.Statements = append(b.d.Statements, term.Quad{S: term.IRI(b.d.IRI), P: term.IRI(property), O: o})
}

// word reads an element that describes the dataset.
func (b *builder) word(e *loose.Element, up []*loose.Element) {
	value := e.Text()
	if uri := e.Attr("rightsURI"); uri != "" {
		b.rights(uri)
	}
	if value == "" {
		return
	}
	text := harvest.Text{Value: value, Lang: e.Attr("lang")}
	switch strings.ToLower(e.Name.Local) {
	case "title", "titl":
		if len(b.d.Title) == 0 || within(up, "titles") {
			b.d.Title = append(b.d.Title, text)
		}
	case "description", "abstract":
		b.d.Description = append(b.d.Description, text)
	case "subject", "keyword", "topic":
		b.d.Keywords = append(b.d.Keywords, text)
	case "creatorname", "authenty":
		b.d.Creators = append(b.d.Creators, harvest.Agent{Name: value})
	case "publisher":
		b.d.Publisher.Name = cmp.Or(b.d.Publisher.Name, value)
	case "language":
		b.d.Language = append(b.d.Language, value)
	case "rights", "licensecondition", "license":
		b.rights(value)
	case "version":
		b.d.Version = cmp.Or(b.d.Version, value)
	case "publicationyear", "dateissued":
		b.d.Issued = cmp.Or(b.d.Issued, value)
	case "date":
		if e.Attr("dateType") == "Issued" {
			b.d.Issued = value
		}
	case "format":
		b.format(value)
	case "identifier", "alternateidentifier":
		if len(up) <= 2 && len(value) < 500 {
			b.identifier(value)
			b.address(value)
		}
	case "relatedidentifier":
		b.mention(value)
	}
}

// link reads an element that leads to a file.
func (b *builder) link(e *loose.Element, up []*loose.Element) {
	var d harvest.Distribution
	switch e.Name.Local {
	case "FLocat": // METS
		d.URL = e.Attr("href")
		if file := parent(up); file != nil {
			d.MediaType, d.Size = file.Attr("MIMETYPE"), size(file.Attr("SIZE"))
			d.Checksum, d.ChecksumAlg = file.Attr("CHECKSUM"), algorithm(file.Attr("CHECKSUMTYPE"))
		}
	case "Resource": // DIDL
		d.URL, d.MediaType = e.Attr("ref"), e.Attr("mimeType")
	case "file": // OpenAIRE
		d.URL, d.MediaType = e.Text(), e.Attr("mimeType")
	case "link": // Atom
		if rel := e.Attr("rel"); rel == "enclosure" || strings.HasSuffix(rel, "/aggregates") {
			d.URL, d.MediaType, d.Size, d.Title = e.Attr("href"), e.Attr("type"), size(e.Attr("length")), e.Attr("title")
		}
	case "subfield": // MARCXML, electronic location
		if field := parent(up); field != nil && field.Attr("tag") == "856" && e.Attr("code") == "u" {
			b.address(e.Text())
		}
	case "URL": // ISO 19139
		if within(up, "linkage") {
			b.address(e.Text())
		}
	case "url": // MODS
		if e.Attr("access") == "raw object" {
			d.URL = e.Text()
		} else {
			b.address(e.Text())
		}
	case "otherMat", "fileDscr": // DDI
		d.URL = e.Attr("URI")
	case "isShownBy", "hasView": // EDM without rdf:RDF
		d.URL = e.Attr("resource")
	case "downloadURL", "contentUrl":
		d.URL = cmp.Or(e.Attr("resource"), e.Text())
	}
	if isURL(d.URL) {
		b.file(d)
	}
}

func parent(up []*loose.Element) *loose.Element {
	if len(up) == 0 {
		return nil
	}
	return up[len(up)-1]
}

func within(up []*loose.Element, local string) bool {
	p := parent(up)
	return p != nil && p.Name.Local == local
}

func algorithm(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "-", ""))
	switch name {
	case "md5", "sha1", "sha256":
		return name
	}
	return ""
}

// rdf keeps a record in RDF unchanged, up to the first fault; the dataset refers to the record's topic.
func (b *builder) rdf(raw []byte, base string) {
	options := rdfio.Options{Base: base, BlankPrefix: fmt.Sprintf("r%x", digest(b.d.IRI))}
	about := map[term.Key]map[string][]term.Key{}
	for q, err := range rdfio.NewReader(bytes.NewReader(raw), rdfio.RDFXML(), options).All() {
		if err != nil || len(b.d.Statements) >= maxStatements {
			break
		}
		b.d.Statements = append(b.d.Statements, q)
		if about[q.S] == nil {
			about[q.S] = map[string][]term.Key{}
		}
		about[q.S][q.P.Value()] = append(about[q.S][q.P.Value()], q.O)
	}
	said := b.d.Statements
	if topic := topicOf(said); topic != "" {
		b.addTerm(vocab.FOAFPrimaryTopic, topic)
		b.topic(about[topic])
	}
	for _, q := range said {
		switch q.P.Value() {
		case vocab.DCATDownloadURL, edm + "isShownBy", edm + "hasView", edm + "object":
		case vocab.DCATAccessURL:
			if len(about[q.S][vocab.DCATDownloadURL]) > 0 {
				continue
			}
		default:
			continue
		}
		if address := strings.TrimSpace(q.O.Value()); isURL(address) && len(b.files) < maxFiles {
			b.file(harvest.Distribution{URL: address, MediaType: mediaType(first(about[q.S], vocab.DCATMediaType)),
				Format: first(about[q.S], vocab.DCTFormat),
				Title:  first(about[q.S], vocab.DCTTitle), Size: size(first(about[q.S], vocab.DCATByteSize))})
		}
	}
}

const (
	edm = "http://www.europeana.eu/schemas/edm/"
	dce = "http://purl.org/dc/elements/1.1/"
)

// topicOf returns the topic of a record: its dataset, its cultural object, or its first subject.
func topicOf(quads []term.Quad) term.Key {
	for _, q := range quads {
		if q.P.Value() == vocab.RDFType {
			switch q.O.Value() {
			case vocab.DCATDataset, edm + "ProvidedCHO", "http://schema.org/Dataset":
				return q.S
			}
		}
	}
	if len(quads) == 0 {
		return ""
	}
	return quads[0].S
}

// topic copies the topic's title and similar properties to the dataset.
func (b *builder) topic(about map[string][]term.Key) {
	for _, ns := range []string{vocab.DCTNS, dce} {
		for _, title := range about[ns+"title"] {
			b.d.Title = append(b.d.Title, harvest.Text{Value: title.Value(), Lang: title.Lang()})
		}
		for _, text := range about[ns+"description"] {
			b.d.Description = append(b.d.Description, harvest.Text{Value: text.Value(), Lang: text.Lang()})
		}
	}
	for _, word := range about[vocab.DCATKeyword] {
		b.d.Keywords = append(b.d.Keywords, harvest.Text{Value: word.Value(), Lang: word.Lang()})
	}
	b.d.License = first(about, vocab.DCTLicense)
	b.d.Issued = first(about, vocab.DCTIssued)
	if page := first(about, vocab.DCATLandingPage); isURL(page) {
		b.d.LandingPage = page
	}
}

// first returns the first object that is not a blank node.
func first(about map[string][]term.Key, property string) string {
	for _, o := range about[property] {
		if o.Kind() != term.KindBlank {
			return o.Value()
		}
	}
	return ""
}

// mediaType removes the address of the IANA registry.
func mediaType(s string) string {
	for _, prefix := range []string{"https://www.iana.org/assignments/media-types/", "http://www.iana.org/assignments/media-types/"} {
		s = strings.TrimPrefix(s, prefix)
	}
	return s
}
