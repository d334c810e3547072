package frontier

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Orders concern single URLs and whole hosts. A target is a URL, or the name of a host (with the port if it is not the
// scheme's default) for all its URLs.

// Ordered is the result of an order.
type Ordered struct {
	URLs    int      `json:"urls"`    // number of URLs that it changed
	Unknown []string `json:"unknown"` // targets that are not registered
}

// keyDropped, followed by a group, is the key of the reason for which the host was dropped.
const keyDropped = "!dropped/"

func droppedKey(group string) []byte { return []byte(keyDropped + group) }

// isURL reports whether a target is a URL, not a host.
func isURL(target string) bool { return strings.Contains(target, "://") }

// Requeue makes URLs due now, whatever their last visits found, and cancels Drop. It resets the counts of failures, and
// the time before which their hosts must not be asked.
func (f *Frontier) Requeue(ctx context.Context, targets ...string) (Ordered, error) {
	return f.order(ctx, "requeue", targets, (*batch).restart, func(txn *kv.Txn, group string) error {
		return txn.Delete(kv.SpaceHosts, droppedKey(group))
	})
}

// Drop removes URLs from the crawl until Requeue or Inject reverses it, even if a source lists them again. An unknown
// URL is registered as dropped. Dropping a host applies to its future URLs too. Archived versions stay.
func (f *Frontier) Drop(ctx context.Context, why string, targets ...string) (Ordered, error) {
	reason := "dropped"
	if why != "" {
		reason += ": " + why
	}
	drop := func(b *batch, u *URL, known bool) error {
		if !known {
			u.Blacklisted, u.Why = true, reason
			return b.register(u)
		}
		return b.requeue(u, func() { u.Blacklisted, u.Why = true, reason })
	}
	return f.order(ctx, "drop", targets, drop, func(txn *kv.Txn, group string) error {
		return txn.Set(kv.SpaceHosts, droppedKey(group), []byte(reason))
	})
}

// restart is Requeue for one URL.
func (b *batch) restart(u *URL, known bool) error {
	if !known {
		return ErrUnknown
	}
	h, err := b.host(u.Group)
	if err != nil {
		return err
	}
	h.notBefore, h.wait = 0, ""
	return b.requeue(u, func() { u.Blacklisted, u.Errors, u.Due, u.Why = false, 0, b.now, "asked for" })
}

// order applies one to each target URL and to each URL of the target hosts, and all to these hosts. A target for which
// one returns ErrUnknown is listed as unknown. Malformed URLs are skipped, and returned as joined *BadURL errors after
// all other targets are done. After any other error, some targets may not be done.
func (f *Frontier) order(ctx context.Context, what string, targets []string, one func(b *batch, u *URL, known bool) error, all func(*kv.Txn, string) error) (Ordered, error) {
	done, bad := Ordered{Unknown: []string{}}, []error(nil)
	for len(targets) > 0 {
		n := 0
		for n < len(targets) && n < perTxn && isURL(targets[n]) {
			n++
		}
		if n > 0 {
			part, badPart, err := f.orderURLs(ctx, targets[:n], one)
			if err != nil {
				return done, fmt.Errorf("frontier: %s %s: %w", what, targets[0], err)
			}
			done.URLs += part.URLs
			done.Unknown = append(done.Unknown, part.Unknown...)
			bad = append(bad, badPart...)
			targets = targets[n:]
			continue
		}
		urls, err := f.orderHost(ctx, targets[0], one, all)
		switch {
		case errors.Is(err, ErrUnknown):
			done.Unknown = append(done.Unknown, targets[0])
		case err != nil:
			return done, fmt.Errorf("frontier: %s %s: %w", what, targets[0], err)
		}
		done.URLs += urls
		targets = targets[1:]
	}
	return done, errors.Join(bad...)
}

// orderURLs applies one to URLs, at most perTxn, in one transaction. It returns those that are malformed as errors.
func (f *Frontier) orderURLs(ctx context.Context, targets []string, one func(*batch, *URL, bool) error) (done Ordered, bad []error, err error) {
	err = f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, f.opts.Now())
		for _, target := range targets {
			target, _ = address.WithoutSecret(target)
			u, known, err := b.lookup(target)
			if malformed, ok := errors.AsType[*BadURL](err); ok {
				bad = append(bad, malformed)
				continue
			}
			if err != nil {
				return err
			}
			if !known {
				u.URL = target
			}
			err = one(b, u, known)
			if errors.Is(err, ErrUnknown) {
				done.Unknown = append(done.Unknown, target)
				continue
			}
			if err != nil {
				return err
			}
			done.URLs++
		}
		return b.finish()
	})
	return done, bad, err
}

// orderHost applies one to all URLs of a host, perTxn at a time, and all to the host. If the host has no URLs, it
// returns ErrUnknown and changes nothing.
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

// dropped returns why a host was dropped, "" if it was not.
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
