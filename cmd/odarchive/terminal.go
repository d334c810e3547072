package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// screen is a terminal that shows a line of progress below what is printed. It is safe for concurrent use.
type screen struct {
	out   io.Writer
	width func() int

	mu    sync.Mutex // guards what follows
	line  string     // of progress, as it is shown; "" for none
	midst bool       // what was printed last does not end a line
}

// screenOf returns the screen of a writer, nil if that is not a terminal.
func screenOf(w io.Writer) *screen {
	file, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return nil
	}
	return &screen{out: w, width: func() int {
		width, _, err := term.GetSize(int(file.Fd()))
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}}
}

// over returns a writer to w that removes the line of progress first.
func (s *screen) over(w io.Writer) io.Writer { return above{s, w} }

// above prints above the line of progress of a screen.
type above struct {
	*screen
	to io.Writer
}

func (a above) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.erase()
	if len(p) > 0 {
		a.midst = p[len(p)-1] != '\n'
	}
	return a.to.Write(p)
}

// show replaces the line of progress, unless something else stands in the line. "" removes it.
func (s *screen) show(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line == s.line || s.midst {
		return
	}
	s.erase()
	if most := s.width() - 1; len([]rune(line)) > most { // a full line would begin another
		line = string([]rune(line)[:max(0, most-1)]) + "…"
	}
	fmt.Fprint(s.out, line) // failing to draw is not an error
	s.line = line
}

// erase removes the line of progress. The caller holds mu.
func (s *screen) erase() {
	if s.line != "" {
		fmt.Fprint(s.out, "\r"+strings.Repeat(" ", len([]rune(s.line)))+"\r")
		s.line = ""
	}
}

// isService reports whether a command runs until it is stopped, and writes a log for operators also on a terminal.
func isService(cmd *cobra.Command) bool {
	switch shortPath(cmd) {
	case "serve", "work", "sink sparql", "sink files", "log witness serve":
		return true
	}
	return false
}

// sentences is a log for people: each entry is a sentence. It has no attributes or groups of its own.
type sentences struct {
	out   io.Writer
	level slog.Leveler
	with  []slog.Attr
}

func (s sentences) Enabled(_ context.Context, level slog.Level) bool { return level >= s.level.Level() }
func (s sentences) WithGroup(string) slog.Handler                    { return s }

func (s sentences) WithAttrs(attrs []slog.Attr) slog.Handler {
	s.with = append(s.with[:len(s.with):len(s.with)], attrs...)
	return s
}

func (s sentences) Handle(_ context.Context, r slog.Record) error {
	var facts []string
	fact := func(a slog.Attr) bool {
		facts = append(facts, a.Key+": "+a.Value.String())
		return true
	}
	for _, a := range s.with {
		fact(a)
	}
	r.Attrs(fact)
	text := r.Message
	if len(facts) > 0 {
		text += " (" + strings.Join(facts, "; ") + ")"
	}
	_, err := fmt.Fprintf(s.out, "odarchive: %s\n", printable(strings.Join(strings.Fields(text), " ")))
	return err
}
