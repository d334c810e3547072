package sparql

import (
	"slices"
	"strconv"
	"sync"
	"testing"

	"odarchive/triplestore/naive"
	"odarchive/triplestore/term"
)

var _ term.Dataset = (*overlay)(nil)

// Run with -race: the pattern of a later operation runs on several processors, which read the changes of earlier ones.
func TestAnOverlayIsReadByManyAtOnce(t *testing.T) {
	t.Parallel()
	quad := func(i int) term.Quad {
		return term.Quad{S: term.IRI("http://s/" + strconv.Itoa(i%7)), P: term.IRI("http://p"), O: term.String("number " + strconv.Itoa(i))}
	}
	var below []term.Quad
	for i := range 50 {
		below = append(below, quad(i))
	}
	for range 20 {
		o := newOverlay(naive.New(below...).Snapshot())
		for i := range 50 {
			if err := o.insert(quad(40 + i)); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.remove(quad(3)); err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 3 {
			for _, order := range o.Orders() {
				readers.Go(func() {
					var got []term.IDQuad
					c := o.Scan(term.Pattern{}, order)
					defer c.Close()
					for rows, err := c.Next(); len(rows) > 0 || err != nil; rows, err = c.Next() {
						if err != nil {
							t.Error(err)
							return
						}
						got = append(got, rows...)
					}
					if len(got) != 89 || !slices.IsSortedFunc(got, func(a, b term.IDQuad) int { return compareQuads(order, a, b) }) {
						t.Errorf("%s: %d quads", order, len(got))
					}
				})
			}
		}
		readers.Wait()
	}
}
