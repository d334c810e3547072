package sink_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"odarchive/sparqlapi/data/sink"
	"odarchive/triplestore"
	"odarchive/triplestore/term"
)

func TestARoundTellsHowMuchOfWhatIsRead(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{KeepChanges: -1})
	err := s.Update(context.Background(), func(txn *triplestore.Txn) error {
		for i := range 2500 {
			q := term.Quad{S: term.IRI(fmt.Sprint("http://example.org/", i)), P: term.IRI("http://example.org/p"), O: term.Blank("o")}
			if i%2 == 0 {
				q.G = term.IRI("http://example.org/g")
			}
			if err := txn.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, address := newTarget(t)
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, to := range map[string]sink.Target{
		"files": sink.Files{Dir: t.TempDir()}, "sparql": newSPARQL(t, sink.SPARQLOptions{Update: address}),
	} {
		var told []sink.Progress
		round := func() {
			told = nil
			from := sink.StoreSource{Store: s, Log: "log"}
			sync1(t, to, sink.Watched(from, func(p sink.Progress) { told = append(told, p) }))
		}
		round()
		total := quads(t, s)
		want := sink.Progress{Quads: 2000, Total: int64(len(total))}
		if len(told) != 2 || told[1] != want {
			t.Errorf("%s: everything: %+v, want %+v last", name, told, want)
		}
		change(t, s, rnd, 3)
		round()
		if len(told) < 1 {
			t.Fatalf("%s: changes: nothing", name)
		}
		if last := told[len(told)-1]; last.Total != -1 || last.Commits == 0 || last.Commits != last.AllCommits || last.Quads == 0 {
			t.Errorf("%s: changes: %+v", name, told)
		}
	}
}
