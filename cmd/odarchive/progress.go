package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// bar shows progress on a terminal once something takes longer than two seconds; elsewhere it shows nothing.
type bar struct {
	shown   *progressbar.ProgressBar // nil where there is no terminal
	started time.Time
}

const patience = 2 * time.Second

// progress makes a bar towards total, -1 where that is not known.
func (c *cli) progress(total int64, what string) *bar {
	b := &bar{started: time.Now()}
	if f, ok := c.stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b.shown = progressbar.NewOptions64(total, progressbar.OptionSetWriter(f), progressbar.OptionSetItsString(what),
			progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionThrottle(200*time.Millisecond),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetRenderBlankState(false),
			progressbar.OptionSetSpinnerChangeInterval(0)) // the spinner's own goroutine would never end
	}
	return b
}

func (b *bar) set(n int64, note string) {
	if b.shown == nil || time.Since(b.started) < patience {
		return
	}
	b.shown.Describe(note)
	_ = b.shown.Set64(n) // a bar that cannot be drawn is no reason to stop
}

func (b *bar) done() {
	if b.shown != nil {
		_ = b.shown.Clear()
	}
}
