package disktest

import (
	"fmt"
	"sync"
)

// Ledger knows which writes of several writers were acknowledged, and which failed, and says whether a store that was opened
// again is right. A writer's writes follow each other; each consists of some entries, which are there all together or not at
// all. Methods may be called concurrently.
type Ledger struct {
	mu     sync.Mutex // guards all writes
	writes map[int][]*Put
	last   map[int]int

	// Acknowledged, Unknown count writes so far. They are for reading when no writer is at work.
	Acknowledged, Unknown int
}

// Put is one of them.
type Put struct {
	Writer, Number, Entries int

	Replaces *Put // deleted by this one; nil for none
	Parts    bool // it may be there in part unless it was acknowledged
	fate     fate
}

type fate int

const (
	unknown fate = iota // the disk failed while it was committed
	there
	absent
	dropped // there in part; not judged any more
)

// Begin returns the next write of a writer. Its fate is unknown until it is acknowledged or refused.
func (l *Ledger) Begin(writer, entries int, parts bool) *Put {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writes == nil {
		l.writes, l.last = map[int][]*Put{}, map[int]int{}
	}
	l.last[writer]++
	w := &Put{Writer: writer, Number: l.last[writer], Entries: entries, Parts: parts}
	l.writes[writer] = append(l.writes[writer], w)
	l.Unknown++
	return w
}

// Replace has a write delete the oldest one of its writer that is there, and returns that, or nil if there is none.
func (l *Ledger) Replace(w *Put) *Put {
	l.mu.Lock()
	defer l.mu.Unlock()
	gone := map[*Put]bool{}
	for _, o := range l.writes[w.Writer] {
		if o.fate == there && o.Replaces != nil {
			gone[o.Replaces] = true
		}
	}
	for _, o := range l.writes[w.Writer] {
		if o.fate == there && !gone[o] {
			w.Replaces = o
			return o
		}
	}
	return nil
}

// Acknowledge says that a write was reported as done.
func (l *Ledger) Acknowledge(w *Put) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.fate = there
	l.Acknowledged++
	l.Unknown--
}

// Refuse says that a write failed before the disk had any part in it, or left nothing there.
func (l *Ledger) Refuse(w *Put) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.fate = absent
	l.Unknown--
}

// Last returns the number of a writer's last write that is there as a whole, Parts apart; 0 if there is none.
func (l *Ledger) Last(writer int) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes[writer] {
		if w.fate == there && !w.Parts {
			n = w.Number
		}
	}
	return n
}

// Compare returns what is wrong with a store, in which count finds how many of a write's entries are there. With opened, the
// store has just been opened: what was unknown is decided from now on by what is there. count is called once for each write
// that was not deleted long ago. Else what was not acknowledged must
// not be seen.
func (l *Ledger) Compare(opened bool, count func(*Put) int) (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for writer, writes := range l.writes {
		gone := map[*Put]bool{}
		for i := len(writes) - 1; i >= 0; i-- { // what deletes comes before what it deletes
			w := writes[i]
			n := count(w)
			if w.fate == dropped {
				continue
			}
			if why := w.judge(n, gone[w], opened); why != "" {
				wrong = append(wrong, fmt.Sprintf("writer %d, write %d: %s; %d of its %d entries are there", writer, w.Number, why, n, w.Entries))
			}
			if w.Replaces != nil && (gone[w] || n == w.Entries) {
				gone[w.Replaces] = true
			}
		}
		if opened {
			l.forget(writer, gone)
		}
	}
	return wrong
}

// judge returns what is wrong with a write of which n entries are there.
func (w *Put) judge(n int, gone, opened bool) string {
	whole := n == w.Entries
	switch {
	case gone && n > 0:
		return "what deletes it is there"
	case gone:
	case n > 0 && !whole && !w.Parts:
		return "it is there in part"
	case w.fate == there && !whole:
		return "it was acknowledged"
	case w.fate == absent && n > 0:
		return "it failed"
	case w.fate == unknown && !opened && !w.Parts && n > 0:
		return "it was not acknowledged and can be seen"
	case w.fate == unknown && opened && whole:
		w.fate = there
	case w.fate == unknown && opened && n > 0:
		w.fate = dropped
	case w.fate == unknown && opened:
		w.fate = absent
	}
	return ""
}

// forget drops what was deleted.
func (l *Ledger) forget(writer int, gone map[*Put]bool) {
	var kept []*Put
	for _, w := range l.writes[writer] {
		if !gone[w] {
			w.Replaces = nil
			kept = append(kept, w)
		}
	}
	l.writes[writer] = kept
}
