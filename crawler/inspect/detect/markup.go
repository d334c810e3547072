package detect

import (
	"bytes"
	"strings"
)

// markup recognises HTML, XHTML and XML vocabularies by the root element and its namespace.
func (f *file) markup(b []byte) (Detection, bool) {
	if b[0] != '<' {
		if looksLikeHTML(b) {
			return Detection{Type: "text/html", Confidence: 0.7, Because: "a text with the elements of an HTML page in it"}, true
		}
		return Detection{}, false
	}
	el := root(b)
	if el.name == "" {
		if looksLikeHTML(b) {
			return Detection{Type: "text/html", Confidence: 0.8, Because: "the elements of an HTML page"}, true
		}
		if el.declared {
			return Detection{Type: "application/xml", Confidence: 0.8, Because: "an XML declaration"}, true
		}
		return Detection{}, false
	}
	low := strings.ToLower(el.local())
	if el.doctypeHTML || low == "html" && el.space == "" {
		return f.html(el), true
	}
	if t, what := xmlKind(el); t != "" {
		if t == "application/xhtml+xml" {
			return f.html(el), true
		}
		return Detection{Type: t, Confidence: 0.95, Because: "XML whose root element is " + what}, true
	}
	if el.declared || el.space != "" {
		if el.flatODF != "" {
			return Detection{Type: el.flatODF, Confidence: 0.95, Because: "a flat OpenDocument file"}, true
		}
		return Detection{Type: "application/xml", Confidence: 0.9, Because: "XML whose root element is " + el.name}, true
	}
	if htmlElement(low) && (!f.hints.says("application/xml", "text/xml") || looksLikeHTML(b)) {
		return Detection{Type: "text/html", Confidence: 0.8, Because: "it begins with the HTML element " + low}, true
	}
	if looksLikeHTML(b) {
		return Detection{Type: "text/html", Confidence: 0.8, Because: "the elements of an HTML page"}, true
	}
	if wellFormed(b, el) {
		return Detection{Type: "application/xml", Confidence: 0.8, Because: "elements without a declaration, the root is " + el.name}, true
	}
	return Detection{}, false
}

// element describes a root element.
type element struct {
	name         string // with prefix
	space        string // namespace of the element, "" if undeclared
	spaces       string // all namespaces declared on it, separated by blanks
	declared     bool   // the document has an XML declaration
	doctypeHTML  bool
	doctypeXHTML bool
	flatODF      string
	atts         string
}

// local returns the name without prefix.
func (e element) local() string {
	if _, l, ok := strings.Cut(e.name, ":"); ok {
		return l
	}
	return e.name
}

// root skips the declaration, comments, processing instructions and doctype and parses the first start tag.
func root(b []byte) element {
	var el element
	for len(b) > 0 {
		b = bytes.TrimLeft(b, " \t\r\n\f\x00")
		switch {
		case len(b) == 0: // only what comes before a root
		case bytes.HasPrefix(b, []byte("<?")):
			end := bytes.IndexByte(b, '>')
			if end < 0 {
				return el
			}
			if bytes.HasPrefix(b, []byte("<?xml ")) || bytes.HasPrefix(b, []byte("<?xml\t")) || bytes.HasPrefix(b, []byte("<?xml\n")) {
				el.declared = true
			}
			b = b[end+1:]
		case bytes.HasPrefix(b, []byte("<!--")):
			end := bytes.Index(b[4:], []byte("-->"))
			if end < 0 {
				return el
			}
			b = b[4+end+3:]
		case len(b) > 9 && strings.EqualFold(string(b[:9]), "<!doctype"):
			decl, n := doctype(b)
			low := strings.ToLower(decl)
			rest := strings.TrimSpace(low[9:])
			if strings.HasPrefix(rest, "html") {
				el.doctypeHTML = true
				el.doctypeXHTML = strings.Contains(low, "xhtml")
			}
			b = b[n:]
		case bytes.HasPrefix(b, []byte("<!")):
			end := bytes.IndexByte(b, '>')
			if end < 0 {
				return el
			}
			b = b[end+1:]
		case b[0] == '<':
			return el.tag(b[1:])
		default:
			return el
		}
	}
	return el
}

// doctype returns a document type declaration, including its internal subset, and its length.
func doctype(b []byte) (string, int) {
	depth := 0
	for i, c := range b {
		switch c {
		case '[':
			depth++
		case ']':
			depth--
		case '>':
			if depth <= 0 {
				return string(b[:i]), i + 1
			}
		}
	}
	return string(b), len(b)
}

// tag parses a start tag after its "<".
func (e element) tag(b []byte) element {
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		end = min(len(b), 8192)
	}
	tag := string(b[:end])
	n := strings.IndexAny(tag, " \t\r\n/")
	if n < 0 {
		n = len(tag)
	}
	e.name = tag[:n]
	if e.name == "" || !nameStart(e.name[0]) {
		e.name = ""
		return e
	}
	e.atts = tag[n:]
	prefix, _, has := strings.Cut(e.name, ":")
	if !has {
		prefix = ""
	}
	for rest := e.atts; ; {
		i := strings.Index(rest, "xmlns")
		if i < 0 {
			break
		}
		rest = rest[i+5:]
		p := ""
		if strings.HasPrefix(rest, ":") {
			stop := strings.IndexAny(rest, "= \t\r\n")
			if stop < 0 {
				break
			}
			p, rest = rest[1:stop], rest[stop:]
		}
		rest = strings.TrimLeft(rest, "= \t\r\n")
		if rest == "" || rest[0] != '"' && rest[0] != '\'' {
			continue
		}
		v, after, ok := strings.Cut(rest[1:], rest[:1])
		if !ok {
			break
		}
		rest = after
		if p == prefix {
			e.space = v
		}
		e.spaces += " " + v
	}
	if i := strings.Index(e.atts, `mimetype="application/vnd.oasis.opendocument.`); i >= 0 {
		t, _, _ := strings.Cut(e.atts[i+len(`mimetype="`):], `"`)
		e.flatODF = t + "-flat-xml"
	}
	return e
}

func nameStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c >= 0x80
}

// xmlRoots are the media types of XML by the root element's local name and a part of its namespace. The first match
// counts.
var xmlRoots = []struct{ local, space, mime, what string }{
	{"rss", "", "application/rss+xml", "rss"},
	{"feed", "Atom", "application/atom+xml", "an Atom feed"},
	{"feed", "purl.org/atom", "application/atom+xml", "an Atom feed"},
	{"entry", "w3.org/2005/Atom", "application/atom+xml", "an Atom entry"},
	{"RDF", "22-rdf-syntax-ns", "application/rdf+xml", "rdf:RDF"},
	{"html", "", "application/xhtml+xml", "html"},
	{"svg", "", "image/svg+xml", "svg"},
	{"kml", "", "application/vnd.google-earth.kml+xml", "kml"},
	{"gpx", "", "application/gpx+xml", "gpx"},
	{"FeatureCollection", "opengis.net/wfs", "application/gml+xml", "a feature collection of GML"},
	{"FeatureCollection", "opengis.net/gml", "application/gml+xml", "a feature collection of GML"},
	{"WMS_Capabilities", "", "application/vnd.ogc.wms_xml", "the capabilities of a WMS"},
	{"WMT_MS_Capabilities", "", "application/vnd.ogc.wms_xml", "the capabilities of a WMS"},
	{"WFS_Capabilities", "", "application/vnd.ogc.wfs_xml", "the capabilities of a WFS"},
	{"ServiceExceptionReport", "", "application/vnd.ogc.se_xml", "a service exception of the OGC"},
	{"TriX", "", "application/trix+xml", "TriX"},
	{"trix", "", "application/trix+xml", "TriX"},
	{"Ontology", "w3.org/2002/07/owl", "application/owl+xml", "an OWL ontology"},
	{"sparql", "sparql-results", "application/sparql-results+xml", "SPARQL results"},
	{"math", "MathML", "application/mathml+xml", "MathML"},
	{"stylesheet", "XSL/Transform", "application/xslt+xml", "an XSLT stylesheet"},
	{"transform", "XSL/Transform", "application/xslt+xml", "an XSLT stylesheet"},
	{"TEI", "", "application/tei+xml", "TEI"},
	{"TEI.2", "", "application/tei+xml", "TEI"},
	{"teiCorpus", "", "application/tei+xml", "TEI"},
	{"mets", "", "application/mets+xml", "METS"},
	{"mods", "", "application/mods+xml", "MODS"},
	{"modsCollection", "", "application/mods+xml", "MODS"},
	{"collection", "MARC21/slim", "application/marcxml+xml", "MARCXML"},
	{"record", "MARC21/slim", "application/marcxml+xml", "MARCXML"},
	{"COLLADA", "", "model/vnd.collada+xml", "COLLADA"},
	{"TrainingCenterDatabase", "", "application/vnd.garmin.tcx+xml", "TCX"},
	{"xliff", "", "application/xliff+xml", "XLIFF"},
	{"OpenSearchDescription", "", "application/opensearchdescription+xml", "an OpenSearch description"},
	{"wfw", "", "text/x-opml", "OPML"},
	{"opml", "", "text/x-opml", "OPML"},
	{"OAI-PMH", "", "application/xml", "an answer of OAI-PMH"},
	{"CityModel", "opengis.net/citygml", "application/gml+xml", "a city model of CityGML"},
	{"CityModel", "citygml.org/citygml", "application/gml+xml", "a city model of CityGML"},
}

// xmlKind returns the media type of XML with a known root element, "" for others.
func xmlKind(el element) (mime, what string) {
	local := el.local()
	switch {
	case local == "RDF" && strings.Contains(el.spaces, "purl.org/rss/1.0"):
		return "application/rss+xml", "rdf:RDF with RSS 1.0"
	case local == "RDF" && el.space == "":
		return "application/rdf+xml", "rdf:RDF"
	case local == "FeatureCollection" && strings.Contains(el.spaces, "opengis.net/gml"):
		return "application/gml+xml", "a feature collection of GML"
	case strings.Contains(strings.ToLower(el.space+el.spaces), "sdmx"):
		switch local {
		case "Structure":
			return "application/vnd.sdmx.structure+xml", "an SDMX structure"
		case "GenericData", "GenericTimeSeriesData":
			return "application/vnd.sdmx.genericdata+xml", "SDMX data"
		case "StructureSpecificData", "StructureSpecificTimeSeriesData", "CompactData", "CrossSectionalData", "MessageGroup":
			return "application/vnd.sdmx.structurespecificdata+xml", "SDMX data"
		}
	}
	for _, r := range xmlRoots {
		if r.local == local && strings.Contains(el.space, r.space) {
			return r.mime, r.what
		}
	}
	if strings.HasPrefix(el.space, "http://www.opengis.net/gml") {
		return "application/gml+xml", "an element of GML"
	}
	return "", ""
}
