package dcat

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// distributions adds the distributions of d to its dataset, one for each address that can be crawled: its download URLs
// or, if none of them is an address, its access URLs, which may be pages or files.
func (g *graph) distributions(to *harvest.Dataset, d term.Key) {
	for _, node := range g.objects(d, vocab.DCATDistributionProp) {
		form := harvest.Distribution{
			IRI: nameOf(node), Title: g.value(node, vocab.DCTTitle, vocab.RDFSLabel), Format: g.label(node, vocab.DCTFormat),
			MediaType: mediaType(g.label(node, vocab.DCATMediaType)), Modified: g.value(node, vocab.DCTModified),
		}
		form.Size = size(g.value(node, vocab.DCATByteSize))
		form.Service = len(g.objects(node, vocab.DCATAccessService)) > 0 || portalapi.IsService(form.Format)
		addresses := slices.DeleteFunc(g.objects(node, vocab.DCATDownloadURL), g.isWords)
		if len(addresses) > 0 {
			form.Service = false
		} else {
			// dct:accessURL does not exist, but is used
			addresses = g.objects(node, vocab.DCATAccessURL, vocab.DCTNS+"accessURL", vocab.DCATNS+"accessUrl")
		}
		if len(addresses) == 0 && len(g.out[node]) == 0 && node.Kind() != term.KindBlank {
			addresses = []term.Key{node} // only an address
		}
		before := len(to.Distributions)
		for _, address := range addresses {
			form.URL = strings.TrimSpace(address.Value())
			if address.Kind() == term.KindBlank { // [ rdf:value "…" ]
				form.URL = g.value(address, vocab.RDFValue)
			}
			if form.URL != "" {
				to.Distributions = append(to.Distributions, form)
			}
		}
		if len(to.Distributions) == before && !form.Service {
			to.Unaddressed++
		}
	}
}

// isWords reports whether a value is not an address.
func (g *graph) isWords(o term.Key) bool {
	value := o.Value()
	if o.Kind() == term.KindBlank {
		value = g.value(o, vocab.RDFValue)
	}
	u, err := url.Parse(strings.TrimSpace(value))
	return err != nil || u.Host == ""
}

// label returns the label of an object: a literal, the label of a node, or the end of an IRI.
func (g *graph) label(s term.Key, predicate string) string {
	for _, o := range g.objects(s, predicate) {
		if o.Kind() == term.KindLiteral {
			return strings.TrimSpace(o.Value())
		}
		if name := g.value(o, vocab.RDFSLabel, vocab.SKOSPrefLabel, vocab.RDFValue, vocab.DCTTitle); name != "" {
			return name
		}
		if o.Kind() == term.KindIRI {
			const iana = "/assignments/media-types/"
			if _, name, ok := strings.Cut(o.Value(), iana); ok {
				return name
			}
			return o.Value()[strings.LastIndexAny(o.Value(), "/#")+1:]
		}
	}
	return ""
}

func mediaType(s string) string {
	if strings.Count(s, "/") == 1 {
		return s
	}
	return ""
}

func size(s string) int64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n > 1<<60 {
		return 0
	}
	return int64(n)
}

// frequency returns the first declared frequency that means a period, else the first one: an IRI, a text, or the label
// of what either leads to.
func (g *graph) frequency(d term.Key) string {
	said := ""
	for _, o := range g.objects(d, vocab.DCTAccrualPeriodicity) {
		names := g.objects(o, vocab.RDFSLabel, vocab.SKOSPrefLabel, vocab.RDFValue)
		if o.Kind() != term.KindBlank {
			names = append([]term.Key{o}, names...)
		}
		for _, name := range names {
			value := strings.TrimSpace(name.Value())
			if harvest.PeriodOf(value) > 0 {
				return value
			}
			said = cmp.Or(said, value)
		}
	}
	return said
}
