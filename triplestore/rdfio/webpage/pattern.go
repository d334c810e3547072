package webpage

import "odarchive/triplestore/term"

const (
	rdfaCopy    = term.Key("<http://www.w3.org/ns/rdfa#copy")
	rdfaPattern = term.Key("<http://www.w3.org/ns/rdfa#Pattern")

	maxChain = 100 // patterns that copy patterns in a row
)

// copied is property copying (HTML+RDFa 1.1 §3.5): what is said of a pattern is said of everything that copies it, and
// the patterns go.
func (d *document) copied() ([]term.Quad, error) {
	patterns, said, have := map[term.Key]bool{}, map[term.Key][]term.Quad{}, map[term.Quad]bool{}
	for _, q := range d.out {
		if q.P == rdfType && q.O == rdfaPattern {
			patterns[q.S] = true
		}
		have[q] = true
	}
	if len(patterns) == 0 {
		return d.out, nil
	}
	for _, q := range d.out {
		if patterns[q.S] && !(q.P == rdfType && q.O == rdfaPattern) {
			said[q.S] = append(said[q.S], q)
		}
	}
	for round, grown := 0, true; grown && round < maxChain; round++ {
		grown = false
		for i := 0; i < len(d.out); i++ {
			q := d.out[i]
			if q.P != rdfaCopy || !patterns[q.O] {
				continue
			}
			for _, about := range said[q.O] {
				about.S = q.S
				if have[about] {
					continue
				}
				have[about], grown = true, true
				d.out = append(d.out, about)
				if patterns[q.S] { // a pattern that copies another
					said[q.S] = append(said[q.S], about)
				}
				d.made += len(about.S) + len(about.P) + len(about.O)
				if err := d.tooMuch(); err != nil {
					return nil, err
				}
			}
		}
	}
	kept := d.out[:0]
	for _, q := range d.out {
		if !patterns[q.S] && !(q.P == rdfaCopy && patterns[q.O]) {
			kept = append(kept, q)
		}
	}
	return kept, nil
}
