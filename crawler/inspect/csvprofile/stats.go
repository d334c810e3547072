package csvprofile

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
)

// stats are the statistics of the values of a column.
type stats struct {
	forms   forms // common to all values that are not text
	decided bool  // alt is final
	alt     bool  // numbers have decimal commas, or dates begin with the month

	count          [kinds]int64
	minLen, maxLen int
	minText        []byte
	maxText        []byte
	minKey, maxKey uint64    // their prefixes
	nulls          []Count   // null words and their counts
	bools          [2]string // the words seen for true and false
	boolMixed      bool      // several words occurred for one of them
	num            numbers
	places         places
}

// decide decides how ambiguous numbers and dates are read: with a decimal point and the day first, unless the values so
// far only fit otherwise.
func (s *stats) decide(f forms) {
	s.decided = true
	if f&numStyles != 0 && f&(numStyles&numDotted) == 0 {
		s.alt = true
	}
	if f&dateOrders != 0 && f&dateDMY == 0 && f&dateMDY != 0 {
		s.alt = true
	}
}

// add adds a value that occurred n times.
func (s *stats) add(cell []byte, v value, n int64) {
	s.count[v.kind] += n
	if v.kind == kindNull {
		s.null(cell, n)
		return
	}
	k, w := prefix(cell), len(cell)
	if w > 8 || k&highs != 0 {
		w = runes(cell)
	}
	s.minLen, s.maxLen = min(s.minLen, w), max(s.maxLen, w)
	if v.kind < kindText {
		s.forms &= v.forms
	}
	switch {
	case 1<<v.kind&ordered != 0:
		x := v.num
		if s.alt {
			x = v.alt
		}
		s.num.add(x, n, cell)
	case v.kind == kindBoolean:
		s.boolWord(cell)
	case v.kind == kindText && !s.places.off:
		s.places.see(cell)
	}
	if k <= s.minKey || k >= s.maxKey {
		s.text(cell)
	}
}

// ordered is the set of kinds whose values are numbers, as bits.
const ordered = 1<<kindInteger | 1<<kindDecimal | 1<<kindDouble | 1<<kindDate | 1<<kindDateTime | 1<<kindTime | 1<<kindYearMonth

// extremeLen is how much of the minimum and maximum text is kept, in bytes.
const extremeLen = 1024

// text updates the minimum and maximum as text. add calls it only if the first eight bytes, as a number, do not exclude
// that the value is one.
func (s *stats) text(cell []byte) {
	k := prefix(cell)
	if len(cell) > extremeLen {
		cell = cell[:extremeLen]
	}
	if s.minText == nil || bytes.Compare(cell, s.minText) < 0 {
		s.minText, s.minKey = append(s.minText[:0], cell...), k
	}
	if s.maxText == nil || bytes.Compare(cell, s.maxText) > 0 {
		s.maxText, s.maxKey = append(s.maxText[:0], cell...), k
	}
}

// prefix returns the first eight bytes as a number that orders as they do, with zeros after a shorter cell.
func prefix(b []byte) uint64 {
	switch n := len(b); {
	case n >= 8:
		return binary.BigEndian.Uint64(b)
	case n >= 4: // two halves that overlap
		return uint64(binary.BigEndian.Uint32(b))<<32 | uint64(binary.BigEndian.Uint32(b[n-4:]))<<(64-8*uint(n))
	case n == 0:
		return 0
	default:
		return uint64(b[0])<<56 | uint64(b[n/2])<<(56-8*uint(n/2)) | uint64(b[n-1])<<(64-8*uint(n))
	}
}

// null counts a null word.
func (s *stats) null(cell []byte, n int64) {
	for i := range s.nulls {
		if s.nulls[i].Value == string(cell) {
			s.nulls[i].Count += n
			return
		}
	}
	if len(s.nulls) < 16 {
		s.nulls = append(s.nulls, Count{string(cell), n})
	}
}

// boolWord records a word for true or false.
func (s *stats) boolWord(cell []byte) {
	i := 1
	switch cell[0] | 0x20 {
	case 't', 'y', 'j':
		i = 0
	case 'o':
		if len(cell) == 2 || cell[1]|0x20 == 'u' { // on, oui
			i = 0
		}
	case 's':
		i = 0
	}
	switch s.bools[i] {
	case "":
		s.bools[i] = string(cell)
	case string(cell):
	default:
		s.boolMixed = true
	}
}

// boolFormat returns the two words, as in "true|false". If only one occurred, the other is written in the same case.
func (s *stats) boolFormat() string {
	t, f := s.bools[0], s.bools[1]
	like := func(model, word string) string {
		switch {
		case model == strings.ToUpper(model):
			return strings.ToUpper(word)
		case model[:1] == strings.ToUpper(model[:1]):
			return strings.ToUpper(word[:1]) + word[1:]
		}
		return word
	}
	if t == "" {
		t = like(f, "true")
	}
	if f == "" {
		f = like(t, "false")
	}
	return t + "|" + f
}

// numbers is the distribution of numbers, or of dates as numbers.
type numbers struct {
	n        int64
	origin   float64 // the first value; sums are of differences to it, for precision
	sum      float64 // of differences to origin
	sum2     float64 // of their squares
	min, max float64
	minLex   []byte
	maxLex   []byte
	sample   []float64 // uniform sample of all values
	rng      *rand.Rand
	skip     int64   // values until the next one to sample
	w        float64 // of algorithm L
}

// add adds a number that occurred n times as lex.
func (q *numbers) add(x float64, n int64, lex []byte) {
	if x-x != 0 { // NaN or infinite
		return
	}
	if q.n == 0 {
		q.origin, q.min, q.max = x, math.Inf(1), math.Inf(-1)
	}
	if x < q.min {
		q.min = x
		q.minLex = append(q.minLex[:0], lex...)
	}
	if x > q.max {
		q.max = x
		q.maxLex = append(q.maxLex[:0], lex...)
	}
	q.n += n
	d, times := x-q.origin, float64(n)
	q.sum += d * times
	q.sum2 += d * d * times
	if n <= q.skip {
		q.skip -= n
		return
	}
	q.pick(x, n)
}

// mean returns the mean of the values.
func (q *numbers) mean() float64 { return q.origin + q.sum/float64(max(q.n, 1)) }

// deviation returns the sample standard deviation.
func (q *numbers) deviation() float64 {
	n := float64(q.n)
	return math.Sqrt(math.Max(0, (q.sum2-q.sum*q.sum/n)/(n-1)))
}

// pick adds a value that occurred n times to the sample as often as it is selected.
func (q *numbers) pick(x float64, n int64) {
	for n > 0 {
		if len(q.sample) < reservoirN {
			q.sample = append(q.sample, x)
			n--
			if len(q.sample) == reservoirN {
				q.rng = rand.New(rand.NewPCG(1, 2))
				q.w = math.Exp(math.Log(q.rng.Float64()) / reservoirN)
				q.leap()
			}
			continue
		}
		if n <= q.skip {
			q.skip -= n
			return
		}
		n -= q.skip + 1
		q.sample[q.rng.IntN(reservoirN)] = x
		q.w *= math.Exp(math.Log(q.rng.Float64()) / reservoirN)
		q.leap()
	}
}

// leap draws how many values to skip (Li's algorithm L, 1994).
func (q *numbers) leap() {
	q.skip = int64(math.Min(math.Floor(math.Log(q.rng.Float64())/math.Log(1-q.w)), 1<<60))
}
