package schedule

import (
	"cmp"
	"fmt"
	"slices"
)

// Explain describes the five likeliest hypotheses of a belief in sentences, the likeliest first, and gives the
// probability of the rest.
func (b *Belief) Explain() []string {
	type line struct {
		p    float64
		text string
	}
	lines := []line{{b.rates[0], "it never changes"}}
	for k := 1; k < nRates; k++ {
		lines = append(lines, line{b.rates[k], "it changes at random, about every " + span(1/rates[k])})
	}
	for m, p := range b.mass {
		text := "it changes " + models[m].name
		if at, q := b.likeliest(m); q > 0.3*p {
			text += ", around " + models[m].clock(at)
		}
		lines = append(lines, line{p, text})
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.p, a.p) })
	const maxLines = 5
	var out []string
	rest := 1.0
	for _, l := range lines[:min(maxLines, len(lines))] {
		if l.p >= 0.01 {
			out = append(out, fmt.Sprintf("%.0f %%: %s", 100*l.p, l.text))
			rest -= l.p
		}
	}
	if rest >= 0.01 {
		out = append(out, fmt.Sprintf("%.0f %%: something else", 100*rest))
	}
	return out
}

// likeliest returns the likeliest time of a model, in seconds into the period, and its probability.
func (b *Belief) likeliest(model int) (at, p float64) {
	for _, f := range b.phases {
		if f.model == model && f.p > p {
			at, p = f.center, f.p
		}
	}
	return at, p
}
