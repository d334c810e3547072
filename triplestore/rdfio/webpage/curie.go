package webpage

import (
	"strings"

	"golang.org/x/net/html"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// prefixes are the prefix declarations in scope: those of an element, and those of the elements around it.
type prefixes struct {
	own   map[string]string
	outer *prefixes
}

// with returns p with the declarations of an element: those of xmlns:p, and those of @prefix, which override them (RDFa
// Core §7.5 step 3).
func (p *prefixes) with(n *html.Node) *prefixes {
	var own map[string]string
	declare := func(prefix, ns string) {
		prefix = strings.ToLower(prefix)
		if prefix == "" || prefix == "_" || iri.Check(ns) != nil {
			return
		}
		if own == nil {
			own = map[string]string{}
		}
		own[prefix] = ns
	}
	for _, a := range n.Attr {
		if prefix, ok := strings.CutPrefix(a.Key, "xmlns:"); ok {
			declare(prefix, strings.TrimSpace(a.Val))
		}
	}
	if v, ok := attr(n, "prefix"); ok {
		fields := strings.Fields(v)
		for i := 0; i+1 < len(fields); i++ {
			if prefix, ok := strings.CutSuffix(fields[i], ":"); ok {
				declare(prefix, fields[i+1])
				i++
			}
		}
	}
	if own == nil {
		return p
	}
	return &prefixes{own: own, outer: p}
}

// lookup returns the namespace of a prefix.
func (p *prefixes) lookup(prefix string) (string, bool) {
	prefix = strings.ToLower(prefix)
	for ; p != nil; p = p.outer {
		if ns, ok := p.own[prefix]; ok {
			return ns, true
		}
	}
	ns, ok := initialPrefixes[prefix]
	return ns, ok
}

// initialPrefixes is the initial context of RDFa 1.1 (https://www.w3.org/2011/rdfa-context/rdfa-1.1).
var initialPrefixes = map[string]string{
	"as": "https://www.w3.org/ns/activitystreams#", "cc": "http://creativecommons.org/ns#", "cnt": "http://www.w3.org/2008/content#",
	"csvw": "http://www.w3.org/ns/csvw#", "ctag": "http://commontag.org/ns#", "dc": "http://purl.org/dc/terms/",
	"dc11": "http://purl.org/dc/elements/1.1/", "dcat": "http://www.w3.org/ns/dcat#", "dcterms": "http://purl.org/dc/terms/",
	"dqv": "http://www.w3.org/ns/dqv#", "duv": "https://www.w3.org/ns/duv#", "earl": "http://www.w3.org/ns/earl#",
	"foaf": "http://xmlns.com/foaf/0.1/", "gldp": "http://www.w3.org/ns/people#", "gr": "http://purl.org/goodrelations/v1#",
	"grddl": "http://www.w3.org/2003/g/data-view#", "ht": "http://www.w3.org/2006/http#", "ical": "http://www.w3.org/2002/12/cal/icaltzd#",
	"jsonld": "http://www.w3.org/ns/json-ld#", "ldp": "http://www.w3.org/ns/ldp#", "ma": "http://www.w3.org/ns/ma-ont#",
	"oa": "http://www.w3.org/ns/oa#", "odrl": "http://www.w3.org/ns/odrl/2/", "og": "http://ogp.me/ns#", "org": "http://www.w3.org/ns/org#",
	"owl": "http://www.w3.org/2002/07/owl#", "prov": "http://www.w3.org/ns/prov#", "ptr": "http://www.w3.org/2009/pointers#",
	"qb": "http://purl.org/linked-data/cube#", "rdf": vocab.RDFNS, "rdfa": "http://www.w3.org/ns/rdfa#",
	"rdfs": "http://www.w3.org/2000/01/rdf-schema#",
	"rev":  "http://purl.org/stuff/rev#", "rif": "http://www.w3.org/2007/rif#", "rr": "http://www.w3.org/ns/r2rml#", "schema": schemaOrg,
	"sd": "http://www.w3.org/ns/sparql-service-description#", "sioc": "http://rdfs.org/sioc/ns#",
	"skos":   "http://www.w3.org/2004/02/skos/core#",
	"skosxl": "http://www.w3.org/2008/05/skos-xl#", "sosa": "http://www.w3.org/ns/sosa/", "ssn": "http://www.w3.org/ns/ssn/",
	"time": "http://www.w3.org/2006/time#", "v": "http://rdf.data-vocabulary.org/#", "vcard": "http://www.w3.org/2006/vcard/ns#",
	"void": "http://rdfs.org/ns/void#", "wdr": "http://www.w3.org/2007/05/powder#", "wdrs": "http://www.w3.org/2007/05/powder-s#",
	"xhv": xhvNS, "xml": "http://www.w3.org/XML/1998/namespace", "xsd": vocab.XSDNS,
}

// initialTerms are the terms of the initial context.
var initialTerms = map[string]term.Key{
	"describedby": "<http://www.w3.org/2007/05/powder-s#describedby", "license": "<" + xhvNS + "license", "role": "<" + xhvNS + "role",
}

// tokens returns the words of an attribute.
func (s *step) tokens(name string) []string {
	v, _ := attr(s.n, name)
	return strings.Fields(v)
}

// curie resolves the CURIE prefix:reference. ok is false if v is not a CURIE.
func (d *document) curie(s *step, v string) (k term.Key, ok bool) {
	prefix, ref, colon := strings.Cut(v, ":")
	switch {
	case !colon || strings.HasPrefix(ref, "//"):
		return "", false
	case prefix == "_":
		return d.key(term.Blank(d.o.BlankPrefix + "l-" + ref)), true
	case prefix == "":
		return d.checked(xhvNS + ref), true
	}
	ns, ok := s.prefixes.lookup(prefix)
	if !ok {
		return "", false
	}
	return d.checked(ns + ref), true
}

// checked returns the key of an absolute IRI, or "" if s is invalid.
func (d *document) checked(s string) term.Key {
	if iri.Check(s) != nil {
		return ""
	}
	return d.key(term.IRI(s))
}

// safeCURIE resolves a value of @about or @resource: [prefix:ref], prefix:ref or an IRI (§7.4.2).
func (d *document) safeCURIE(s *step, v string) term.Key {
	v = strings.TrimSpace(v)
	if strings.HasPrefix(v, "[") && strings.HasSuffix(v, "]") {
		k, _ := d.curie(s, v[1:len(v)-1])
		return k
	}
	if k, ok := d.curie(s, v); ok {
		return k
	}
	return d.resource(v)
}

// vocabTerm resolves a word of @property, @rel, @rev, @typeof or @datatype: a term, a CURIE or an absolute IRI
// (§7.4.3).
func (d *document) vocabTerm(s *step, v string) term.Key {
	if !strings.Contains(v, ":") {
		if s.vocab != "" {
			return d.checked(s.vocab + v)
		}
		return initialTerms[strings.ToLower(v)]
	}
	if k, ok := d.curie(s, v); ok {
		return k
	}
	return d.checked(v)
}
