package sqlite

import "strings"

// token is a word, a number, a string or a sign of SQL.
type token struct {
	text   string
	quoted bool // it was in quotation marks or brackets
}

func (t token) is(word string) bool { return !t.quoted && strings.EqualFold(t.text, word) }

// startsConstraint reports whether a word ends the type of a column.
func (t token) startsConstraint() bool {
	if t.quoted {
		return false
	}
	switch strings.ToUpper(t.text) {
	case "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS":
		return true
	}
	return false
}

func indexWord(words []token, word string) int {
	for i, w := range words {
		if w.is(word) {
			return i
		}
	}
	return -1
}

// maxTokens bounds the words of one definition.
const maxTokens = 100_000

// tokens splits SQL into words, without comments.
func tokens(sql string) (list []token) {
	for at := 0; at < len(sql) && len(list) < maxTokens; {
		switch c := sql[at]; {
		case c <= ' ':
			at++
		case strings.HasPrefix(sql[at:], "--"):
			end := strings.IndexByte(sql[at:], '\n')
			if end < 0 {
				return list
			}
			at += end + 1
		case strings.HasPrefix(sql[at:], "/*"):
			end := strings.Index(sql[at+2:], "*/")
			if end < 0 {
				return list
			}
			at += end + 4
		case c == '"' || c == '\'' || c == '`' || c == '[':
			text, n := quoted(sql[at:])
			list = append(list, token{text, true})
			at += n
		case wordByte(c):
			start := at
			for at < len(sql) && (wordByte(sql[at]) || sql[at] == '.' && sql[start] <= '9') {
				at++
			}
			list = append(list, token{sql[start:at], false})
		default:
			list = append(list, token{sql[at : at+1], false})
			at++
		}
	}
	return list
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// quoted returns the content of a quotation at the beginning of s, and its length. A doubled mark stands for one.
func quoted(s string) (text string, n int) {
	end := s[0]
	if end == '[' {
		end = ']'
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] == end {
			if end == ']' || i+1 >= len(s) || s[i+1] != end {
				return b.String(), i + 1
			}
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), len(s)
}

// closing returns the index of the bracket that closes the one at open, or the end.
func closing(words []token, open int) int {
	depth := 0
	for i := open; i < len(words); i++ {
		switch words[i] {
		case token{"(", false}:
			depth++
		case token{")", false}:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(words)
}

// split divides words at the commas that are in no brackets. No part is empty.
func split(words []token) (parts [][]token) {
	depth, start := 0, 0
	for i, w := range words {
		switch w {
		case token{"(", false}:
			depth++
		case token{")", false}:
			depth--
		case token{",", false}:
			if depth == 0 {
				if i > start {
					parts = append(parts, words[start:i])
				}
				start = i + 1
			}
		}
	}
	if len(words) > start {
		parts = append(parts, words[start:])
	}
	return parts
}
