package results

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzAString(f *testing.F) {
	for _, s := range []string{"", "plain", `a"b\c`, "tab\tline\r\n", "\x00\x1f\x7f", "é€𝄞", "\u2028\u2029", "\xff|\xe2\x82", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := AppendJSON([]byte("before "), s)
		var got string
		if err := json.Unmarshal(text[len("before "):], &got); err != nil {
			t.Fatalf("%q became %s: %v", s, text, err)
		}
		if want := string([]rune(s)); string(text[:7]) != "before " || got != want {
			t.Errorf("%q became %q, which is read as %q", s, text, got)
		}
		if strings.ContainsAny(string(text), "\n\r\u2028\u2029") {
			t.Errorf("%q became %q, which has an end of a line", s, text)
		}
	})
}
