package main

import (
	"os"
	"time"

	"odarchive/cmd/internal/faces"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar is a progress bar. It appears after two seconds, and only on a terminal.
type bar struct {
	shown   *progressbar.ProgressBar // nil without a terminal
	started time.Time
	send    func(n int64, note string) // tells the client for whom this process runs the command; nil if it is its own
}

const patience = 2 * time.Second

// progress returns a bar for a total, or for an unknown total if it is -1.
func (c *cli) progress(total int64, what string) *bar {
	b := &bar{started: time.Now()}
	if c.call != nil {
		b.send = func(n int64, note string) {
			c.call.Progress(faces.CommandProgress{Done: n, Total: total, What: what, Note: note})
		}
		return b
	}
	if f, ok := c.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b.shown = progressbar.NewOptions64(total, progressbar.OptionSetWriter(f), progressbar.OptionSetItsString(what),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionSetSpinnerChangeInterval(0)) // the spinner's goroutine would never end
	}
	return b
}

func (b *bar) set(n int64, note string) {
	if b.send != nil {
		b.send(n, note)
		return
	}
	if b.shown == nil || time.Since(b.started) < patience {
		return
	}
	b.shown.Describe(note)
	_ = b.shown.Set64(n) // failing to draw is not an error
}

func (b *bar) done() {
	if b.shown != nil {
		_ = b.shown.Clear()
	}
}

// watched reports whether anybody sees the bar.
func (b *bar) watched() bool { return b.shown != nil || b.send != nil }
