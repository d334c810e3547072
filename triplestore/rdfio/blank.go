package rdfio

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"strings"

	"odarchive/triplestore/internal/terminals"
	"odarchive/triplestore/term"
)

// Blank nodes that a document labels keep their label; those without one are numbered "g-1", "g-2", ... . A label that
// looks like such a number ("g-7", "g--7") gets one more hyphen, so that the two never meet.

// blanks makes the keys of one document's blank nodes.
type blanks struct {
	prefix string
	n      uint64
	buf    []byte
}

// fresh is a blank node that no label of the document names.
func (b *blanks) fresh() term.Key {
	b.n++
	b.buf = append(append(append(b.buf[:0], '_'), b.prefix...), "g-"...)
	b.buf = strconv.AppendUint(b.buf, b.n, 10)
	return term.Key(b.buf)
}

// appendLabelled appends the key of the blank node with a label of the document.
func (b *blanks) appendLabelled(dst, label []byte) []byte {
	dst = append(append(dst, '_'), b.prefix...)
	if len(label) > 2 && label[0] == 'g' && label[1] == '-' && looksNumbered(label) {
		return append(append(dst, "g-"...), label[1:]...)
	}
	return append(dst, label...)
}

func looksNumbered(label []byte) bool {
	i := 1
	for i < len(label) && label[i] == '-' {
		i++
	}
	if i == len(label) {
		return false
	}
	for ; i < len(label); i++ {
		if label[i] < '0' || label[i] > '9' {
			return false
		}
	}
	return true
}

// NewBlankPrefix is a random prefix of fixed length for Options.BlankPrefix. It is made of letters and digits alone: some
// readers take no other labels.
func NewBlankPrefix() string {
	var b [10]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return "b" + hex.EncodeToString(b[:])
}

// validLabel tells whether label may stand behind "_:" (Turtle BLANK_NODE_LABEL).
func validLabel(label string) bool {
	return label != "" && terminals.Label(label) == len(label)
}

// writableLabel gives every label a spelling that is valid in all syntaxes, NCName in XML included where xml is set, and
// no two labels the same one: what is not valid (or looks like an encoded one) is written in hexadecimal behind "x-".
func writableLabel(label string, xml bool) string {
	ok := validLabel(label) && !strings.HasPrefix(label, "x-")
	if ok && xml {
		ok = label[0] < '0' || label[0] > '9'
	}
	if ok {
		return label
	}
	return "x-" + hex.EncodeToString([]byte(label))
}
