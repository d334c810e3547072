package detect

import (
	"bytes"
	"slices"
	"strings"
)

// rdfText recognises N-Triples, N-Quads, Turtle, TriG and N3 by their first statements.
func rdfText(b []byte) (Detection, bool) {
	if t, n := statements(b); n >= 1 {
		what := "N-Triples"
		if t == "application/n-quads" {
			what = "N-Quads"
		}
		return Detection{Type: t, Confidence: 0.95, Because: "every line is a statement of " + what}, true
	}
	b = b[:min(len(b), 64<<10)]
	if b[0] != '<' && !declares(b) {
		return Detection{}, false // most texts end here, at little cost
	}
	prefixes, terms, graphs, rules := 0, 0, false, false
	inLiteral := false
	n := 0
	for line := range bytes.Lines(b) {
		s := strings.TrimSpace(string(line))
		if inLiteral {
			inLiteral = strings.Count(s, `"""`)%2 == 0
			continue
		}
		if s == "" || s[0] == '#' {
			continue
		}
		if n++; n > 400 {
			break
		}
		low := strings.ToLower(s)
		if n == 1 && !begins(low) { // prose that quotes statements
			return Detection{}, false
		}
		switch { // a query is declarations and then its keyword: prose that quotes one has other lines before it
		case strings.HasPrefix(low, "@prefix ") || strings.HasPrefix(low, "prefix ") || strings.HasPrefix(low, "@base ") ||
			strings.HasPrefix(low, "base "):
			if strings.Contains(s, "<") && strings.Contains(s, ">") {
				prefixes++
			}
			continue
		case strings.HasPrefix(low, "@forall") || strings.HasPrefix(low, "@forsome") || strings.HasPrefix(low, "@keywords"):
			rules = true
			continue
		case prefixes > 0 && n == prefixes+1 &&
			(strings.HasPrefix(low, "select ") || strings.HasPrefix(low, "construct ") || strings.HasPrefix(low, "ask ") ||
				strings.HasPrefix(low, "describe ") || strings.HasPrefix(low, "insert ") || strings.HasPrefix(low, "delete ")):
			return Detection{Type: "application/sparql-query", Confidence: 0.9, Because: "prefixes and the keyword of a SPARQL query"}, true
		}
		if strings.Count(s, `"""`)%2 == 1 {
			inLiteral = true
		}
		if strings.Contains(s, "=>") && !strings.Contains(s, `"`) {
			rules = true
		}
		if graphStart(s, low) {
			graphs = true
		}
		if (strings.HasSuffix(s, " .") || strings.HasSuffix(s, ";") || strings.HasSuffix(s, ",") || strings.HasSuffix(s, ".")) &&
			(strings.Contains(s, ":") || strings.Contains(s, "<")) {
			terms++
		}
	}
	switch {
	case prefixes == 0 && !(terms >= 1 && b[0] == '<' && bytes.Contains(b, []byte("> a ")) || terms >= 2 && iriFirst(b)):
		return Detection{}, false
	case rules:
		return Detection{Type: "text/n3", Confidence: 0.85, Because: "prefixes and the rules of Notation3"}, true
	case graphs:
		return Detection{Type: "application/trig", Confidence: 0.9, Because: "prefixes and graphs in braces, as in TriG"}, true
	}
	return Detection{Type: "text/turtle", Confidence: 0.93, Because: "prefixes and statements, as in Turtle"}, true
}

// begins reports whether the first line of Turtle, TriG, Notation3 or SPARQL can begin so, in lower case: with a
// directive, a term or a brace.
func begins(low string) bool {
	token, _, _ := strings.Cut(low, " ")
	return strings.ContainsRune("@<[({\"", rune(low[0])) || strings.Contains(token, ":") ||
		slices.Contains([]string{"prefix", "base", "graph", "select", "version"}, token)
}

// declares reports whether a text contains the word PREFIX or BASE, in any case, before a blank.
func declares(b []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(b[at:], ' ')
		if i < 0 {
			return false
		}
		at += i
		for _, word := range []string{"prefix", "base"} {
			if at >= len(word) && strings.EqualFold(string(b[at-len(word):at]), word) {
				return true
			}
		}
	}
}

// graphStart reports whether a line opens a graph in braces, after a name, the word GRAPH and a name, or nothing.
func graphStart(s, low string) bool {
	name, _, ok := strings.Cut(s, "{")
	if !ok || strings.ContainsAny(name, `"'`) {
		return false
	}
	if strings.HasPrefix(low, "graph ") {
		name = name[6:]
	}
	name = strings.TrimSpace(name)
	return name == "" || !strings.ContainsAny(name, " \t") && (name[0] == '<' || strings.Contains(name, ":"))
}

// iriFirst reports whether a text begins with an absolute IRI in angle brackets, followed by another IRI.
func iriFirst(b []byte) bool {
	if b[0] != '<' {
		return false
	}
	end := bytes.IndexByte(b, '>')
	if end < 4 || end > 2000 || !bytes.Contains(b[:end], []byte(":")) || bytes.ContainsAny(b[:end], " \t\r\n\"") {
		return false
	}
	rest := bytes.TrimLeft(b[end+1:], " \t\r\n")
	return len(rest) > 0 && (rest[0] == '<' || bytes.HasPrefix(rest, []byte("a ")) || bytes.IndexByte(rest[:min(len(rest), 40)], ':') > 0)
}

// statements counts the lines that are statements of N-Triples or N-Quads. It returns 0 if any line is not.
func statements(b []byte) (mime string, n int) {
	mime = "application/n-triples"
	for line := range bytes.Lines(b[:min(len(b), 64<<10)]) {
		if !bytes.HasSuffix(line, []byte("\n")) && n > 0 {
			break // cut off
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		terms := statement(line)
		switch terms {
		case 3:
		case 4:
			mime = "application/n-quads"
		default:
			return "", 0
		}
		if n++; n >= 200 {
			break
		}
	}
	return mime, n
}

// statement counts the terms of a line of N-Triples or N-Quads. It returns 0 for other lines.
func statement(s []byte) int {
	terms := 0
	for {
		s = bytes.TrimLeft(s, " \t")
		if len(s) == 0 {
			return 0
		}
		switch {
		case s[0] == '<':
			end := bytes.IndexByte(s, '>')
			if end < 2 || bytes.ContainsAny(s[:end], " \"{}") || bytes.IndexByte(s[:end], ':') < 0 {
				return 0
			}
			s = s[end+1:]
		case bytes.HasPrefix(s, []byte("_:")):
			end := bytes.IndexAny(s, " \t")
			if end < 3 {
				return 0
			}
			s = s[end:]
		case s[0] == '"' && terms == 2:
			i := 1
			for i < len(s) && s[i] != '"' {
				if s[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(s) {
				return 0
			}
			s = s[i+1:]
			if bytes.HasPrefix(s, []byte("^^<")) {
				end := bytes.IndexByte(s, '>')
				if end < 0 {
					return 0
				}
				s = s[end+1:]
			} else if bytes.HasPrefix(s, []byte("@")) {
				end := bytes.IndexAny(s, " \t.")
				if end < 2 {
					return 0
				}
				s = s[end:]
			}
		case s[0] == '.' && terms >= 3:
			rest := bytes.TrimSpace(s[1:])
			if len(rest) > 0 && rest[0] != '#' {
				return 0
			}
			return terms
		default:
			return 0
		}
		if terms++; terms > 4 {
			return 0
		}
	}
}
