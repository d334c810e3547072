package tables

import (
	"bytes"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"odarchive/crawler/inspect/charset"
)

// text decodes a string: the number of characters, in two bytes if long, and the characters.
func (w *xlsWorkbook) text(b []byte, long bool) string {
	if len(b) < 2 {
		return ""
	}
	n, b := int(b[0]), b[1:]
	if long {
		n, b = n|int(b[0])<<8, b[1:]
	}
	if !w.wide {
		return decoded(b[:min(n, len(b))], w.page)
	}
	if len(b) < 1 {
		return ""
	}
	return string(utf16.Decode(units(b[1:], n, b[0]&1 != 0)))
}

// units returns n characters of one or two bytes, or as many as b has.
func units(b []byte, n int, two bool) []uint16 {
	if !two {
		n = min(n, len(b))
		out := make([]uint16, n)
		for i := range out {
			out[i] = uint16(b[i])
		}
		return out
	}
	n = min(n, len(b)/2)
	out := make([]uint16, n)
	for i := range out {
		out[i] = u16(b[2*i:])
	}
	return out
}

// decoded returns text in a code page as UTF-8.
func decoded(b []byte, page string) string {
	r, err := charset.NewReader(bytes.NewReader(b), page)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	text, _ := io.ReadAll(r)
	return string(text)
}

// codePage returns the name of a code page for package charset.
func codePage(n uint16) string {
	switch {
	case n >= 1250 && n <= 1258:
		return "windows-" + strconv.Itoa(int(n))
	case n == 1200:
		return "utf-16le"
	case n == 10000 || n == 0x8000:
		return "macintosh"
	case n == 0x8001:
		return "windows-1252"
	}
	return "cp" + strconv.Itoa(int(n))
}

// sharedStrings decodes the table of strings. Records may end anywhere ([MS-XLS] 2.4.265): the characters continue in
// the next one, after a byte with their width.
func sharedStrings(pieces [][]byte) (all []string) {
	piece := pieces[0]
	pieces = pieces[1:]
	more := func() bool {
		for len(piece) == 0 && len(pieces) > 0 {
			piece, pieces = pieces[0], pieces[1:]
		}
		return len(piece) > 0
	}
	next := func(n int) []byte { // bytes other than characters
		var out []byte
		for n > 0 && more() {
			k := min(n, len(piece))
			out = append(out, piece[:k]...)
			piece, n = piece[k:], n-k
		}
		return out
	}
	for more() {
		head := next(3)
		if len(head) < 3 {
			return all
		}
		left, flags, skip := int(u16(head)), head[2], 0
		if flags&8 != 0 { // runs of formatting
			if b := next(2); len(b) == 2 {
				skip += 4 * int(u16(b))
			}
		}
		if flags&4 != 0 { // phonetic readings
			if b := next(4); len(b) == 4 {
				skip += int(u32(b) & math.MaxInt32)
			}
		}
		var chars []uint16
		for left > 0 {
			got := units(piece, left, flags&1 != 0)
			chars, left = append(chars, got...), left-len(got)
			piece = piece[len(got)*(1+int(flags&1)):]
			if left == 0 {
				break
			}
			piece = nil
			if !more() {
				break
			}
			flags, piece = piece[0], piece[1:]
		}
		all = append(all, string(utf16.Decode(chars)))
		next(skip)
	}
	return all
}
