package dict

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// A block holds the terms of BlockTerms consecutive numbers, sorted and front-coded. FORMAT.md describes the encoding.
const (
	BlockTerms   = 64
	blockVersion = 1

	longTerm = 2 << 10 // longer terms are stored separately
	minHex   = 8       // shorter runs of hexadecimal digits are not packed
)

// Encodings of a term's suffix, in the two low bits of its head.
const (
	suffixPlain = 0
	suffixHex   = 1 // with one run of lower-case hexadecimal digits, packed: hashes, UUIDs
	suffixLong  = 2 // stored separately
)

var errBlock = errors.New("malformed block of terms")

// encodeBlock encodes the terms of block n. keys[i] has number n*BlockTerms+i.
func encodeBlock(n uint64, keys []term.Key) []byte {
	order := make([]uint8, len(keys))
	for i := range order {
		order[i] = uint8(i)
	}
	sorted := slices.IsSorted(keys)
	if !sorted {
		slices.SortStableFunc(order, func(a, b uint8) int { return cmp.Compare(keys[a], keys[b]) })
	}
	b := []byte{blockVersion, byte(len(keys)), 0}
	if !sorted {
		b[2] = 1
		b = append(b, order...)
	}
	prev := ""
	for _, i := range order {
		k := string(keys[i])
		shared := fields.SharedPrefix(prev, k)
		rest := k[shared:]
		if len(k) > longTerm {
			b = binary.AppendUvarint(b, suffixLong)
			prev = ""
			continue
		}
		prev = k
		from, digits := hexRun(rest)
		if digits == 0 {
			b = binary.AppendUvarint(b, uint64(shared)<<2|suffixPlain)
			b = binary.AppendUvarint(b, uint64(len(rest)))
			b = append(b, rest...)
			continue
		}
		b = binary.AppendUvarint(b, uint64(shared)<<2|suffixHex)
		b = binary.AppendUvarint(b, uint64(len(rest)))
		b = binary.AppendUvarint(b, uint64(from))
		b = binary.AppendUvarint(b, uint64(digits/2))
		b = append(b, rest[:from]...)
		for j := from; j < from+digits; j += 2 {
			b = append(b, unhex(rest[j])<<4|unhex(rest[j+1]))
		}
		b = append(b, rest[from+digits:]...)
	}
	return segments.AppendSeal(b, n)
}

// hexRun returns the longest run of hexadecimal digits, of even length. digits is 0 if it is too short to be packed.
func hexRun(s string) (from, digits int) {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f') {
			continue
		}
		if n := (i - start) &^ 1; n > digits && n >= minHex {
			from, digits = start, n
		}
		start = i + 1
	}
	return from, digits
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c - 'a' + 10
}

// termBlock is a decoded block.
type termBlock struct {
	text string
	at   []uint32 // term i is text[at[2i]:at[2i+1]]; both are elsewhere for a long term
}

const elsewhere = ^uint32(0)

func (t *termBlock) len() int { return len(t.at) / 2 }

// key returns term i. long is set if the term is stored separately.
func (t *termBlock) key(i int) (k term.Key, long bool) {
	if t.at[2*i] == elsewhere {
		return "", true
	}
	return term.Key(t.text[t.at[2*i]:t.at[2*i+1]]), false
}

const hexDigits = "0123456789abcdef"

// decodeBlock decodes the first limit terms of block n.
func decodeBlock(b []byte, n uint64, limit int) (*termBlock, error) {
	body, err := segments.OpenSeal(b, n)
	if err != nil {
		return nil, err
	}
	if len(body) < 3 || body[0] != blockVersion || body[1] == 0 || body[1] > BlockTerms || body[2] > 1 {
		return nil, errBlock
	}
	count := int(body[1])
	unsorted := body[2] == 1
	body = body[3:]
	var order []byte
	if unsorted {
		if len(body) < count {
			return nil, errBlock
		}
		order, body = body[:count], body[count:]
	}
	limit = min(limit, count)
	t := &termBlock{at: make([]uint32, 2*limit)}
	var text []byte
	var seen uint64
	prev, prevEnd := 0, 0 // the previous term is text[prev:prevEnd]
	for i := range count {
		number := i
		if unsorted {
			number = int(order[i])
			if number >= count || seen>>number&1 != 0 {
				return nil, errBlock
			}
			seen |= 1 << number
		}
		r := fields.Reader{B: body}
		head := r.Uvarint()
		if head&3 == suffixLong {
			if number < limit {
				t.at[2*number], t.at[2*number+1] = elsewhere, elsewhere
			}
			prev, prevEnd = len(text), len(text)
			body = r.B
			if r.Bad() {
				return nil, errBlock
			}
			continue
		}
		shared, size := head>>2, r.Uvarint()
		if r.Bad() || shared > uint64(prevEnd-prev) || size > longTerm {
			return nil, errBlock
		}
		start := len(text)
		text = append(text, text[prev:prev+int(shared)]...)
		switch head & 3 {
		case suffixPlain:
			if size > uint64(len(r.B)) {
				return nil, errBlock
			}
			text = append(text, r.B[:size]...)
			r.B = r.B[size:]
		case suffixHex:
			from, pairs := r.Uvarint(), r.Uvarint()
			if r.Bad() || from > size || pairs > size/2 || from+2*pairs > size || uint64(len(r.B)) < size-pairs {
				return nil, errBlock
			}
			text = append(text, r.B[:from]...)
			for _, c := range r.B[from : from+pairs] {
				text = append(text, hexDigits[c>>4], hexDigits[c&15])
			}
			text = append(text, r.B[from+pairs:size-pairs]...)
			r.B = r.B[size-pairs:]
		default:
			return nil, errBlock
		}
		body = r.B
		prev, prevEnd = start, len(text)
		if number < limit {
			t.at[2*number], t.at[2*number+1] = uint32(start), uint32(len(text))
		}
	}
	if len(body) != 0 {
		return nil, errBlock
	}
	t.text = string(text)
	return t, nil
}
