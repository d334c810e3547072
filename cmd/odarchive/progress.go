package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/ui"

	"github.com/dustin/go-humanize"
)

// bar is a line of progress: how much is done, of how much, and about how long the rest takes. It appears after two
// seconds, and only on a terminal. It is safe for concurrent use.
type bar struct {
	screen  *screen // nil if nobody sees it
	what    string  // is counted: "files", "bytes"
	started time.Time
	send    func(faces.CommandProgress) // tells the client for whom this process runs the command; nil if it is its own

	mu    sync.Mutex // guards what follows
	total int64      // -1 if it is not known
	rest  func(elapsed time.Duration) time.Duration
	drawn time.Time
}

const (
	patience = 2 * time.Second
	redraw   = 200 * time.Millisecond
)

// progress returns a bar for a total, or for an unknown total if it is -1.
func (c *cli) progress(total int64, what string) *bar {
	b := &bar{started: time.Now(), total: total, what: what}
	if c.call != nil {
		b.send = c.call.Progress
	} else if !c.quiet {
		b.screen = c.screen
	}
	return b
}

// of sets the total. rest, if not nil, returns a time that the rest takes at least, after a time since the beginning.
func (b *bar) of(total int64, rest func(elapsed time.Duration) time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.total, b.rest = total, rest
}

func (b *bar) set(n int64, note string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	switch {
	case b.send != nil:
		b.send(faces.CommandProgress{Done: n, Total: b.total, What: b.what, Note: note})
	case b.screen != nil && now.Sub(b.started) >= patience && now.Sub(b.drawn) >= redraw:
		b.drawn = now
		b.screen.show(b.text(n, note, now.Sub(b.started)))
	}
}

// text returns the line. The caller holds mu.
func (b *bar) text(n int64, note string, elapsed time.Duration) string {
	amount := func(n int64) string {
		if b.what == "bytes" {
			return humanize.IBytes(uint64(n))
		}
		return humanize.Comma(n)
	}
	unit := b.what
	if unit == "bytes" {
		unit = ""
	}
	done := amount(n)
	if b.total > 0 {
		done += " of " + amount(max(n, b.total))
	}
	parts := []string{strings.TrimSpace(done + " " + unit)}
	if b.total > 0 {
		parts[0] += fmt.Sprintf(" (%d %%)", 100*n/max(n, b.total))
	}
	left := time.Duration(0)
	if b.total > n && n > 0 {
		left = time.Duration(float64(elapsed) / float64(n) * float64(b.total-n))
	}
	if b.rest != nil {
		left = max(left, b.rest(elapsed))
	}
	if left = left.Round(time.Second); left > 0 {
		parts = append(parts, "about "+ui.Span(left)+" left")
	} else {
		parts = append(parts, ui.Span(elapsed.Round(time.Second))+" so far")
	}
	if note != "" {
		parts = append(parts, printable(note))
	}
	return strings.Join(parts, ", ")
}

// sizeOfAll returns the bytes of files and of what is in folders, -1 if that is not known.
func sizeOfAll(names []string) (bytes int64) {
	for _, name := range names {
		err := filepath.WalkDir(name, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err == nil && !info.Mode().IsRegular() {
				err = fs.ErrInvalid
			}
			if err == nil {
				bytes += info.Size()
			}
			return err
		})
		if err != nil {
			return -1
		}
	}
	return bytes
}

func (b *bar) done() {
	if b.screen != nil {
		b.screen.show("")
	}
}

// watched reports whether anybody sees the bar.
func (b *bar) watched() bool { return b.screen != nil || b.send != nil }
