package expr

import (
	"strings"
	"testing"
)

// The prefilter of a regular expression must never change the result.
func FuzzRegexPrefilter(f *testing.F) {
	for _, s := range [][3]string{{"^wasser.*2019|budget", "i", "Wasser im Jahr 2019"}, {"haus(halt|rat)", "i", "HAUSRAT"}, {"a+b{2}c?", "", "aabbc"},
		{"straße", "i", "STRASSE straße"}, {"k", "i", "\u212A"}, {"(ab|cd)+", "", "xcdx"}, {"abc$", "m", "abc\nx"}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, pattern, flags, text string) {
		if len(pattern) > 200 || len(flags) > 4 {
			return
		}
		m, err := compileRegex(pattern, flags)
		if err != nil {
			return
		}
		if got, want := m.match(text), m.re.MatchString(text); got != want {
			t.Fatalf("%q with %q over %q: %v, without the prefilter %v", pattern, flags, text, got, want)
		}
	})
}

func TestLongPatternsAreRefused(t *testing.T) {
	t.Parallel()
	if _, err := compileRegex(strings.Repeat("a", maxPattern+1), ""); err == nil {
		t.Error("a pattern beyond the limit is compiled")
	}
}
