package text_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"odarchive/testdata/cputime"
	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
)

// titles returns texts of words that are as frequent as those of a language are.
func titles(n int) []text.Doc {
	r := rand.New(rand.NewPCG(1, 1))
	z := rand.NewZipf(r, 1.1, 3, 60_000)
	out := make([]text.Doc, n)
	for i := range out {
		var words []string
		for range 3 + r.IntN(8) {
			words = append(words, fmt.Sprintf("w%x", z.Uint64()*2654435761%(1<<32)))
		}
		out[i] = text.Doc{ID: term.Make(term.TagLiteral, uint64(i)+1), Text: strings.Join(words, " ")}
		if i%4 == 0 {
			out[i].Tag = "de"
		}
	}
	return out
}

// BenchmarkBuild indexes 300,000 texts of 3 to 10 words.
func BenchmarkBuild(b *testing.B) {
	docs := titles(300_000)
	for b.Loop() {
		b.StopTimer()
		x := text.NewIndex(open(b, b.TempDir()), true)
		b.StartTimer()
		began := cputime.Used()
		for i := 0; i < len(docs); i += 4096 {
			if x.Add(docs[i:min(i+4096, len(docs))]) {
				if err := x.Flush(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		if err := x.Flush(b.Context(), nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64((cputime.Used()-began).Nanoseconds())/float64(len(docs)), "cpu-ns/text")
	}
}
