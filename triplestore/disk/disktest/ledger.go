package disktest

import (
	"fmt"
	"sync"
)

// Ledger records which writes of several writers were acknowledged and which failed, and checks a store against that. A
// writer's writes are sequential. Each has some entries, which must be stored completely or not at all. Methods may be
// called concurrently.
type Ledger struct {
	mu     sync.Mutex // guards the fields below
	writes map[int][]*Put
	last   map[int]int

	// Acknowledged and Unknown count the writes so far. Read them only while no writer is working.
	Acknowledged, Unknown int
}

// Put is one write.
type Put struct {
	Writer, Number, Entries int

	Replaces *Put // the write that this one deletes; nil for none
	Parts    bool // may be stored partly unless acknowledged
	fate     fate
}

type fate int

const (
	unknown fate = iota // the disk failed during the commit
	stored
	absent
	dropped // stored partly; no longer checked
)

// Begin returns the next write of a writer. Its fate is unknown until Acknowledge or Refuse.
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

// Replace makes w delete the oldest stored write of its writer, and returns that write, or nil if there is none.
func (l *Ledger) Replace(w *Put) *Put {
	l.mu.Lock()
	defer l.mu.Unlock()
	deleted := map[*Put]bool{}
	for _, o := range l.writes[w.Writer] {
		if o.fate == stored && o.Replaces != nil {
			deleted[o.Replaces] = true
		}
	}
	for _, o := range l.writes[w.Writer] {
		if o.fate == stored && !deleted[o] {
			w.Replaces = o
			return o
		}
	}
	return nil
}

// Acknowledge records that a write was acknowledged.
func (l *Ledger) Acknowledge(w *Put) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.fate = stored
	l.Acknowledged++
	l.Unknown--
}

// Refuse records that a write failed and left nothing on the disk.
func (l *Ledger) Refuse(w *Put) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.fate = absent
	l.Unknown--
}

// Last returns the number of the writer's last completely stored write, ignoring those with Parts, or 0 if there is
// none.
func (l *Ledger) Last(writer int) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.writes[writer] {
		if w.fate == stored && !w.Parts {
			n = w.Number
		}
	}
	return n
}

// Compare returns what is wrong with a store, in which count finds how many of a write's entries are stored. It calls
// count once for each write, except those deleted long ago. With opened, the store has just been opened, and writes
// with unknown fate are settled by what is found. Otherwise writes that were not acknowledged must not be visible.
func (l *Ledger) Compare(opened bool, count func(*Put) int) (wrong []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for writer, writes := range l.writes {
		deleted := map[*Put]bool{}
		for i := len(writes) - 1; i >= 0; i-- { // a write that deletes comes before the one it deletes
			w := writes[i]
			n := count(w)
			if w.fate == dropped {
				continue
			}
			if why := w.judge(n, deleted[w], opened); why != "" {
				wrong = append(wrong,
					fmt.Sprintf("writer %d, write %d: %s; %d of its %d entries are stored", writer, w.Number, why, n, w.Entries))
			}
			if w.Replaces != nil && (deleted[w] || n == w.Entries) {
				deleted[w.Replaces] = true
			}
		}
		if opened {
			l.forget(writer, deleted)
		}
	}
	return wrong
}

// judge returns what is wrong with a write of which n entries are stored.
func (w *Put) judge(n int, deleted, opened bool) string {
	whole := n == w.Entries
	switch {
	case deleted && n > 0:
		return "its replacement is stored"
	case deleted:
	case n > 0 && !whole && !w.Parts:
		return "it is stored partly"
	case w.fate == stored && !whole:
		return "it was acknowledged"
	case w.fate == absent && n > 0:
		return "it failed"
	case w.fate == unknown && !opened && !w.Parts && n > 0:
		return "it was not acknowledged and can be seen"
	case w.fate == unknown && opened && whole:
		w.fate = stored
	case w.fate == unknown && opened && n > 0:
		w.fate = dropped
	case w.fate == unknown && opened:
		w.fate = absent
	}
	return ""
}

// forget drops the deleted writes.
func (l *Ledger) forget(writer int, deleted map[*Put]bool) {
	var kept []*Put
	for _, w := range l.writes[writer] {
		if !deleted[w] {
			w.Replaces = nil
			kept = append(kept, w)
		}
	}
	l.writes[writer] = kept
}
