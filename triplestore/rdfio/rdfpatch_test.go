package rdfio_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

func rows(r io.Reader) (all []rdfio.PatchRow, err error) {
	p := rdfio.NewPatchReader(r)
	for {
		row, err := p.Read()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
}

var (
	s = term.IRI("http://example.org/s")
	p = term.IRI("http://example.org/p")
)

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	quads := []term.Quad{
		{S: s, P: p, O: term.String("a\n\"b\"")}, {S: s, P: p, O: term.Lang("é", "en"), G: s},
		{S: term.Blank("x"), P: p, O: term.Blank("y")}, {S: s, P: p, O: term.String(strings.Repeat("long ", 100_000))},
		{S: s, P: p, O: term.Triple(s, p, s)},
	}
	var b bytes.Buffer
	w := rdfio.NewPatchWriter(&b)
	var want []rdfio.PatchRow
	for range 3 {
		if err := errors.Join(w.Header("id", "urn:x:1"), w.Begin(), w.Quads(quads, true), w.Quads(quads, false), w.Commit()); err != nil {
			t.Fatal(err)
		}
		want = append(want, rdfio.PatchRow{Kind: rdfio.PatchHeader, Name: "id", Text: "<urn:x:1>"}, rdfio.PatchRow{Kind: rdfio.PatchBegin})
		for _, q := range quads {
			want = append(want, rdfio.PatchRow{Kind: rdfio.PatchDelete, Quad: q})
		}
		for _, q := range quads {
			want = append(want, rdfio.PatchRow{Kind: rdfio.PatchAdd, Quad: q})
		}
		want = append(want, rdfio.PatchRow{Kind: rdfio.PatchCommit})
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, in := range []io.Reader{bytes.NewReader(b.Bytes()), iotest.HalfReader(bytes.NewReader(b.Bytes())),
		iotest.OneByteReader(bytes.NewReader(b.Bytes()))} {
		if got, err := rows(in); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %d rows, %v, want %d", len(got), err, len(want))
		}
	}
}

func TestPatchesOfOthersAreRead(t *testing.T) {
	t.Parallel()
	got, err := rows(strings.NewReader(
		"# a comment\nH id <uuid:1> .\nPA \"ex\" \"http://example.org/\" .\nTX .\n\nA <http://example.org/s> <http://example.org/p> " +
			"\"x\" .\nTA .\nTX .\nD _:a <http://example.org/p> _:b <http://example.org/s> .\nTC ."))
	want := []rdfio.PatchRow{{Kind: rdfio.PatchHeader, Name: "id", Text: "<uuid:1>"}, {Kind: rdfio.PatchBegin},
		{Kind: rdfio.PatchAdd, Quad: term.Quad{S: s, P: p, O: term.String("x")}}, {Kind: rdfio.PatchAbort}, {Kind: rdfio.PatchBegin},
		{Kind: rdfio.PatchDelete, Quad: term.Quad{S: term.Blank("a"), P: p, O: term.Blank("b"), G: s}}, {Kind: rdfio.PatchCommit}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestFaultsAreErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"X .\n", "A <a> .\n", "A ", "TX\x00", "A <http://example.org/s> <http://example.org/p> \"x\"",
		"H " + strings.Repeat("x", 100_000)} {
		if got, err := rows(strings.NewReader(text)); err == nil {
			t.Errorf("%.40q: read %+v", text, got)
		}
	}
}

func TestARowWithoutAQuadDoesNotGetThatOfTheNextRow(t *testing.T) {
	t.Parallel()
	for _, row := range []string{"A \n", "A\t# a comment\n", "D  \r\n"} {
		got, err := rows(strings.NewReader("TX .\n" + row + "D <http://example.org/s> <http://example.org/p> \"x\" .\nTC .\n"))
		if err == nil || len(got) != 1 || got[0].Kind != rdfio.PatchBegin {
			t.Errorf("%q: read %+v, %v", row, got, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(
		"H id <uuid:1> .\nTX .\nA <http://example.org/s> <http://example.org/p> \"x\" .\nD _:a <http://example.org/p> _:b " +
			"<http://example.org/s> .\nTC .\n")
	f.Fuzz(func(t *testing.T, text string) { rows(strings.NewReader(text)) })
}
