package rdfio

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// blanks makes the keys of one document's blank nodes. Labelled ones keep their label, others are numbered "g-1", "g-2"
// and so on. A label that looks like such a number ("g-7", "g--7") gets one more hyphen, so labels and numbers never
// collide.
type blanks struct {
	prefix string
	n      uint64
	buf    []byte
}

// fresh returns a blank node that no label of the document names.
func (b *blanks) fresh() term.Key {
	b.n++
	b.buf = append(append(append(b.buf[:0], '_'), b.prefix...), "g-"...)
	b.buf = strconv.AppendUint(b.buf, b.n, 10)
	return term.Key(b.buf)
}

// appendLabelled appends the key of the blank node that the document labels so.
func (b *blanks) appendLabelled(dst, label []byte) []byte {
	dst = append(append(dst, '_'), b.prefix...)
	if len(label) > 2 && label[0] == 'g' && label[1] == '-' && looksNumbered(label) {
		return append(append(dst, "g-"...), label[1:]...)
	}
	return append(dst, label...)
}

// looksNumbered reports whether label is a 'g', hyphens and digits.
func looksNumbered(label []byte) bool {
	digits := strings.TrimLeft(string(label[1:]), "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

// NewBlankPrefix returns a random prefix of fixed length for Options.BlankPrefix. It consists of letters and digits,
// since some readers accept nothing else.
func NewBlankPrefix() string {
	var b [10]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return "b" + hex.EncodeToString(b[:])
}

// validLabel reports whether label may follow "_:" (Turtle BLANK_NODE_LABEL).
func validLabel(label string) bool { return label != "" && terminals.Label(label) == len(label) }

// BlankLabel returns a spelling of a blank node's label for formats that other programs read. It is ASCII, valid after
// "_:" in all syntaxes, and different for every label.
func BlankLabel(label string) string { return writableLabel(label, false) }

// writableLabel returns a spelling of label that is valid in all syntaxes, and a different one for every label. It is
// ASCII, since some readers accept nothing else. If xml is set, it is also an NCName. Labels that are invalid or look
// encoded are written in hexadecimal after "x-".
func writableLabel(label string, xml bool) string {
	if validLabel(label) && isASCII(label) && !strings.HasPrefix(label, "x-") && !(xml && '0' <= label[0] && label[0] <= '9') {
		return label
	}
	return "x-" + hex.EncodeToString([]byte(label))
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
