package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode"
	"unicode/utf8"
)

// errBinary is the error of writing what is no text to a terminal, as curl has it.
var errBinary = errors.New("the output is binary and is not written to a terminal: name a file with -o FILE (or > FILE), or use a pipe")

// tty is a terminal as standard output. Texts of strangers cannot control it: control characters, and those that turn
// the direction of what follows, are shown as escapes. What contains a zero byte is no text, and an error.
type tty struct {
	to io.Writer

	mu   sync.Mutex // guards what follows
	raw  bool       // write everything as it is, as for -o -
	held []byte     // the end of the last Write: the beginning of a character, or a carriage return
}

func (s *tty) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raw {
		return s.to.Write(p)
	}
	text := append(s.held, p...)
	out := make([]byte, 0, len(text))
	for len(text) > 0 && utf8.FullRune(text) && string(text) != "\r" {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == 0:
			return 0, errBinary
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, text[0])
		case r == '\n' || r == '\t' || r == '\r' && text[1] == '\n':
			out = append(out, text[:n]...)
		case unicode.IsControl(r):
			out = fmt.Appendf(out, `\x%02x`, r)
		case unicode.Is(unicode.Bidi_Control, r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	s.held = append([]byte(nil), text...)
	if _, err := s.to.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}
