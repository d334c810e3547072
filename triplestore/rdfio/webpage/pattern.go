package webpage

import (
	"slices"

	"odarchive/triplestore/term"
)

const (
	rdfaCopy    = term.Key("<http://www.w3.org/ns/rdfa#copy")
	rdfaPattern = term.Key("<http://www.w3.org/ns/rdfa#Pattern")

	maxChain = 100 // length of a chain of patterns that copy patterns
)

// copyPatterns returns the statements after property copying (HTML+RDFa 1.1 §3.5): everything that copies a pattern
// gets the statements about the pattern, and the patterns are removed.
func (d *document) copyPatterns() ([]term.Quad, error) {
	patterns, statements, have := map[term.Key]bool{}, map[term.Key][]term.Quad{}, map[term.Quad]bool{}
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
			statements[q.S] = append(statements[q.S], q)
		}
	}
	for round, grown := 0, true; grown && round < maxChain; round++ {
		grown = false
		for i := 0; i < len(d.out); i++ {
			q := d.out[i]
			if q.P != rdfaCopy || !patterns[q.O] {
				continue
			}
			for _, about := range statements[q.O] {
				about.S = q.S
				if have[about] {
					continue
				}
				have[about], grown = true, true
				d.out = append(d.out, about)
				if patterns[q.S] { // a pattern that copies another
					statements[q.S] = append(statements[q.S], about)
				}
				d.made += len(about.S) + len(about.P) + len(about.O)
				if err := d.checkSize(); err != nil {
					return nil, err
				}
			}
		}
	}
	return slices.DeleteFunc(d.out, func(q term.Quad) bool { return patterns[q.S] || q.P == rdfaCopy && patterns[q.O] }), nil
}
