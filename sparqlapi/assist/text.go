package assist

import (
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/sparqlapi/problem"
)

// bounded returns a number of a call, usual if it is 0. Anything outside of 1 to max is a problem.
func bounded(name string, n, usual, max int) (int, error) {
	if n == 0 {
		return usual, nil
	}
	if n < 1 || n > max {
		return 0, problem.Newf(http.StatusBadRequest, "Bad argument", "%s is %d; expected a number from 1 to %d", name, n, max)
	}
	return n, nil
}

// cut returns the first n characters of s.
func cut(s string, n int) string {
	at := 0
	for i := range s {
		if at == n {
			return s[:i]
		}
		at++
	}
	return s
}

// shortened returns the beginning of a long title.
func shortened(s string) string {
	if short := cut(s, 300); len(short) < len(s) {
		return short + "…"
	}
	return s
}

// firstLines returns as many whole lines of a text as fit into max bytes, and whether there are more.
func firstLines(text string, max int) (string, bool) {
	if len(text) <= max {
		return text, false
	}
	text = text[:max]
	if i := strings.LastIndexByte(text, '\n'); i > max/2 {
		return text[:i+1], true
	}
	for len(text) > 0 && !utf8.ValidString(text[len(text)-min(len(text), utf8.UTFMax):]) {
		text = text[:len(text)-1]
	}
	return text, true
}

func firstOf(list []string, n int) []string { return list[:min(len(list), n)] }

// stamp returns a time in RFC 3339, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
