package hdt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/cputime"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// write returns the file of quads.
func write(t testing.TB, o hdt.WriterOptions, quads []term.Quad) []byte {
	t.Helper()
	w := hdt.NewWriter(o)
	defer w.Close()
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := w.Finish(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns all triples of a file.
func read(file []byte, o hdt.Options) ([]term.Quad, error) {
	r, err := hdt.Open(context.Background(), bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		return nil, err
	}
	var out []term.Quad
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			if uint64(len(out)) != r.Triples() {
				err = fmt.Errorf("read %d of %d triples", len(out), r.Triples())
				return out, err
			}
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, q)
	}
}

func sorted(quads []term.Quad) []term.Quad {
	out := slices.Clone(quads)
	slices.SortFunc(out, func(a, b term.Quad) int {
		return strings.Compare(string(a.S+"\n"+a.P+"\n"+a.O), string(b.S+"\n"+b.P+"\n"+b.O))
	})
	return slices.Compact(out)
}

// random returns triples of the kinds of terms that dictionaries have trouble with.
func random(seed uint64, n int) []term.Quad {
	rnd := rand.New(rand.NewPCG(seed, 1))
	iri := func(n int) term.Key { return term.IRI(fmt.Sprintf("http://example.org/%d/%x", n%7, rnd.IntN(n))) }
	literals := []term.Key{
		term.String(""), term.String(`"`), term.String(`a"@en`), term.String(`x"^^<http://example.org/t>`), term.Lang("é", "en"),
		term.Lang("é\n\t\\", "de-at"), term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer"), term.String("\x7f\U0010FFFF"),
		term.String(strings.Repeat("long ", 20)), term.String(strings.Repeat("long ", 20) + "er"),
	}
	out := make([]term.Quad, n)
	for i := range out {
		q := term.Quad{S: iri(n), P: iri(9)}
		if rnd.IntN(4) == 0 {
			q.S = term.Blank(fmt.Sprint("b", rnd.IntN(n)))
		}
		switch rnd.IntN(4) {
		case 0:
			q.O = iri(n)
		case 1:
			q.O = literals[rnd.IntN(len(literals))]
		case 2:
			q.O = term.String(fmt.Sprintf("value %d", rnd.IntN(n)))
		default:
			q.O = term.Blank(fmt.Sprint("b", rnd.IntN(n)))
		}
		out[i] = q
	}
	return out
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 15, 16, 17, 33, 1000, 30_000} {
		quads := random(uint64(n), n)
		for _, end := range []string{"a", "b"} { // longer than a page
			quads = append(quads, term.Quad{S: term.IRI("http://example.org/long"), P: term.IRI("http://example.org/p"),
				O: term.String(strings.Repeat("long ", 20_000) + end)})
		}
		got, err := read(write(t, hdt.WriterOptions{}, quads), hdt.Options{Memory: 1})
		if err != nil {
			t.Fatalf("%d triples: %v", n, err)
		}
		if want := sorted(quads); !slices.Equal(sorted(got), want) {
			t.Errorf("%d triples: read %d different ones, want %d", n, len(sorted(got)), len(want))
		}
	}
}

func TestAFileIsTheSameHoweverLittleMemoryThereIs(t *testing.T) {
	t.Parallel()
	quads := random(7, 100_000)
	want := write(t, hdt.WriterOptions{}, quads)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(quads), func(i, j int) { quads[i], quads[j] = quads[j], quads[i] })
	if got := write(t, hdt.WriterOptions{Memory: 1, TempDir: t.TempDir()}, append(quads, quads[:1000]...)); !bytes.Equal(got, want) {
		t.Errorf("with many chunks the file has %d bytes and other content than the %d bytes with one", len(got), len(want))
	}
}

func TestARefusedTripleLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := hdt.NewWriter(hdt.WriterOptions{})
	defer w.Close()
	s, p := term.IRI("http://example.org/s"), term.IRI("http://example.org/p")
	for _, q := range []term.Quad{
		{S: term.IRI("http://example.org/refused"), P: p, O: term.Triple(s, p, s)},
		{S: term.IRI("http://example.org/refused"), P: p, O: term.String("a\x00b")},
		{S: s, P: p, O: term.IRI("not absolute")},
		{S: s, P: p, O: term.String("\xff")},
		{S: s, P: term.Blank("b"), O: s},
		{S: term.String("a"), P: p, O: s},
		{S: s, P: p, O: s, G: s},
		{S: s, P: p},
	} {
		var bad *rdfio.TermError
		if err := w.Write(q); !errors.As(err, &bad) {
			t.Errorf("Write(%q) = %v, want a *rdfio.TermError", q, err)
		}
	}
	good := term.Quad{S: s, P: p, O: term.IRI("http://example.org/o")}
	if err := w.Write(good); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := w.Finish(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	got, err := read(b.Bytes(), hdt.Options{})
	if err != nil || !slices.Equal(got, []term.Quad{good}) {
		t.Errorf("read %q, %v, want only %q", got, err, good)
	}
}

func TestBlankNodesGetThePrefix(t *testing.T) {
	t.Parallel()
	p := term.IRI("http://example.org/p")
	file := write(t, hdt.WriterOptions{}, []term.Quad{{S: term.Blank("x"), P: p, O: term.Blank("ü b")}})
	got, err := read(file, hdt.Options{BlankPrefix: "doc"})
	want := term.Quad{S: term.Blank("docx"), P: p, O: term.Blank("doc" + rdfio.BlankLabel("ü b"))}
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("read %q, %v, want %q", got, err, want)
	}
}

func TestEveryFlippedBitIsFoundOrHarmless(t *testing.T) {
	t.Parallel()
	quads := random(3, 60)
	file := write(t, hdt.WriterOptions{}, quads)
	want := sorted(quads)
	header := bytes.Index(file, []byte("<urn:odarchive:hdt>"))
	headerEnd := header + bytes.Index(file[header:], []byte("$HDT"))
	for bit := range 8 * len(file) {
		if at := bit / 8; at >= header && at < headerEnd {
			continue // the header has no checksum
		}
		file[bit/8] ^= 1 << (bit % 8)
		if got, err := read(file, hdt.Options{}); err == nil && !slices.Equal(sorted(got), want) {
			t.Errorf("with bit %d of byte %d flipped, other triples are read without an error", bit%8, bit/8)
		} else if err != nil && !errors.Is(err, hdt.ErrDamaged) && !errors.Is(err, hdt.ErrUnsupported) {
			t.Errorf("with bit %d of byte %d flipped: %v", bit%8, bit/8, err)
		}
		file[bit/8] ^= 1 << (bit % 8)
	}
	for n := range len(file) {
		if _, err := read(file[:n], hdt.Options{}); err == nil {
			t.Errorf("the first %d of %d bytes are read without an error", n, len(file))
		}
	}
}

func TestAnEmptyBitmapMayHaveAByteOrNone(t *testing.T) {
	t.Parallel()
	file := write(t, hdt.WriterOptions{}, nil)
	bitmap := []byte{1, 0x80, 0x9C, 0, 0x51, 0x53, 0x7D, 0x52} // as hdt-cpp writes it
	if n := bytes.Count(file, bitmap); n != 2 {
		t.Fatalf("the file has %d empty bitmaps of hdt-cpp, want 2: %q", n, file[len(file)-60:])
	}
	for _, b := range [][]byte{file, bytes.ReplaceAll(file, bitmap, []byte{1, 0x80, 0x9C, 0, 0, 0, 0})} {
		if got, err := read(b, hdt.Options{}); err != nil || len(got) != 0 {
			t.Errorf("read %q, %v", got, err)
		}
	}
}

func TestAnEndedContextEndsWriting(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w := hdt.NewWriter(hdt.WriterOptions{Memory: 1, TempDir: t.TempDir()})
	for _, q := range random(5, 50_000) {
		if err := w.Write(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(ctx, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("Finish returned %v, want %v", err, context.Canceled)
	}
}

func FuzzRead(f *testing.F) {
	for _, n := range []int{0, 1, 40} {
		f.Add(write(f, hdt.WriterOptions{}, random(uint64(n), n)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := hdt.Open(context.Background(), bytes.NewReader(b), int64(len(b)), hdt.Options{Memory: 1})
		if err != nil {
			return
		}
		for range 100_000 {
			q, err := r.Read()
			if err != nil && !r.Skip() {
				return
			}
			if err == nil {
				if err := rdfio.Check(q); err != nil {
					t.Fatalf("read %q: %v", q, err)
				}
			}
		}
	})
}

func BenchmarkWrite(b *testing.B) {
	quads := random(1, 200_000)
	used := cputime.Of(func() {
		for b.Loop() {
			write(b, hdt.WriterOptions{}, quads)
		}
	})
	b.ReportMetric(float64(b.N)*float64(len(quads))/used.Seconds(), "triples/cpu-s")
}

func BenchmarkRead(b *testing.B) {
	quads := random(1, 200_000)
	file := write(b, hdt.WriterOptions{}, quads)
	used := cputime.Of(func() {
		for b.Loop() {
			if _, err := read(file, hdt.Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)*float64(len(quads))/used.Seconds(), "triples/cpu-s")
}
