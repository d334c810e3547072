package sparql

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

// all hands over all statements of graphs, subject by subject. It omits statements about blank nodes that no IRI leads
// to, because they cannot be paged. Marks are "graph last-subject".
func (s Source) all(ctx context.Context, from string, out harvest.Sink) error {
	at, after, _ := strings.Cut(from, " ")
	begun := from == ""
	var partly error
	skip := func(why string) {
		partly = fmt.Errorf("%w: %s", ErrPartly, why)
		out.Skip(why)
	}
	for _, graph := range s.Graphs {
		if !begun && graph != at {
			continue
		}
		begun = true
		name := graph
		if graph == "default" {
			name = ""
		}
		if err := out.Portal(harvest.Portal{IRI: cmp.Or(s.Portal, name, s.URL)}, true); err != nil {
			return err
		}
		w := &Walk{Endpoint: s.Endpoint, Graph: name, Is: "?thing ?property ?value", Skip: skip}
		err := w.Each(ctx, after, func(things []string, quads []term.Quad, last string) error {
			if thing := undescribed(things, quads); thing != "" { // what is known of it must stay
				return fmt.Errorf("%w: %s lists %s, but says nothing of it", ErrPartly, s.URL, thing)
			}
			for _, q := range quads {
				if err := out.Quad(q); err != nil {
					return err
				}
			}
			return out.Mark(graph + " " + last)
		})
		if err != nil {
			return err
		}
		after = ""
	}
	return Partly(partly, out)
}

// undescribed returns a thing that no statement is about, "" if there is none.
func undescribed(things []string, quads []term.Quad) string {
	described := map[term.Key]bool{}
	for _, q := range quads {
		described[q.S] = true
	}
	for _, thing := range things {
		if !described[term.IRI(thing)] {
			return thing
		}
	}
	return ""
}
