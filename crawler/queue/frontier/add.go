package frontier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

// perTxn is the maximum number of URLs, or groups, that one transaction changes.
const perTxn = 500

// BadURL is the error for a malformed URL. Err wraps address.ErrBad.
type BadURL struct {
	URL string
	Err error
}

func (e *BadURL) Error() string { return "frontier: " + e.Err.Error() }
func (e *BadURL) Unwrap() error { return e.Err }

// withURL adds the URL to an error, unless it is a *BadURL, which names it.
func withURL(raw string, err error) error {
	var bad *BadURL
	if errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("frontier: %s: %w", raw, err)
}

// Add registers URLs and queues the new ones for now. For known ones, it merges the declared format and period. It
// returns the number of new URLs. Malformed URLs are skipped, and returned as joined *BadURL errors after all others
// were added. After any other error, some URLs may not have been added. Add is idempotent.
func (f *Frontier) Add(ctx context.Context, seeds ...catalog.Seed) (added int, err error) {
	return inBatches(ctx, f, "add", seeds, (*batch).add)
}

// malformedIn returns the *BadURL errors that are joined in err.
func malformedIn(err error) (bad []error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		bad = joined.Unwrap()
	}
	return bad
}

// inBatches applies change to all, perTxn in a transaction. *BadURL errors are collected and returned joined.
func inBatches[T any](ctx context.Context, f *Frontier, what string, all []T, change func(*batch, T) error) (added int, err error) {
	var bad []error
	now := f.opts.Now()
	for part := range slices.Chunk(all, perTxn) {
		var inTxn int
		var badHere []error
		err := f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, now)
			for _, one := range part {
				if err := change(b, one); err != nil {
					var e *BadURL
					if !errors.As(err, &e) {
						return err
					}
					badHere = append(badHere, err)
				}
			}
			inTxn = b.added
			return b.finish()
		})
		if err != nil {
			return added, fmt.Errorf("frontier: %s: %w", what, err)
		}
		added += inTxn
		bad = append(bad, badHere...)
	}
	return added, errors.Join(bad...)
}

// Injection is an operator's order about one URL.
type Injection struct {
	URL         string   `json:"url"`
	Score       *float64 `json:"score"`       // nil: unchanged; 0 for a new URL
	Blacklisted *bool    `json:"blacklisted"` // nil: unchanged
}

// Inject adds URLs, and sets the priority of known ones. A blacklisted URL is not fetched until another injection says
// false. Results and errors are those of Add.
func (f *Frontier) Inject(ctx context.Context, list ...Injection) (added int, err error) {
	e := &entryOfOrder{Note: noteOf(Order{Kind: OrderInject}, f.opts.Now())}
	for _, one := range list[:min(maxNoted, len(list))] {
		public, _ := address.WithoutSecret(one.URL)
		e.Targets = append(e.Targets, cut(public))
	}
	e.More = len(list) - len(e.Targets)
	if len(list) > perTxn { // a process that is killed meanwhile leaves a note, too
		if err := f.finishNote(ctx, e, false); err != nil {
			return 0, err
		}
	}
	added, err = inBatches(ctx, f, OrderInject, list, (*batch).inject)
	e.URLs = len(list) - len(malformedIn(err))
	_, onlyBad := errors.AsType[*BadURL](err)
	if noteErr := f.finishNote(ctx, e, err == nil || onlyBad); err == nil {
		err = noteErr
	}
	return added, err
}

// batch changes URLs inside one transaction.
type batch struct {
	f      *Frontier
	txn    *kv.Txn
	now    time.Time
	hosts  map[string]*host
	drops  map[string]string // cache of the reasons for which hosts were dropped
	totals totals
	added  int
}

func (f *Frontier) newBatch(txn *kv.Txn, now time.Time) *batch {
	return &batch{f: f, txn: txn, now: now, hosts: map[string]*host{}, drops: map[string]string{}}
}

func (b *batch) host(group string) (*host, error) {
	if h, ok := b.hosts[group]; ok {
		return h, nil
	}
	h, err := b.f.host(b.txn, group)
	if err == nil {
		b.hosts[group] = h
	}
	return h, err
}

// finish writes the records of the changed groups, and wakes waiting workers after the commit.
func (b *batch) finish() error {
	for _, h := range b.hosts {
		if err := b.f.save(b.txn, h); err != nil {
			return err
		}
	}
	if err := b.totals.add(b.txn); err != nil {
		return err
	}
	b.txn.OnCommit(b.f.signal)
	return nil
}

func (b *batch) add(s catalog.Seed) error {
	s.URL, _ = address.WithoutSecret(s.URL)
	u, known, err := b.lookup(s.URL)
	if err != nil {
		return err
	}
	if known && u.Blacklisted && u.Why == imported {
		u.merge(s)
		return b.requeue(u, func() { u.Blacklisted, u.Due, u.Why = false, b.now, "" })
	}
	if known {
		if !u.merge(s) {
			return nil
		}
		return u.save(b.txn)
	}
	u.URL, u.Priority = s.URL, s.Priority
	u.merge(s)
	return b.register(u)
}

// register adds a new URL. It is blacklisted if its host was dropped.
func (b *batch) register(u *URL) error {
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	why, err := b.dropped(u.Group)
	if err != nil {
		return err
	}
	if u.Added, u.Due = b.now, b.now; why != "" {
		u.Blacklisted, u.Why = true, why
	}
	if b.f.opts.Refuses != nil && !u.Blacklisted {
		if why := b.f.opts.Refuses(u, true); why != "" {
			u.Due, u.Why = time.Time{}, why
		}
	}
	if h.urls == 0 {
		b.totals.hosts++
	}
	h.urls++
	b.totals.urls++
	b.added++
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}

func (b *batch) inject(in Injection) error {
	in.URL, _ = address.WithoutSecret(in.URL)
	u, known, err := b.lookup(in.URL)
	if err != nil {
		return err
	}
	if !known {
		u.URL = in.URL
		if in.Score != nil {
			u.Priority = *in.Score
		}
		u.Blacklisted = in.Blacklisted != nil && *in.Blacklisted
		return b.register(u)
	}
	return b.requeue(u, func() {
		if in.Score != nil {
			u.Priority = *in.Score
		}
		if in.Blacklisted != nil {
			u.Blacklisted = *in.Blacklisted
		}
	})
}

// requeue applies change, which may change what decides on a URL's place in the queue, and moves the URL there.
func (b *batch) requeue(u *URL, change func()) error {
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	if err := h.dequeue(b.txn, u); err != nil {
		return err
	}
	change()
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}

// lookup is Frontier.lookup, but restores a damaged record.
func (b *batch) lookup(raw string) (u *URL, known bool, err error) {
	u, known, err = b.f.lookup(b.txn, raw)
	if !errors.Is(err, ErrDamaged) {
		return u, known, err
	}
	parsed, err := address.Parse(raw)
	if err != nil {
		return nil, false, &BadURL{raw, err}
	}
	key := keyOf(parsed)
	h, _, err := b.f.mendURL(b.txn, parsed.Group(), entry{key: key}, nil)
	if err != nil {
		return nil, false, err
	}
	b.hosts[h.group] = h
	return b.f.lookup(b.txn, raw)
}

// lookup returns the record of a URL in any spelling. For an unknown URL, it returns a record with key and group only.
func (f *Frontier) lookup(txn *kv.Txn, raw string) (u *URL, known bool, err error) {
	parsed, err := address.Parse(raw)
	if err != nil {
		return nil, false, &BadURL{raw, err}
	}
	key := keyOf(parsed)
	u, known, err = get(txn, key)
	if err == nil && !known {
		u = &URL{Key: key, Group: parsed.Group()}
	}
	return u, known, err
}

// maxKey is the maximum length of a key. A digest replaces the end of a longer one.
const maxKey = 1 << 10

// keyOf returns the key of a URL: its SURT, shortened if it is too long.
func keyOf(u address.URL) string {
	key := u.Key()
	if len(key) <= maxKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:maxKey-70] + "#" + hex.EncodeToString(sum[:])
}

// MakeDue queues known URLs for now. For each unknown one, the joined error wraps ErrUnknown; the others are queued.
func (f *Frontier) MakeDue(ctx context.Context, urls ...string) error {
	var unknown []error
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, f.opts.Now())
		for _, raw := range urls {
			u, known, err := b.lookup(raw)
			if err != nil || !known {
				unknown = append(unknown, fmt.Errorf("%s: %w", raw, errors.Join(ErrUnknown, err)))
				continue
			}
			if err := b.makeDue(u); err != nil {
				return err
			}
		}
		return b.finish()
	})
	if err != nil {
		return fmt.Errorf("frontier: make due: %w", err)
	}
	return errors.Join(unknown...)
}

// MakeGroupDue queues all URLs of a group for now and returns their number.
func (f *Frontier) MakeGroupDue(ctx context.Context, group string) (n int, err error) {
	for after := ""; ; {
		var page []string
		err := f.Each(Filter{Group: group}, after, perTxn, func(u *URL) error {
			page = append(page, u.Key)
			return nil
		})
		if err != nil || len(page) == 0 {
			return n, err
		}
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, f.opts.Now())
			for _, key := range page {
				u, known, err := get(txn, key)
				if errors.Is(err, ErrDamaged) || err == nil && !known {
					continue
				}
				if err != nil {
					return err
				}
				if err := b.makeDue(u); err != nil {
					return err
				}
			}
			return b.finish()
		})
		if err != nil {
			return n, fmt.Errorf("frontier: make due: %w", err)
		}
		n += len(page)
		after = page[len(page)-1]
	}
}

// makeDue queues a URL for now unless it is due already.
func (b *batch) makeDue(u *URL) error {
	if !u.Due.IsZero() && !u.Due.After(b.now) {
		return nil
	}
	return b.requeue(u, func() { u.Due = b.now })
}
