package terminals_test

import (
	"testing"

	"odarchive/triplestore/internal/terminals"
)

func TestNamesEndWhereTheGrammarSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text                 string
		prefix, label, local int
	}{
		{"", 0, 0, 0},
		{"abc def", 3, 3, 3},
		{"a.b.c.. ", 5, 5, 5},
		{"a:b", 1, 1, 3},
		{"1a", 0, 2, 2},
		{"_a", 0, 2, 2},
		{"-a", 0, 0, 0},
		{"a-1_·", 6, 6, 6},
		{"·a", 0, 0, 0},
		{"é\ufffdx", 6, 6, 6},
		{"a\xffb", 1, 1, 1},
		{"a×b", 1, 1, 1},
		{"a%41b", 1, 1, 5},
		{`a\,b\`, 1, 1, 4}, // the position of the bad escape
		{"a%4", 1, 1, 1},
	} {
		if got := terminals.Prefix(c.text); got != c.prefix {
			t.Errorf("Prefix(%q) = %d, want %d", c.text, got, c.prefix)
		}
		if got := terminals.Label([]byte(c.text)); got != c.label {
			t.Errorf("Label(%q) = %d, want %d", c.text, got, c.label)
		}
		if got, _, _ := terminals.Local(c.text); got != c.local {
			t.Errorf("Local(%q) = %d, want %d", c.text, got, c.local)
		}
	}
	if _, escaped, ok := terminals.Local(`a\,b`); !escaped || !ok {
		t.Errorf("escaped %v, ok %v", escaped, ok)
	}
	if got := string(terminals.AppendLocal(nil, `a\,b\%41`)); got != "a,b%41" {
		t.Errorf("AppendLocal: %q", got)
	}
}

func TestNumbersHaveTheLongestFormThatFits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		n        int
		datatype string
	}{
		"12 ": {2, "integer"}, "1.": {1, "integer"}, "1.5.": {3, "decimal"}, ".5": {2, "decimal"}, ".": {0, "integer"},
		"1.e5": {4, "double"},
		"1e":   {1, "integer"}, "1e+": {1, "integer"}, "1.5E-07x": {7, "double"}, ".e5": {0, "integer"}, "e5": {0, "integer"},
	} {
		if n, datatype := terminals.Number(text); n != want.n || n > 0 && datatype != want.datatype {
			t.Errorf("Number(%q) = %d, %s", text, n, datatype)
		}
	}
	for lex, datatype := range map[string]string{"-5": "integer", "+.5": "decimal", "1e0": "double"} {
		if !terminals.IsNumber(lex, datatype) || terminals.IsNumber(lex+"x", datatype) || terminals.IsNumber(lex, "float") {
			t.Errorf("IsNumber(%q, %s)", lex, datatype)
		}
	}
}

func TestEscapesAndTags(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		r rune
		n int
	}{
		`\t`: {'\t', 2}, `\"x`: {'"', 2}, `\u00e9x`: {'é', 6}, `\U0001F600`: {0x1F600, 10}, `\uD800`: {0, 0}, `\U00110000`: {0, 0},
		`\u12`: {0, 0}, `\x`: {0, 0}, `\`: {0, 0},
	} {
		if r, n := terminals.Escape(text); r != want.r || n != want.n {
			t.Errorf("Escape(%q) = %q, %d", text, r, n)
		}
	}
	if b, bad := terminals.AppendIRI(nil, `a:\u0062c`); string(b) != "a:bc" || bad != -1 {
		t.Errorf("AppendIRI: %q, %d", b, bad)
	}
	if _, bad := terminals.AppendIRI(nil, `a:\t`); bad != 2 {
		t.Errorf("AppendIRI: bad %d", bad)
	}
	for tag, want := range map[string]int{"en": 2, "de-AT-1996 ": 10, "en--ltr": 2, "1": 0, "": 0, "a-": 1} {
		if got := terminals.LangTag(tag); got != want {
			t.Errorf("LangTag(%q) = %d", tag, got)
		}
	}
}
