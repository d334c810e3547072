package frontier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// The kinds of orders about URLs, hosts and patterns.
const (
	OrderRequeue = "requeue" // due now, whatever the last visits found; also ends a drop or a pause
	OrderDrop    = "drop"    // not crawled until a requeue, even if a source lists it again
	OrderPause   = "pause"   // not crawled until a resume
	OrderResume  = "resume"  // ends a pause; due as before it
	OrderBoost   = "boost"   // sets the priority
	OrderInject  = "inject"  // adds URLs, and sets their priority if there is a Score; carried out by Inject
)

// Order is an operator's order. A target is a URL, the name of a host (with the port if it is not the scheme's default)
// for all its URLs, or "pattern:" and a regular expression (RE2) for the URLs that it matches, as canonical URLs or as
// they are fetched.
type Order struct {
	Kind    string
	Targets []string
	Why     string   // for OrderDrop and OrderPause: a reason, for people
	Score   *float64 // the priority for OrderBoost and OrderInject
	DryRun  bool     // only count
}

// Ordered is the result of an order.
type Ordered struct {
	URLs    int      `json:"urls"`            // number of URLs that it changed, or would change
	Unknown []string `json:"unknown"`         // targets that match nothing
	First   []string `json:"first,omitempty"` // of a dry run: the first of the URLs, at most MaxFirst

	Hosts map[string]bool `json:"-"` // of the URLs that it changed
}

// MaxFirst is the maximum number of URLs that a dry run names.
const MaxFirst = 20

// keyDropped, followed by a group, is the key of the reason for which new URLs of a host are kept out of the crawl: it
// was dropped or paused.
const keyDropped = "!dropped/"

func droppedKey(group string) []byte { return []byte(keyDropped + group) }

// Reasons of URLs that are not crawled because of an order begin with these.
const (
	droppedWhy = "dropped"
	pausedWhy  = "paused"
)

// isURL reports whether a target is a URL, not a host. Patterns may contain "://", too.
func isURL(target string) bool {
	return strings.Contains(target, "://") && !strings.HasPrefix(target, patternTarget)
}

// Requeue is Order with OrderRequeue.
func (f *Frontier) Requeue(ctx context.Context, targets ...string) (Ordered, error) {
	return f.Order(ctx, Order{Kind: OrderRequeue, Targets: targets})
}

// Drop is Order with OrderDrop.
func (f *Frontier) Drop(ctx context.Context, why string, targets ...string) (Ordered, error) {
	return f.Order(ctx, Order{Kind: OrderDrop, Targets: targets, Why: why})
}

// action is what an order does: one to each URL, reporting whether that changed it, and all, if not nil, to each host
// that is a target.
type action struct {
	one func(b *batch, u *URL, known bool) (changed bool, err error)
	all func(txn *kv.Txn, group string) error
}

func reasonOf(what, why string) string {
	if why == "" {
		return what
	}
	return what + ": " + why
}

// actionOf returns what an order does.
func actionOf(o Order) (action, error) {
	switch o.Kind {
	case OrderRequeue:
		return action{restart, admit("")}, nil
	case OrderDrop:
		reason := reasonOf(droppedWhy, o.Why)
		return action{drop(reason), keepOut(reason)}, nil
	case OrderPause:
		reason := reasonOf(pausedWhy, o.Why)
		return action{pause(reason), keepOut(reason)}, nil
	case OrderResume:
		return action{unpause, admit(pausedWhy)}, nil
	case OrderBoost:
		if o.Score == nil {
			return action{}, errors.New("frontier: boost without a score")
		}
		return action{boost(*o.Score), nil}, nil
	}
	return action{}, fmt.Errorf("frontier: there is no order %q", o.Kind)
}

// keepOut makes a reason for which a host's new URLs are not crawled. A dropped host stays dropped when it is paused.
func keepOut(reason string) func(*kv.Txn, string) error {
	return func(txn *kv.Txn, group string) error {
		if strings.HasPrefix(reason, pausedWhy) {
			why, known, err := txn.Get(kv.SpaceHosts, droppedKey(group))
			if err != nil || known && !strings.HasPrefix(string(why), pausedWhy) {
				return err
			}
		}
		return txn.Set(kv.SpaceHosts, droppedKey(group), []byte(reason))
	}
}

// admit lets a host's new URLs in again, if they are kept out for a reason that begins like that.
func admit(reason string) func(*kv.Txn, string) error {
	return func(txn *kv.Txn, group string) error {
		why, known, err := txn.Get(kv.SpaceHosts, droppedKey(group))
		if err != nil || !known || !strings.HasPrefix(string(why), reason) {
			return err
		}
		return txn.Delete(kv.SpaceHosts, droppedKey(group))
	}
}

// restart makes one URL due now, and forgets its failures and the time before which its host and its door must not be
// asked.
func restart(b *batch, u *URL, known bool) (bool, error) {
	if !known {
		return false, ErrUnknown
	}
	h, err := b.host(u.Group)
	if err != nil {
		return false, err
	}
	h.notBefore, h.wait = 0, ""
	h.setDoor(doorOf(u.Key), 0, "")
	return true, b.requeue(u, func() { u.Blacklisted, u.Errors, u.Due, u.Why = false, 0, b.now, "asked for" })
}

// drop registers an unknown URL as dropped.
func drop(reason string) func(*batch, *URL, bool) (bool, error) {
	return func(b *batch, u *URL, known bool) (bool, error) {
		if !known {
			u.Blacklisted, u.Why = true, reason
			return true, b.register(u)
		}
		return true, b.requeue(u, func() { u.Blacklisted, u.Why = true, reason })
	}
}

// pause leaves URLs alone that are not crawled anyway.
func pause(reason string) func(*batch, *URL, bool) (bool, error) {
	return func(b *batch, u *URL, known bool) (bool, error) {
		if !known {
			return false, ErrUnknown
		}
		if u.Blacklisted && !strings.HasPrefix(u.Why, pausedWhy) {
			return false, nil
		}
		return true, b.requeue(u, func() { u.Blacklisted, u.Why = true, reason })
	}
}

func unpause(b *batch, u *URL, known bool) (bool, error) {
	if !known {
		return false, ErrUnknown
	}
	if !u.Blacklisted || !strings.HasPrefix(u.Why, pausedWhy) {
		return false, nil
	}
	return true, b.requeue(u, func() { u.Blacklisted, u.Why = false, "" })
}

func boost(score float64) func(*batch, *URL, bool) (bool, error) {
	return func(b *batch, u *URL, known bool) (bool, error) {
		if !known {
			return false, ErrUnknown
		}
		if u.Priority == score {
			return false, nil
		}
		return true, b.requeue(u, func() { u.Priority = score })
	}
}

// Order carries out an order, perTxn URLs in a transaction, so a process that is killed leaves whole batches done; the
// list of orders tells how many. Targets that match no URL are returned as unknown. Malformed ones are skipped, and
// returned as joined *BadURL errors after all others are done. After any other error, some targets may not be done.
func (f *Frontier) Order(ctx context.Context, o Order) (Ordered, error) {
	if o.DryRun {
		return f.wouldOrder(ctx, o)
	}
	act, err := actionOf(o)
	if err != nil {
		return Ordered{}, err
	}
	e := &entryOfOrder{Note: noteOf(o, f.opts.Now())}
	done, err := f.order(ctx, o, act, e)
	_, onlyBad := errors.AsType[*BadURL](err)
	if noteErr := f.finishNote(ctx, e, err == nil || onlyBad); err == nil {
		err = noteErr
	}
	f.opts.Log.Info("order carried out", "order", o.Kind, "targets", len(o.Targets), "why", o.Why, "urls", done.URLs, "error", err)
	return done, err
}

func (f *Frontier) order(ctx context.Context, o Order, act action, e *entryOfOrder) (Ordered, error) {
	done, bad := Ordered{Unknown: []string{}, Hosts: map[string]bool{}}, []error(nil)
	for targets := o.Targets; len(targets) > 0; {
		n := 0
		for n < len(targets) && n < perTxn && isURL(targets[n]) {
			n++
		}
		if n > 0 {
			part, badPart, err := f.orderURLs(ctx, targets[:n], act, e)
			if err != nil {
				return done, fmt.Errorf("frontier: %s %s: %w", o.Kind, targets[0], err)
			}
			done.URLs += part.URLs
			maps.Copy(done.Hosts, part.Hosts)
			done.Unknown = append(done.Unknown, part.Unknown...)
			bad = append(bad, badPart...)
			targets = targets[n:]
			continue
		}
		urls, matched, err := f.orderMany(ctx, targets[0], act, e, done.Hosts)
		if malformed, ok := errors.AsType[*BadURL](err); ok {
			bad, err = append(bad, malformed), nil
		} else if err == nil && matched == 0 {
			done.Unknown = append(done.Unknown, targets[0])
		}
		if err != nil {
			return done, fmt.Errorf("frontier: %s %s: %w", o.Kind, targets[0], err)
		}
		done.URLs += urls
		targets = targets[1:]
	}
	return done, errors.Join(bad...)
}

// orderURLs carries out an order on URLs, at most perTxn, in one transaction. It returns those that are malformed as
// errors.
func (f *Frontier) orderURLs(ctx context.Context, targets []string, act action, e *entryOfOrder) (done Ordered, bad []error, err error) {
	err = f.db.Update(ctx, func(txn *kv.Txn) error {
		b := f.newBatch(txn, f.opts.Now())
		done, bad = Ordered{Hosts: map[string]bool{}}, nil
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
			changed, err := act.one(b, u, known)
			if errors.Is(err, ErrUnknown) {
				done.Unknown = append(done.Unknown, target)
				continue
			}
			if err != nil {
				return err
			}
			if changed {
				done.URLs++
				done.Hosts[u.Group] = true
			}
		}
		if err := e.write(txn, done.URLs); err != nil {
			return err
		}
		return b.finish()
	})
	return done, bad, err
}

// orderMany carries out an order on all URLs of a host, or all that a pattern matches, perTxn at a time, and on the
// host itself if it has URLs.
func (f *Frontier) orderMany(ctx context.Context, target string, act action, e *entryOfOrder, hosts map[string]bool) (changed, matched int,
	err error) {
	s, err := f.selectTarget(target)
	if err != nil {
		return 0, 0, err
	}
	for {
		page, err := s.next(ctx, perTxn)
		if err != nil || len(page) == 0 {
			return changed, matched, err
		}
		n := 0
		err = f.db.Update(ctx, func(txn *kv.Txn) error {
			b := f.newBatch(txn, f.opts.Now())
			n = 0
			for _, key := range page {
				u, known, err := get(txn, key)
				if errors.Is(err, ErrDamaged) || err == nil && !known {
					continue
				}
				if err != nil {
					return err
				}
				is, err := act.one(b, u, true)
				if err != nil {
					return err
				}
				if is {
					n++
					hosts[u.Group] = true
				}
			}
			if s.group != "" && act.all != nil {
				if err := act.all(txn, s.group); err != nil {
					return err
				}
			}
			if err := e.write(txn, n); err != nil {
				return err
			}
			return b.finish()
		})
		if err != nil {
			return changed, matched, err
		}
		changed += n
		matched += len(page)
	}
}

// dropped returns why a host's new URLs are kept out, "" if they are not.
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
