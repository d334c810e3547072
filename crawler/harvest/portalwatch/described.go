package portalwatch

import (
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// described is a Sink that takes out of datasets which week measured their quality, and adds addresses to them.
type described struct{ harvest.Sink }

func (s described) Dataset(d harvest.Dataset) error {
	measured := map[term.Key]bool{}
	for _, q := range d.Statements {
		measured[q.O] = measured[q.O] || q.P == term.IRI(vocab.DQVHasQualityMeasurement)
	}
	d.Statements = slices.DeleteFunc(d.Statements, func(q term.Quad) bool {
		return measured[q.S] && q.P == term.IRI(vocab.PROVWasGeneratedBy)
	})
	d.Distributions = append(d.Distributions, otherAddresses(d)...)
	return s.Sink.Dataset(d)
}

// otherAddresses returns further addresses of distributions. Portals use access and download URLs differently, so all
// are listed.
func otherAddresses(d harvest.Dataset) []harvest.Distribution {
	listed := map[string]bool{}
	for _, dist := range d.Distributions {
		listed[dist.URL] = true
	}
	titles := map[term.Key]string{}
	for _, q := range d.Statements {
		if q.P == term.IRI(vocab.DCTTitle) {
			titles[q.S] = q.O.Value()
		}
	}
	var more []harvest.Distribution
	for _, q := range d.Statements {
		switch q.P.Value() {
		case vocab.DCATAccessURL, vocab.DCATDownloadURL, vocab.DCTNS + "accessURL":
		default:
			continue
		}
		address := strings.TrimSpace(q.O.Value())
		if q.S == term.IRI(d.IRI) || q.O.Kind() == term.KindBlank || address == "" || listed[address] {
			continue
		}
		listed[address] = true
		more = append(more, harvest.Distribution{URL: address, Title: titles[q.S]})
	}
	return more
}
