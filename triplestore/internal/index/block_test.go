package index

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// randomRows returns n distinct quads with ids of several kinds, sorted in the layout.
func randomRows(rnd *rand.Rand, l Layout, n int) []term.IDQuad {
	subjects, predicates, graphs := 1+rnd.IntN(1<<rnd.IntN(12)), 1+rnd.IntN(1<<rnd.IntN(10)), rnd.IntN(4)
	object := func() term.ID {
		switch rnd.IntN(4) {
		case 0:
			return term.Make(term.TagInteger, 1<<59+uint64(rnd.IntN(1000)))
		case 1:
			return term.Make(term.TagDateTime, rnd.Uint64N(1<<60))
		case 2:
			return term.Make(term.TagGYear, 1<<60-1)
		}
		return term.Make(term.TagLiteral, 1+rnd.Uint64N(100_000))
	}
	seen := map[term.IDQuad]bool{}
	var rows []term.IDQuad
	for len(rows) < n {
		q := term.IDQuad{
			S: term.Make(term.TagIRI, 1+rnd.Uint64N(uint64(subjects))),
			P: term.Make(term.TagIRI, 1+rnd.Uint64N(uint64(predicates))),
			O: object(),
			G: term.DefaultGraph,
		}
		if graphs > 0 {
			q.G = term.Make(term.TagIRI, 1+rnd.Uint64N(uint64(graphs)))
		}
		if !seen[q] {
			seen[q] = true
			rows = append(rows, q)
		}
	}
	slices.SortFunc(rows, compareIn(l))
	return rows
}

func TestBlocksComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	var enc, dec codec
	for round := range 300 {
		l := Layout(round % Layouts)
		rows := randomRows(rnd, l, 1+rnd.IntN(1+rnd.IntN(maxBlockRows)))
		id := rnd.Uint64()
		b := bytes.Clone(enc.encode(l, id, rows))
		got, err := dec.decode(b, l, id, nil)
		if err != nil || !slices.Equal(got, rows) {
			t.Fatalf("round %d: %d rows in %s: %v", round, len(rows), l, err)
		}
		if _, err := dec.decode(b, l, id+1, nil); err == nil {
			t.Fatal("a block was read under another's number")
		}
		flip := bytes.Clone(b)
		flip[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		if _, err := dec.decode(flip, l, id, nil); err == nil {
			t.Fatalf("round %d: a flipped bit was not noticed", round)
		}
	}
}

// FuzzBlock decodes malformed blocks with valid checksums.
func FuzzBlock(f *testing.F) {
	rnd := rand.New(rand.NewPCG(2, 2))
	var c codec
	for l := Layout(0); l < Layouts; l++ {
		b := c.encode(l, 7, randomRows(rnd, l, 1+rnd.IntN(50)))
		f.Add(bytes.Clone(b[:len(b)-segments.SealSize]), byte(l))
	}
	f.Fuzz(func(t *testing.T, body []byte, l byte) {
		var c codec
		b := segments.AppendSeal(bytes.Clone(body), 7)
		rows, err := c.decode(b, Layout(l%Layouts), 7, nil)
		if err == nil && (len(rows) == 0 || len(rows) > maxBlockRows) {
			t.Errorf("%d rows", len(rows))
		}
	})
}

// archiveRows imitates an archive: subjects with the same few predicates, each with objects of one kind.
func archiveRows(l Layout, n int) []term.IDQuad {
	rnd := rand.New(rand.NewPCG(3, 3))
	var rows []term.IDQuad
	perm := rnd.Perm(n/4 + 1)
	for s := 0; len(rows) < n; s++ {
		subject := term.Make(term.TagIRI, uint64(300_000+s))
		for p, o := range []term.ID{
			term.Make(term.TagIRI, uint64(1_000_000+s%7)),
			term.Make(term.TagIRI, uint64(600_000+perm[s%len(perm)])),
			term.Make(term.TagInteger, 1<<59+rnd.Uint64N(1<<20)),
			term.Make(term.TagDateTime, 63_000_000_000_000<<13+rnd.Uint64N(1<<36)<<13|1),
			term.Make(term.TagLiteral, uint64(100_000+rnd.IntN(n/4))),
			term.Make(term.TagLiteral, uint64(50_000+rnd.IntN(100))),
		} {
			rows = append(rows, term.IDQuad{S: subject, P: term.Make(term.TagIRI, uint64(900_000+p*3)), O: o, G: term.DefaultGraph})
		}
	}
	slices.SortFunc(rows, compareIn(l))
	return slices.Compact(rows)
}

func BenchmarkBlockDecode(b *testing.B) {
	for l := GSPO; l <= GPSO; l++ {
		b.Run(l.String(), func(b *testing.B) {
			rows := archiveRows(l, 200_000)
			var c codec
			var blocks [][]byte
			size := 0
			for part := range slices.Chunk(rows, blockRows) {
				blocks = append(blocks, bytes.Clone(c.encode(l, 1, part)))
				size += len(blocks[len(blocks)-1])
			}
			buf := make([]term.IDQuad, blockRows)
			n := 0
			for b.Loop() {
				for _, blk := range blocks {
					got, err := c.decode(blk, l, 1, buf)
					if err != nil {
						b.Fatal(err)
					}
					n += len(got)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mtriples/s")
			b.ReportMetric(float64(size)/float64(len(rows)), "bytes/triple")
		})
	}
}

func BenchmarkBlockEncode(b *testing.B) {
	for l := GSPO; l <= GPSO; l++ {
		b.Run(l.String(), func(b *testing.B) {
			rows := archiveRows(l, 200_000)
			var c codec
			n := 0
			for b.Loop() {
				for part := range slices.Chunk(rows, blockRows) {
					c.encode(l, 1, part)
					n += len(part)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mtriples/s")
		})
	}
}

func TestNumbersOfEveryWidthArePacked(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 4))
	for round := range 2000 {
		values := make([]uint64, 1+rnd.IntN(200))
		for i := range values {
			values[i] = rnd.Uint64() >> rnd.IntN(65)
			if round%3 == 0 { // mostly small
				values[i] = rnd.Uint64N(4)
				if rnd.IntN(20) == 0 {
					values[i] = rnd.Uint64()
				}
			}
		}
		b := appendPacked(nil, values)
		end := len(b)
		got := make([]uint64, len(values))
		next, ok := unpack(append(b, make([]byte, 8)...), end, 0, got)
		if !ok || next != end || !slices.Equal(got, values) {
			t.Fatalf("round %d: %v came back as %v", round, values, got)
		}
	}
}

// FuzzPage decodes malformed pages of fences and roots with valid checksums.
func FuzzPage(f *testing.F) {
	t1, t2 := Tuple{1, 2, 3, 4}, Tuple{1, 2, 3, 9}
	b := encodePage(GSPO, 7, []fence{{first: t1, last: t2, id: 5}}, []counts{{rows: 2}})
	f.Add(b[:len(b)-segments.SealSize])
	base := &Base{tiers: []*tier{{}, {}}}
	base.tiers[1].levels[POSG].pages = []page{{id: 3, n: 1}}
	b = base.encodeRoot()
	f.Add(b[:len(b)-8])
	f.Add(append([]byte{1}, make([]byte, Layouts)...)) // version 1: a tier without pages
	f.Fuzz(func(t *testing.T, body []byte) {
		var l level
		if err := l.decodePage(GSPO, 7, segments.AppendSeal(bytes.Clone(body), 7)); err == nil {
			l.reach(0, Tuple{1})
		}
		decodeRoot(segments.AppendSeal(bytes.Clone(body), 0))
	})
}
