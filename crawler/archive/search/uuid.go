package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	uuidLen   = 36 // characters of a UUID, such as 550e8400-e29b-41d4-a716-446655440000
	uuidBytes = 32 // of its word, which has no hyphens
)

// uuidGroups are the lengths of the groups of digits of a UUID.
var uuidGroups = [...]int{8, 4, 4, 4, 12}

// beginsWithUUID reports whether a text begins with a UUID that no letter, digit or accent continues.
func beginsWithUUID(text string) bool {
	if len(text) < uuidLen || text[uuidGroups[0]] != '-' {
		return false
	}
	at := 0
	for i, n := range uuidGroups {
		if i > 0 {
			if text[at] != '-' {
				return false
			}
			at++
		}
		for range n {
			if !isHex(text[at]) {
				return false
			}
			at++
		}
	}
	next, _ := utf8.DecodeRuneInString(text[uuidLen:])
	return !unicode.IsLetter(next) && !unicode.IsDigit(next) && !unicode.Is(unicode.Mn, next)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

// groupsOf returns the groups of the UUID that a word may be, which an index of version 1 has instead of it.
func groupsOf(word string) (groups []string, ok bool) {
	if len(word) != uuidBytes || strings.ContainsFunc(word, func(r rune) bool { return r >= utf8.RuneSelf || !isHex(byte(r)) }) {
		return nil, false
	}
	for _, n := range uuidGroups {
		groups = append(groups, word[:n])
		word = word[n:]
	}
	return groups, true
}
