package triplestore

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"odarchive/triplestore/internal/index"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

func someCommit() *commit {
	id := func(n uint64) term.ID { return term.Make(term.TagIRI, n) }
	day, _ := term.Inline(term.Typed("2016-11-23", "http://www.w3.org/2001/XMLSchema#date"))
	return &commit{
		unixMilli: 1_479_900_000_000, first: 17,
		terms: []term.Key{"<http://e/a", "<http://e/ab", "_b", "\"text"},
		changes: []index.Change{
			{Quad: term.IDQuad{S: id(3), P: id(4), O: day, G: term.DefaultGraph}, Sign: -1},
			{Quad: term.IDQuad{S: id(17), P: id(4), O: id(18), G: term.DefaultGraph}, Sign: 1},
			{Quad: term.IDQuad{S: id(17), P: id(4), O: term.Make(term.TagLiteral, 20), G: id(1)}, Sign: 1},
		},
	}
}

func TestRecordsOfTheLogComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	want := someCommit()
	got, h, err := decodeRecord(want.encode())
	if err != nil || h != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range 2000 { // long enough to be compressed
		want.changes = append(want.changes,
			index.Change{
				Quad: term.IDQuad{S: term.Make(term.TagIRI, uint64(20+i)), P: want.changes[0].Quad.P, O: want.changes[0].Quad.O,
					G: term.DefaultGraph}, Sign: 1})
	}
	long := want.encode()
	if got, _, err := decodeRecord(long); err != nil || long[0] != packedVersion || !reflect.DeepEqual(got, want) {
		t.Errorf("a record of %d bytes: %v", len(long), err)
	}
	_, h, err = decodeRecord(head{5, 7}.encode())
	if err != nil || h == nil || *h != (head{5, 7}) {
		t.Errorf("%+v, %v", h, err)
	}
	r := &root{nextID: 9, merged: 8, trimmed: 7, logBytes: 6, lists: []uint64{5, 4}, index: []byte("i"), dict: []byte("d")}
	if back, err := decodeRoot(r.encode()); err != nil || !reflect.DeepEqual(back, r) {
		t.Errorf("%+v, %v", back, err)
	}
}

// FuzzRecord decodes malformed records and roots with valid checksums.
func FuzzRecord(f *testing.F) {
	for _, b := range [][]byte{someCommit().encode(), head{5, 7}.encode(), (&root{nextID: 3, index: []byte("x")}).encode()} {
		f.Add(b[:len(b)-8])
	}
	long := someCommit()
	for i := range 50 {
		long.terms = append(long.terms, term.Key(fmt.Sprint("<http://e/", i)))
	}
	packed := long.encode()
	f.Add(packed[:len(packed)-8])
	f.Add([]byte{packedVersion, 200, 1, 0})
	f.Add([]byte{partVersion, 1, 0})
	f.Fuzz(func(t *testing.T, body []byte) {
		b := segments.AppendSeal(bytes.Clone(body), 0)
		if c, _, err := decodeRecord(b); err == nil && c != nil && c.unixMilli != 0 {
			again, _, err := decodeRecord(c.encode())
			if err != nil || !reflect.DeepEqual(again, c) {
				t.Errorf("%+v became %+v, %v", c, again, err)
			}
		}
		decodeRoot(b)
	})
}
