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

// perTxn is how many URLs one transaction takes in.
const perTxn = 500

// BadURL is the error for one URL that cannot be crawled.
type BadURL struct {
	URL string
	Err error
}

func (e *BadURL) Error() string { return "frontier: " + e.Err.Error() }
func (e *BadURL) Unwrap() error { return e.Err }

// about adds to an error which URL it is about; a *BadURL says so itself.
func about(raw string, err error) error {
	var bad *BadURL
	if errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("frontier: %s: %w", raw, err)
}

// Add makes URLs known and queues the new ones for now; what it says of known ones is merged into what other sources
// said. It may be repeated. URLs that cannot be crawled are left out and reported, joined, as *BadURL after all others
// were added; any other error means that some may not have been.
func (f *Frontier) Add(ctx context.Context, seeds ...catalog.Seed) (added int, err error) {
	return inBatches(ctx, f, "add", seeds, (*batch).add)
}

// inBatches changes URLs perTxn at a time. What is a *BadURL is left out and reported, joined, after all others were
// changed.
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

// Injection is one line of what an operator injects.
type Injection struct {
	URL         string   `json:"url"`
	Score       *float64 `json:"score"`       // nil: as it is, 0 for a new URL
	Blacklisted *bool    `json:"blacklisted"` // nil: as it is
}

// Inject adds URLs and overwrites the priority of known ones; a blacklisted URL is not fetched until another
// injection says false. Errors are those of Add.
func (f *Frontier) Inject(ctx context.Context, list ...Injection) (added int, err error) {
	return inBatches(ctx, f, "inject", list, (*batch).inject)
}

// batch is a set of changes to URLs inside one transaction.
type batch struct {
	f      *Frontier
	txn    *kv.Txn
	now    time.Time
	hosts  map[string]*host
	drops  map[string]string // why hosts were dropped, as far as that was looked up
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

// finish writes the groups that were touched and wakes those who wait once it is committed.
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
	u, known, err := b.look(s.URL)
	if err != nil {
		return err
	}
	if known {
		if !u.merge(s) {
			return nil
		}
		return u.save(b.txn)
	}
	u.URL, u.Priority = s.URL, s.Priority
	u.merge(s)
	return b.enter(u)
}

// enter makes a new URL known; that of a host that was dropped is kept out.
func (b *batch) enter(u *URL) error {
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
	u, known, err := b.look(in.URL)
	if err != nil {
		return err
	}
	if !known {
		u.URL = in.URL
		if in.Score != nil {
			u.Priority = *in.Score
		}
		u.Blacklisted = in.Blacklisted != nil && *in.Blacklisted
		return b.enter(u)
	}
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	if err := h.dequeue(b.txn, u); err != nil {
		return err
	}
	if in.Score != nil {
		u.Priority = *in.Score
	}
	if in.Blacklisted != nil {
		u.Blacklisted = *in.Blacklisted
	}
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}

// look is Frontier.look, which makes a record again that cannot be read.
func (b *batch) look(raw string) (u *URL, known bool, err error) {
	u, known, err = b.f.look(b.txn, raw)
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
	return b.f.look(b.txn, raw)
}

// look finds the record of a URL by its key. Of an unknown one, key and group are set.
func (f *Frontier) look(txn *kv.Txn, raw string) (u *URL, known bool, err error) {
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

// longestKey is what a key may take before a digest stands for its end.
const longestKey = 1 << 10

// keyOf returns the key of a URL: its SURT, shortened if it is too long.
func keyOf(u address.URL) string {
	key := u.Key()
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return key[:longestKey-70] + "#" + hex.EncodeToString(sum[:])
}

// MakeDue queues known URLs for now. ErrUnknown where one is not known; the others are queued all the same.
func (f *Frontier) MakeDue(ctx context.Context, urls ...string) error {
	var unknown []error
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, f.opts.Now())
		for _, raw := range urls {
			u, known, err := b.look(raw)
			if err != nil || !known {
				unknown = append(unknown, fmt.Errorf("%s: %w", raw, errors.Join(ErrUnknown, err)))
				continue
			}
			if err := b.due(u); err != nil {
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

// MakeGroupDue queues all URLs of a group for now and says how many there are.
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
				if err := b.due(u); err != nil {
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

func (b *batch) due(u *URL) error {
	if !u.Due.IsZero() && !u.Due.After(b.now) {
		return nil
	}
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	if err := h.dequeue(b.txn, u); err != nil {
		return err
	}
	u.Due = b.now
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}
