package describe

import (
	"net/http"
	"net/url"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
	"odarchive/vocab"
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
	g.add(dataset, vocab.RDFType, term.IRI(vocab.VoIDDataset))
	g.add(dataset, vocab.DCTTitle, term.Lang(l.o.Title, "en"))
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
	g.add(dataset, vocab.VoIDNS+"dataDump", term.IRI(l.o.Mint.Base+"rdf-graph-store"))
	if l.o.Dumps == nil {
		return nil
	}
	list, err := l.o.Dumps()
	if err != nil {
		return err
	}
	for _, d := range list { // first, so that the dataset is written as one block
		g.add(dataset, vocab.VoIDNS+"dataDump", term.IRI(l.o.Mint.Base+"dumps/"+d.Name))
	}
	for _, d := range list {
		iri := term.IRI(l.o.Mint.Base + "dumps/" + d.Name)
		g.add(iri, vocab.RDFType, term.IRI(vocab.DCATDistribution))
		title, format := "All graphs, as N-Quads", "https://www.iana.org/assignments/media-types/application/n-quads"
		if d.Kind == catalog.DumpHDT {
			title, format = "The default graph, as HDT", ""
		}
		g.add(iri, vocab.DCTTitle, term.Lang(title, "en"))
		if format != "" {
			g.add(iri, vocab.DCATMediaType, term.IRI(format))
			g.add(iri, vocab.DCATNS+"compressFormat", term.IRI("https://www.iana.org/assignments/media-types/application/gzip"))
		}
		g.add(iri, vocab.DCTModified, describe.Time(d.Made))
		g.add(iri, vocab.DCATByteSize, term.Typed(integer(d.Size).Value(), vocab.XSDNS+"nonNegativeInteger"))
		g.add(iri, vocab.DCATNS+"downloadURL", iri)
		checksum := term.Blank("checksum-" + d.SHA256)
		g.add(iri, vocab.SPDXChecksumProp, checksum)
		g.add(checksum, vocab.RDFType, term.IRI(vocab.SPDXChecksum))
		g.add(checksum, vocab.SPDXAlgorithm, term.IRI(vocab.SPDXAlgorithmSHA256))
		g.add(checksum, vocab.SPDXChecksumValue, term.Typed(d.SHA256, vocab.XSDHexBinary))
	}
	return nil
}
