// Package hints lets hosts and portals say what has changed, so that files are visited when that is worth it: the
// sitemaps that a host's robots.txt names (lastmod, changefreq), and the dct:modified of a portal's datasets.
//
// A hint moves the next visit of a known URL forward to now. It does not make a host be asked more often than its
// politeness allows, and never adds URLs. Whoever hints has a word, which goes as far as the evidence: the visits that
// hints brought forward found a change, or did not. Sitemaps that always say "now" soon bring forward next to nothing.
// FORMAT.md explains what is stored.
package hints

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore/kv"
)

// Hints keeps the sites that have sitemaps, and everybody's word. Its methods may be called concurrently.
type Hints struct {
	DB       *kv.DB
	Frontier *frontier.Frontier
	Clock    func() time.Time
	Log      *slog.Logger
	Min      time.Duration // between two visits of one URL
	// Doer returns what sends requests for the sitemaps of a host: politely, within the scope, and as its robots.txt
	// allows.
	Doer func(group string) Doer

	mu    sync.Mutex
	noted map[string]string // guarded by mu: groups, and the sitemaps that they are known to have
}

// Tables in kv.SpaceHints, by first byte of the key.
const (
	tableWord = 'w' // who hints -> word
	tableSite = 's' // group     -> site
)

func key(table byte, name string) []byte { return append([]byte{table}, name...) }

// word is how far the hints of one source go.
type word struct {
	Given  int       `json:"given"`  // hints that brought a visit forward
	Judged int       `json:"judged"` // of them, those whose visits have been made
	Right  int       `json:"right"`  // of them, those that found a change
	Last   time.Time `json:"last"`   // the latest hint
}

// A source on probation may give probation hints that have not been judged. A word that is right in fewer than minRight
// of its hints may give probes of them, so that it can win its say back; any other maxOpen.
const (
	probation = 10
	probes    = 1
	maxOpen   = 500
	minRight  = 0.3
	forgotten = 7 * 24 * time.Hour // an open hint of which nothing was heard for so long is not waited for
	remember  = 200                // judged hints; older ones count half
)

// may returns how many hints the source may give now.
func (w word) may() int {
	open := max(0, w.Given-w.Judged)
	switch {
	case w.Judged < probation:
		return max(0, probation-open)
	case w.share() < minRight:
		return max(0, probes-open)
	}
	return max(0, maxOpen-open)
}

// share estimates how many of the source's hints are right.
func (w word) share() float64 { return (float64(w.Right) + 1) / (float64(w.Judged) + 2) }

func (w *word) judge(right bool) {
	w.Judged++
	if right {
		w.Right++
	}
	w.Given = max(w.Given, w.Judged)
	if w.Judged > remember {
		w.Given -= w.Judged - w.Judged/2
		w.Judged, w.Right = w.Judged/2, w.Right/2
	}
}

// trusted reports whether the source is believed, or is on probation.
func (w word) trusted() bool { return w.Judged < probation || w.share() >= minRight }

// trusts reports whether a source is believed.
func (h *Hints) trusts(source string) (bool, error) {
	var w word
	err := h.DB.View(func(txn *kv.Txn) error { _, err := load(txn, key(tableWord, nameOf(source)), &w); return err })
	if err != nil {
		return false, fmt.Errorf("hints: %w", err)
	}
	return w.trusted(), nil
}

// give counts hints at a time.
func (w *word) give(n int, now time.Time) {
	w.Given += n
	if n > 0 {
		w.Last = now
	}
}

// forget drops open hints that are too old.
func (w *word) forget(now time.Time) {
	if age := now.Sub(w.Last); age > forgotten || age < -forgotten { // the clock may have been ahead
		w.Given = w.Judged
	}
}

// load reads a record. A damaged one counts as none: the evidence is gathered again.
func load(txn *kv.Txn, k []byte, into any) (known bool, err error) {
	_, err = txn.Read(kv.SpaceHints, k, func(b []byte) error {
		known = json.Unmarshal(b, into) == nil
		return nil
	})
	return known, err
}

func save(txn *kv.Txn, k []byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return txn.Set(kv.SpaceHints, k, b)
}

// reason is why a URL is visited because of a hint. sourceOf finds the source in it.
const reason = "said to have changed, by "

// sourceOf returns the source of the hint that is the reason of a visit. ok is false if no hint is.
func sourceOf(why string) (source string, ok bool) { return strings.CutPrefix(why, reason) }

// maxSource is the maximum length of the name of a source, in bytes.
const maxSource = 500

func nameOf(source string) string {
	if len(source) > maxSource {
		source = strings.ToValidUTF8(source[:maxSource], "")
	}
	return source
}

// Judge notes whether a visit that a hint brought forward found a change, in the transaction of the visit. why is the
// reason of the visit. It does nothing for other visits.
func (h *Hints) Judge(txn *kv.Txn, why string, changed bool) error {
	source, ok := sourceOf(why)
	if h == nil || !ok {
		return nil
	}
	var w word
	if _, err := load(txn, key(tableWord, source), &w); err != nil {
		return fmt.Errorf("hints: %w", err)
	}
	w.judge(changed)
	return save(txn, key(tableWord, source), w)
}

// Hint is what a source says about one URL.
type Hint struct {
	URL      string
	Modified time.Time     // when it changed; zero if the source does not say
	Period   time.Duration // between changes; 0 if the source does not say
}

// Give takes hints of a source, as many as its word is good for, and returns how many visits they brought forward.
func (h *Hints) Give(ctx context.Context, source string, list []Hint) (moved int, err error) {
	source = nameOf(source)
	now := h.Clock()
	of := make([]frontier.Hint, len(list))
	for i, one := range list {
		of[i] = frontier.Hint(one)
	}
	useful, err := h.Frontier.Hintable(of, now, h.Min)
	if err != nil || len(useful) == 0 {
		return 0, err
	}
	err = h.DB.Update(ctx, func(txn *kv.Txn) (err error) {
		moved, err = h.give(txn, source, useful, now)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("hints: %w", err)
	}
	return moved, nil
}

// GiveIn is Give within the caller's transaction.
func (h *Hints) GiveIn(txn *kv.Txn, source string, list []Hint) error {
	of := make([]frontier.Hint, len(list))
	for i, one := range list {
		of[i] = frontier.Hint(one)
	}
	_, err := h.give(txn, nameOf(source), of, h.Clock())
	return err
}

func (h *Hints) give(txn *kv.Txn, source string, list []frontier.Hint, now time.Time) (moved int, err error) {
	var w word
	if _, err := load(txn, key(tableWord, source), &w); err != nil {
		return 0, err
	}
	w.forget(now)
	if moved, err = h.Frontier.HintIn(txn, list, now, h.Min, w.may(), w.trusted(), reason+source); err != nil || moved == 0 {
		return moved, err
	}
	w.give(moved, now)
	return moved, save(txn, key(tableWord, source), w)
}
