package frontier

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Note is the record of an order: who runs an archive can see later why a URL is not crawled. It is written by the
// transactions that carry the order out, so after a crash it says how many URLs were done.
type Note struct {
	Number  uint64    `json:"number"` // from 1
	At      time.Time `json:"at"`     // when the order began, by the archive's clock
	Order   string    `json:"order"`
	Targets []string  `json:"targets,omitempty"` // at most maxNoted, cut to maxNotedText characters each
	More    int       `json:"more,omitempty"`    // targets beyond those
	Why     string    `json:"why,omitempty"`
	Score   *float64  `json:"score,omitempty"`
	URLs    int       `json:"urls"` // that it changed
	Done    bool      `json:"done"` // false: it is being carried out, or failed, or the process was killed meanwhile
}

// Order of notes that concern no targets.
const (
	orderPauseCrawl  = "pause the crawl"
	orderResumeCrawl = "resume the crawl"
)

const (
	maxNotes     = 1000 // the number of notes that are kept
	maxNoted     = 5
	maxNotedText = 300
)

// Keys of kv.SpaceHosts: how many notes were ever written, and the notes by number.
const (
	keyOrders  = "!orders"
	prefixNote = "!order/"
)

func noteKey(n uint64) []byte { return binary.BigEndian.AppendUint64([]byte(prefixNote), n) }

func noteOf(o Order, now time.Time) Note {
	n := Note{At: now.UTC().Truncate(time.Millisecond), Order: o.Kind, Why: cut(o.Why), Score: o.Score,
		More: max(0, len(o.Targets)-maxNoted)}
	for _, target := range o.Targets[:min(maxNoted, len(o.Targets))] {
		if isURL(target) {
			target, _ = address.WithoutSecret(target)
		}
		n.Targets = append(n.Targets, cut(target))
	}
	return n
}

func cut(s string) string { return fmt.Sprintf("%.*s", maxNotedText, s) }

// entryOfOrder writes the note of an order under way.
type entryOfOrder struct{ Note }

// write adds the note, or counts n more URLs in it, in the transaction that changes them.
func (e *entryOfOrder) write(txn *kv.Txn, n int) error {
	next := e.Note
	next.URLs += n
	if next.Number == 0 {
		last, err := counter(txn, keyOrders)
		if err != nil {
			return err
		}
		next.Number = last + 1
		if err := setCounter(txn, keyOrders, next.Number); err != nil {
			return err
		}
		if next.Number > maxNotes {
			if err := txn.Delete(kv.SpaceHosts, noteKey(next.Number-maxNotes)); err != nil {
				return err
			}
		}
	}
	b, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("note of an order: %w", err)
	}
	txn.OnCommit(func() { e.Note = next })
	return txn.Set(kv.SpaceHosts, noteKey(next.Number), b)
}

// finishNote writes the end of an order into its note. An order without a note gets one, even if it changed nothing.
func (f *Frontier) finishNote(ctx context.Context, e *entryOfOrder, done bool) error {
	e.Done = done
	if err := f.db.Update(ctx, func(txn *kv.Txn) error { return e.write(txn, 0) }); err != nil {
		return fmt.Errorf("frontier: note of an order: %w", err)
	}
	return nil
}

// Notes returns the latest orders, newest first, at most limit.
func (f *Frontier) Notes(limit int) (all []Note, err error) {
	err = f.db.View(func(txn *kv.Txn) error {
		last, err := counter(txn, keyOrders)
		for n := last; err == nil && n > 0 && last-n < maxNotes && len(all) < limit; n-- {
			var b []byte
			var known bool
			if b, known, err = txn.Get(kv.SpaceHosts, noteKey(n)); !known {
				continue
			}
			note := Note{}
			if json.Unmarshal(b, &note) != nil { // damaged: the others are still worth showing
				continue
			}
			all = append(all, note)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: list of orders: %w", err)
	}
	return all, nil
}
