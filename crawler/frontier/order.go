package frontier

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Orders about single URLs and whole hosts. A target is a URL, or the name of a host (with its port where that is not the
// scheme's own) for all its URLs.

// Ordered says what an order came to.
type Ordered struct {
	URLs    int      `json:"urls"`    // that it reached
	Unknown []string `json:"unknown"` // targets of which nothing is known
}

// keyDropped and a host's name is the key of why the host was dropped.
const keyDropped = "!dropped/"

func droppedKey(group string) []byte { return []byte(keyDropped + group) }

// isURL tells a URL from the name of a host.
func isURL(target string) bool { return strings.Contains(target, "://") }

// Requeue makes URLs due now, whatever came of their last visits, and takes them back into the crawl that were dropped.
// Failures in a row are forgotten, and so is that their host was to be left alone.
func (f *Frontier) Requeue(ctx context.Context, targets ...string) (Ordered, error) {
	return f.order(ctx, "requeue", targets, (*batch).requeue, func(txn *kv.Txn, group string) error {
		return txn.Delete(kv.SpaceHosts, droppedKey(group))
	})
}

// Drop takes URLs out of the crawl until Requeue or Inject says otherwise: no source that lists them again brings them
// back. An unknown URL is kept out from now on, and of a host also those that are yet to come. What was archived stays.
func (f *Frontier) Drop(ctx context.Context, why string, targets ...string) (Ordered, error) {
	reason := "dropped"
	if why != "" {
		reason += ": " + why
	}
	drop := func(b *batch, u *URL, known bool) error {
		if !known {
			u.Blacklisted, u.Why = true, reason
			return b.enter(u)
		}
		return b.change(u, func() { u.Blacklisted, u.Why = true, reason })
	}
	return f.order(ctx, "drop", targets, drop, func(txn *kv.Txn, group string) error {
		return txn.Set(kv.SpaceHosts, droppedKey(group), []byte(reason))
	})
}

// requeue is Requeue for one URL.
func (b *batch) requeue(u *URL, known bool) error {
	if !known {
		return ErrUnknown
	}
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	h.notBefore, h.wait = 0, ""
	return b.change(u, func() { u.Blacklisted, u.Errors, u.Due, u.Why = false, 0, b.now, "asked for" })
}

// change changes what decides on a URL's place in the queue.
func (b *batch) change(u *URL, how func()) error {
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	if err := h.dequeue(b.txn, u); err != nil {
		return err
	}
	how()
	if err := h.enqueue(b.txn, u); err != nil {
		return err
	}
	return u.save(b.txn)
}

// order applies one to each URL, and all to each host that is a target. An ErrUnknown of one lists the target as unknown.
func (f *Frontier) order(ctx context.Context, what string, targets []string, one func(b *batch, u *URL, known bool) error, all func(*kv.Txn, string) error) (Ordered, error) {
	done := Ordered{Unknown: []string{}}
	for _, target := range targets {
		var n int
		var err error
		if isURL(target) {
			target, _ = address.WithoutSecret(target)
			n, err = 1, f.orderURL(ctx, target, one)
		} else {
			n, err = f.orderHost(ctx, target, one, all)
		}
		if errors.Is(err, ErrUnknown) {
			done.Unknown = append(done.Unknown, target)
			continue
		}
		if err != nil {
			return done, fmt.Errorf("frontier: %s %s: %w", what, target, err)
		}
		done.URLs += n
	}
	return done, nil
}

func (f *Frontier) orderURL(ctx context.Context, target string, one func(*batch, *URL, bool) error) error {
	return f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, f.opts.Now())
		u, known, err := b.look(target)
		if err != nil {
			return err
		}
		if !known {
			u.URL = target
		}
		if err := one(b, u, known); err != nil {
			return err
		}
		return b.finish()
	})
}

// orderHost reaches all URLs of a host, perTxn at a time; ErrUnknown if there are none, and nothing is noted then.
func (f *Frontier) orderHost(ctx context.Context, group string, one func(*batch, *URL, bool) error, all func(*kv.Txn, string) error) (n int, err error) {
	group = address.HostGroup(group)
	for after := ""; ; {
		var page []string
		err := f.Each(Filter{Group: group}, after, perTxn, func(u *URL) error {
			page = append(page, u.Key)
			return nil
		})
		if err != nil {
			return n, err
		}
		if len(page) == 0 {
			if n == 0 {
				return 0, ErrUnknown
			}
			return n, nil
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
				if err := one(b, u, true); err != nil {
					return err
				}
			}
			if err := all(txn, group); err != nil {
				return err
			}
			return b.finish()
		})
		if err != nil {
			return n, err
		}
		n += len(page)
		after = page[len(page)-1]
	}
}

// dropped says why a host was dropped, "" if it was not.
func (b *batch) dropped(group string) (why string, err error) {
	if why, known := b.drops[group]; known {
		return why, nil
	}
	_, err = b.txn.Read(kv.SpaceHosts, droppedKey(group), func(v []byte) error { why = string(v); return nil })
	if err == nil {
		b.drops[group] = why
	}
	return why, err
}
