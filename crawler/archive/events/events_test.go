package events

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/kv"
)

const resource = "0123456789abcdef01234567"

func TestEventsAreNumberedWithoutGapsAndReadInBothDirections(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	at := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	for i := range 300 {
		e := Event{Kinds: Rows, At: at, Resource: resource, N: i}
		scopes := []Scope{OfResource(resource)}
		if i%100 == 50 {
			e = Event{Kinds: Licence, At: at.Add(-time.Hour), N: -1, Dataset: "http://p.example/d", Portal: "http://p.example/", From: "a",
				To: strings.Repeat("é", 800)}
			scopes = []Scope{OfDataset("http://p.example/d"), OfPortal("http://p.example/")}
		}
		if err := db.Update(t.Context(), func(txn *kv.Txn) error { return Txn{txn}.Add(e, scopes...) }); err != nil {
			t.Fatal(err)
		}
	}
	err = View(db, func(log Txn) error {
		if next, err := log.Next(); err != nil || next != 300 {
			t.Errorf("next %d, %v", next, err)
		}
		if n, err := log.Versions(); err != nil || n != 297 {
			t.Errorf("%d versions, %v", n, err)
		}
		some, err := log.Range(t.Context(), 48, 52)
		if err != nil || len(some) != 4 || some[0].N != 48 || some[0].VersionID() != resource+"_48" ||
			some[2].Dataset != "http://p.example/d" || some[2].To != strings.Repeat("é", 500) || some[3].Seq != 51 {
			t.Errorf("%+v, %v", some, err)
		}
		if empty, err := log.Range(t.Context(), 300, 400); err != nil || len(empty) != 0 {
			t.Errorf("beyond the end: %+v, %v", empty, err)
		}
		var seqs []uint64
		err = log.InScope(t.Context(), OfPortal("http://p.example/"), 250, func(seq uint64, kinds Kind) (bool, error) {
			seqs = append(seqs, seq)
			return true, nil
		})
		if err != nil || !slices.Equal(seqs, []uint64{150, 50}) {
			t.Errorf("in the portal: %v, %v", seqs, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := View(db, func(log Txn) error { return log.Before(ctx, 300, func(Event) (bool, error) { return true, nil }) }); err == nil {
		t.Error("reading went on without its caller")
	}
}

func TestKindsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]Kind{
		"": Usual, "schema": Schema, "Schema, gone": Schema | Gone, "license": Licence, "all": Usual | Past, "past,new": Past | New,
		",": Usual,
	} {
		if got, err := ParseKinds(words); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", words, got.Names(), err, want.Names())
		}
	}
	if k, err := ParseKinds(strings.Join((Usual | Past).Names(), ",")); err != nil || k != Usual|Past {
		t.Errorf("%v, %v", k.Names(), err)
	}
	if _, err := ParseKinds("schema,size"); err == nil || !strings.Contains(err.Error(), `"size"`) ||
		!strings.Contains(err.Error(), "shrunk") {
		t.Errorf("an unknown kind: %v", err)
	}
}

// FuzzDecode feeds records to decode, which must neither panic nor change what it accepts.
func FuzzDecode(f *testing.F) {
	f.Add(Event{Kinds: Rows | Shrunk, At: time.UnixMilli(1), Resource: resource, N: 3}.encode())
	f.Add(Event{Kinds: Gone, N: -1, Why: "the server answered 404"}.encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decode(eventKey(7), raw)
		if err != nil {
			return
		}
		again, err := decode(eventKey(7), e.encode())
		if err != nil || again != e && len(e.Dataset+e.Portal+e.From+e.To+e.Why) < maxText {
			t.Errorf("%+v became %+v, %v", e, again, err)
		}
	})
}
