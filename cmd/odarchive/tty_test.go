package main

import (
	"errors"
	"strings"
	"testing"
)

func TestTextsOfStrangersCannotControlATerminal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"straße\tname\r\n":         "straße\tname\r\n",
		"a\x1b]0;title\x07b\n":     `a\x1b]0;title\x07b` + "\n",
		"c1 \u009b31m \x9b\n":      `c1 \x9b31m \x9b` + "\n",
		"hidden\rshown\n":          `hidden\x0dshown` + "\n",
		"turned \u202eabc\u2066\n": `turned \u202eabc\u2066` + "\n",
		"caf\xe9\n":                `caf\xe9` + "\n",
	} {
		for size := 1; size <= len(text); size++ { // wherever a Write ends
			var out strings.Builder
			s := &tty{to: &out}
			for at := 0; at < len(text); at += size {
				part := text[at:min(at+size, len(text))]
				if n, err := s.Write([]byte(part)); n != len(part) || err != nil {
					t.Fatal(n, err)
				}
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, out.String(), want)
			}
		}
	}
	var out strings.Builder
	if _, err := (&tty{to: &out}).Write([]byte("PK\x03\x04\x14\x00")); !errors.Is(err, errBinary) || out.Len() > 0 {
		t.Errorf("%v, %q", err, out.String())
	}
	if _, err := (&tty{to: &out, raw: true}).Write([]byte("\x00\x1b")); err != nil || out.String() != "\x00\x1b" {
		t.Errorf("%v, %q", err, out.String())
	}
}
