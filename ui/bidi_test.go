package ui

import "testing"

func TestPagesHaveNoControlsOfDirection(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		"<p>plain – “text”</p>":                                  "<p>plain – “text”</p>",
		"<li>\u202egpj.exe</li> 3 versions":                      "<li>gpj.exe</li> 3 versions",
		"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069": "",
		"שלום \u200f(3)":                                         "שלום \u200f(3)", // a mark changes nothing behind it
		"<input value=\"a\u202eb\">\u202e":                       "<input value=\"a\u202eb\">",
		"<textarea name=q>\u202e<b</textarea>\u202ec":            "<textarea name=q>\u202e<b</textarea>c",
		"<script>\"\u2066\"</script>\u2066":                      "<script>\"\u2066\"</script>",
		"<textarea>\u202e":                                       "<textarea>\u202e",
		"cut \xe2\x80":                                           "cut \xe2\x80",
		"<\u202e":                                                "<\u202e",
	} {
		if got := string(withoutControls([]byte(page))); got != want {
			t.Errorf("%q became %q, not %q", page, got, want)
		}
	}
}
