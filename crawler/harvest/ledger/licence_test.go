package ledger

import (
	"testing"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func TestAnotherLicenceIsAnEventOfTheDatasetAndThePortal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	licensed := func(dataset string, licences ...term.Key) harvest.Entry {
		e := about(dataset)
		for _, l := range licences {
			e.Quads = append(e.Quads, term.Quad{S: term.IRI(e.Dataset), P: term.IRI(vocab.DCTLicense), O: l})
		}
		return e
	}
	by, nc := term.IRI("https://creativecommons.org/licenses/by/4.0/"), term.String("CC BY-NC")
	w.run(true, licensed("a", by), licensed("b", by), licensed("c"))
	w.run(true, licensed("a", nc), licensed("b", by), licensed("c", by))
	w.run(true, licensed("a", nc), licensed("c", by))
	w.run(true, licensed("a", nc), licensed("b", nc), licensed("c")) // b comes back, which is no change of its licence
	var got []string
	err := events.View(w.db, func(log events.Txn) error {
		return log.InScope(t.Context(), events.OfPortal(w.portal), 1<<63, func(seq uint64, kinds events.Kind) (bool, error) {
			e, ok, err := log.Event(seq)
			if !ok || kinds != events.Licence || e.IsVersion() {
				t.Errorf("event %d: %+v", seq, e)
			}
			got = append(got, e.Dataset+": "+e.From+" > "+e.To)
			return true, err
		})
	})
	want := []string{
		"http://d.example/c: https://creativecommons.org/licenses/by/4.0/ > ",
		"http://d.example/c:  > https://creativecommons.org/licenses/by/4.0/",
		"http://d.example/a: https://creativecommons.org/licenses/by/4.0/ > CC BY-NC",
	}
	if err != nil || len(got) != len(want) || got[0] != want[0] || got[1] != want[1] && got[1] != want[2] {
		t.Errorf("events %q, %v; want %q", got, err, want)
	}
}
