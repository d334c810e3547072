package describe

import (
	"net/http"
	"net/url"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/rdf"
	"odarchive/vocab/spdx"
	"odarchive/vocab/void"
	"odarchive/vocab/xsd"
)

// Dumps answers GET /dumps with the dumps of the triples, as part of what VoID says.
func (l *LinkedData) Dumps(w http.ResponseWriter, r *http.Request) error {
	w.Header().Add("Vary", "Accept")
	f, err := choose(r, r.URL.Query().Get("format"), l.o.Document != nil)
	if err != nil {
		return err
	}
	alternates(w.Header(), &url.URL{Path: "/dumps"}, l.o.Document != nil)
	dataset := term.IRI(l.o.Mint.Base + ".well-known/void#dataset")
	var g graph
	g.add(dataset, rdf.Type, term.IRI(void.Dataset))
	g.add(dataset, dcterms.Title, term.Lang(l.o.Title, "en"))
	if err := l.dumps(&g, dataset); err != nil {
		return err
	}
	if f.html {
		return l.o.Document(w, r, "Dumps of all triples", g)
	}
	return write(w, r, f.syntax, g)
}

// dumps adds the dumps of the dataset, which are distributions in DCAT.
func (l *LinkedData) dumps(g *graph, dataset term.Key) error {
	// All graphs as they are at the moment of the request: TriG, or N-Quads by Accept. It is no file, so that it can
	// hold nothing that was withdrawn since.
	g.add(dataset, void.NS+"dataDump", term.IRI(l.o.Mint.Base+"rdf-graph-store"))
	if l.o.Dumps == nil {
		return nil
	}
	list, err := l.o.Dumps()
	if err != nil {
		return err
	}
	for _, d := range list { // first, so that the dataset is written as one block
		g.add(dataset, void.NS+"dataDump", term.IRI(l.o.Mint.Base+"dumps/"+d.Name))
	}
	for _, d := range list {
		iri := term.IRI(l.o.Mint.Base + "dumps/" + d.Name)
		g.add(iri, rdf.Type, term.IRI(dcat.Distribution))
		title, format := "All graphs, as N-Quads", "https://www.iana.org/assignments/media-types/application/n-quads"
		if d.Kind == catalog.DumpHDT {
			title, format = "The default graph, as HDT", ""
		}
		g.add(iri, dcterms.Title, term.Lang(title, "en"))
		if format != "" {
			g.add(iri, dcat.MediaType, term.IRI(format))
			g.add(iri, dcat.NS+"compressFormat", term.IRI("https://www.iana.org/assignments/media-types/application/gzip"))
		}
		g.add(iri, dcterms.Modified, describe.Time(d.Made))
		g.add(iri, dcat.ByteSize, term.Typed(integer(d.Size).Value(), xsd.NS+"nonNegativeInteger"))
		g.add(iri, dcat.NS+"downloadURL", iri)
		checksum := term.Blank("checksum-" + d.SHA256)
		g.add(iri, spdx.ChecksumProp, checksum)
		g.add(checksum, rdf.Type, term.IRI(spdx.Checksum))
		g.add(checksum, spdx.Algorithm, term.IRI(spdx.AlgorithmSHA256))
		g.add(checksum, spdx.ChecksumValue, term.Typed(d.SHA256, xsd.HexBinary))
	}
	return nil
}
