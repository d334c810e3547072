package frontier

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"odarchive/triplestore/kv"
)

// Hint is what somebody says about a URL.
type Hint struct {
	URL      string
	Modified time.Time     // when it changed; zero if that is not said
	Period   time.Duration // between changes; 0 if that is not said
}

// minForward is how much earlier a visit must become for a hint to move it.
const minForward = time.Hour

// forward reports whether a hint brings the next visit of a known URL forward to now: the URL has changed after it was
// visited, and after the Last-Modified of its server. least is the minimum time between two visits.
func (u *URL) forward(h Hint, now time.Time, least time.Duration) bool {
	if u.Blacklisted || u.Errors > 0 || len(u.History) == 0 || u.Due.IsZero() || u.Due.Before(now.Add(minForward)) || h.Modified.IsZero() {
		return false
	}
	last := u.History[len(u.History)-1].At
	if !h.Modified.After(last) || now.Sub(last) < least {
		return false
	}
	sent, err := http.ParseTime(u.LastModified)
	return err != nil || sent.Before(h.Modified)
}

// tells reports whether a hint says what nobody has declared.
func (u *URL) tells(h Hint) bool {
	return h.Period >= time.Second && u.Period == 0 && !u.Blacklisted
}

// Hintable returns the hints that would change something. It writes nothing.
func (f *Frontier) Hintable(hints []Hint, now time.Time, least time.Duration) (useful []Hint, err error) {
	err = f.db.View(func(txn *kv.Txn) error {
		for _, h := range hints {
			u, known, err := f.lookup(txn, h.URL)
			var bad *BadURL
			if errors.As(err, &bad) || errors.Is(err, ErrDamaged) || err == nil && !known {
				continue
			}
			if err != nil {
				return err
			}
			if u.forward(h, now, least) || u.tells(h) {
				useful = append(useful, h)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: hints: %w", err)
	}
	return useful, nil
}

// HintIn makes URLs due now that have changed, as hints say, at most max of them, for the reason why, in a transaction.
// If periods is set, it also takes over the periods of URLs for which none is declared. Hints about URLs that are not
// known, or that have not been visited yet, change nothing. It returns how many visits it brought forward.
func (f *Frontier) HintIn(txn *kv.Txn, hints []Hint, now time.Time, least time.Duration, max int, periods bool, why string) (moved int,
	err error) {
	b := f.newBatch(txn, now)
	for _, h := range hints {
		u, known, err := f.lookup(txn, h.URL)
		var bad *BadURL
		if errors.As(err, &bad) || errors.Is(err, ErrDamaged) || err == nil && !known {
			continue
		}
		if err != nil {
			return 0, err
		}
		tells := periods && u.tells(h)
		if tells {
			u.Period = h.Period.Truncate(time.Second)
		}
		switch {
		case moved < max && u.forward(h, now, least):
			if err := b.requeue(u, func() { u.Due, u.Why = now, why }); err != nil {
				return 0, err
			}
			moved++
		case tells:
			if err := u.save(txn); err != nil {
				return 0, err
			}
		}
	}
	return moved, b.finish()
}
