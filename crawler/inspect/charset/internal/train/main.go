// Command train creates ../../models.bin: the frequencies of letter pairs in the languages of legacy encodings, from
// lists of words with their frequencies (one "word count" per line, a file LANG.txt per language).
//
//	go run ./crawler/inspect/charset/internal/train DIR crawler/inspect/charset/models.bin
//
// The lists used are the 2018 OpenSubtitles word frequencies of github.com/hermitdave/FrequencyWords, commit 525f9b56.
// The format is described in models.go, next to its reader.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

const (
	scale    = 12 // cost units per bit
	letters  = 96 // maximum letters of an alphabet
	signs    = 2400
	wordsCap = 40000
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: train DIR OUT")
	}
	var out bytes.Buffer
	for _, lang := range strings.Fields(
		"ru bg uk mk el he ar fa tr cs sk pl hu sl hr ro de fr es pt it nl da sv no fi is et lv lt ca vi th") {
		bigrams(&out, lang, read(os.Args[1], lang))
	}
	for _, lang := range strings.Fields("zh_cn zh_tw ja ko") {
		unigrams(&out, lang, read(os.Args[1], lang))
	}
	var z bytes.Buffer
	w, _ := gzip.NewWriterLevel(&z, 9)
	w.Write(out.Bytes())
	w.Close()
	if err := os.WriteFile(os.Args[2], z.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Len(), "bytes,", z.Len(), "compressed")
}

type word struct {
	text   []rune
	weight float64
}

func read(dir, lang string) []word {
	f, err := os.Open(filepath.Join(dir, lang+".txt"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var words []word
	s := bufio.NewScanner(f)
	for s.Scan() && len(words) < wordsCap {
		text, count, _ := strings.Cut(s.Text(), " ")
		n, err := strconv.ParseFloat(count, 64)
		if err != nil {
			continue
		}
		// roots, so that frequent words of subtitles ("you", "not") do not dominate
		words = append(words, word{[]rune(strings.ToLower(text)), math.Sqrt(n)})
	}
	return words
}

func common(count map[rune]float64, most int) []rune {
	var rs []rune
	for r := range count {
		rs = append(rs, r)
	}
	slices.SortFunc(rs, func(a, b rune) int {
		switch {
		case count[a] > count[b]:
			return -1
		case count[a] < count[b]:
			return 1
		}
		return int(a - b)
	})
	rs = rs[:min(len(rs), most)]
	slices.Sort(rs)
	return rs
}

func header(out *bytes.Buffer, lang string, kind byte, rs []rune) {
	out.WriteByte(byte(len(lang)))
	out.WriteString(lang)
	out.WriteByte(kind)
	b := binary.AppendUvarint(nil, uint64(len(rs)))
	last := rune(0)
	for _, r := range rs {
		b = binary.AppendUvarint(b, uint64(r-last))
		last = r
	}
	out.Write(b)
}

func cost(p float64) byte { return byte(min(255, math.Round(-math.Log2(p)*scale))) }

func bigrams(out *bytes.Buffer, lang string, words []word) {
	count := map[rune]float64{}
	total := 0.0
	foreign := lang == "ru" || lang == "bg" || lang == "uk" || lang == "mk" || lang == "el" || lang == "he" || lang == "ar" ||
		lang == "fa" || lang == "th"
	for _, w := range words {
		for _, r := range w.text {
			if (unicode.IsLetter(r) || unicode.IsMark(r)) && !(foreign && unicode.Is(unicode.Latin, r)) {
				count[r] += w.weight
				total += w.weight
			}
		}
	}
	for r, n := range count {
		if n < total*1.2e-4 {
			delete(count, r)
		}
	}
	rs := common(count, letters)
	index := map[rune]int{}
	for i, r := range rs {
		index[r] = i + 1
	}
	n := len(rs) + 1
	pair := make([]float64, n*n)
	for _, w := range words {
		last := 0
		for _, r := range append(w.text, ' ') {
			i := index[r]
			pair[last*n+i] += w.weight
			last = i
		}
	}
	header(out, lang, 1, rs)
	for a := range n {
		row := pair[a*n : (a+1)*n]
		sum := 0.0
		for _, c := range row {
			sum += c
		}
		floor := sum*1e-4 + 1
		for _, c := range row {
			out.WriteByte(cost((c + floor) / (sum + floor*float64(n))))
		}
	}
	fmt.Println(lang, string(rs))
}

func unigrams(out *bytes.Buffer, lang string, words []word) {
	count := map[rune]float64{}
	total := 0.0
	for _, w := range words {
		for _, r := range w.text {
			if r > 0x7f && unicode.IsLetter(r) {
				count[r] += w.weight
				total += w.weight
			}
		}
	}
	rs := common(count, signs)
	header(out, lang, 2, rs)
	for _, r := range rs {
		out.WriteByte(cost(count[r] / total))
	}
}
