package apart

import (
	"fmt"
	"strings"
)

// death says why a child ended in a job.
func (w *work) death() *Death {
	last := w.c.last.String()
	d := &Death{Blame: true, Last: last}
	_, cpu, byTheClock := w.t.clocks()
	memory := "examining it took more than " + size(w.d.p.o.Memory) + " of memory"
	state := w.c.cmd.ProcessState
	signal, byOthers := endedBy(state)
	switch {
	case w.late.Load():
		d.Why = fmt.Sprintf("examining it took longer than %s", byTheClock)
	case state.ExitCode() == exitMemory || outOfMemory(last):
		d.Why = memory
	case state.ExitCode() == exitTime || strings.Contains(signal, "cputime"):
		d.Why = fmt.Sprintf("examining it took more than %d s of processor time", cpu)
	case byOthers:
		d.Why, d.Blame = "the process that examined it was ended from outside ("+signal+")", false
	case state.ExitCode() == exitDone || state.ExitCode() == exitUnsafe:
		d.Why, d.Blame = fmt.Sprintf("the process that examined it ended (%v)", state), false
	case strings.Contains(last, "panic:"):
		first, _, _ := strings.Cut(last[strings.Index(last, "panic:"):], "\n")
		d.Why = "a fault of this program: " + Clean(first, maxText)
	case peakOf(state) > w.d.p.o.Memory/2:
		d.Why = memory
	default:
		first, _, _ := strings.Cut(last, "\n")
		d.Why = fmt.Sprintf("examining it ended the process (%v): it took more than %s of memory, or met a fault of this program: %s",
			state, size(w.d.p.o.Memory), Clean(first, maxText))
	}
	return d
}

// outOfMemory reports whether a runtime that the system refused memory has written a text. It has many ways to say so.
func outOfMemory(text string) bool {
	for _, s := range []string{"out of memory", "cannot allocate", "failed to reserve", "failed to create new OS thread",
		"pthread_create failed", "errno=12", "cannot map pages"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}
