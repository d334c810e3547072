package ui

import "testing"

func TestStylesAreSqueezed(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"", ""},
		{"/* a */\n:root { --bg: #fff; --ink: #000; }\n", ":root{--bg:#fff;--ink:#000;}"},
		{"a :hover,\n b > c { margin: 0 auto; }", "a :hover,b > c{margin:0 auto;}"},
		{"q::before { content: \"a , /* b */ \\\" ; \"; }", "q::before{content:\"a , /* b */ \\\" ; \";}"},
		{"p { width: calc(1px + 2px) } /* open", "p{width:calc(1px + 2px)}"},
		{"a { b: 'open", "a{b:'open"},
		{"a { b: 'open\\", "a{b:'open\\"},
		{"a/**/b", "a b"}, // a comment parts words here; nobody writes that
	} {
		if got := string(squeeze([]byte(c[0]))); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}
