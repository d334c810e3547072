package frontier

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// patternTarget begins a target that is a regular expression.
const patternTarget = "pattern:"

// maxPattern is the maximum length of a regular expression, in bytes. Go's engine takes time in proportion to the
// length of the expression and that of the URL.
const maxPattern = 1000

// CheckTarget returns nil if a text can be the target of an order. The error wraps address.ErrBad.
func CheckTarget(target string) error {
	if _, ok := strings.CutPrefix(target, patternTarget); ok {
		_, err := compileTarget(target)
		return err
	}
	return address.CheckTarget(target)
}

func compileTarget(target string) (*regexp.Regexp, error) {
	text := strings.TrimPrefix(target, patternTarget)
	if len(text) > maxPattern {
		return nil, fmt.Errorf("%w: a pattern of %d bytes, and at most %d are allowed", address.ErrBad, len(text), maxPattern)
	}
	if text == "" {
		return nil, fmt.Errorf("%w: the pattern is empty; '.' matches every URL", address.ErrBad)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", address.ErrBad, err)
	}
	return re, nil
}

// selection walks through the keys of the URLs that a host or pattern selects, in order. It holds no transaction
// between two pages, so URLs that are added meanwhile may be in later ones.
type selection struct {
	f     *Frontier
	group string         // "" for a pattern
	re    *regexp.Regexp // nil for a host
	after string
	ended bool
}

// selectTarget returns the selection of a target that is not a URL. The error is a *BadURL.
func (f *Frontier) selectTarget(target string) (*selection, error) {
	if !strings.HasPrefix(target, patternTarget) {
		return &selection{f: f, group: address.HostGroup(target)}, nil
	}
	re, err := compileTarget(target)
	if err != nil {
		return nil, &BadURL{target, err}
	}
	return &selection{f: f, re: re}, nil
}

// scanPart is how many URLs one transaction reads at most in search of those that a pattern matches.
const scanPart = 20_000

var errPart = errors.New("a part of the URLs is read")

// next returns the keys of the next selected URLs, at most n; none at the end.
func (s *selection) next(ctx context.Context, n int) (page []string, err error) {
	for !s.ended && len(page) == 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		seen := 0
		err := s.f.Each(Filter{Group: s.group}, s.after, 0, func(u *URL) error {
			s.after = u.Key
			if s.matches(u.URL) {
				page = append(page, u.Key)
			}
			if seen++; seen >= scanPart || len(page) >= n {
				return errPart
			}
			return nil
		})
		switch {
		case err == nil:
			s.ended = true
		case !errors.Is(err, errPart):
			return nil, err
		}
	}
	return page, nil
}

func (s *selection) matches(url string) bool {
	if s.re == nil || s.re.MatchString(url) {
		return true
	}
	u, err := address.Parse(url)
	return err == nil && s.re.MatchString(u.Canonical().String())
}

// wouldOrder counts what an order would change. It writes nothing.
func (f *Frontier) wouldOrder(ctx context.Context, o Order) (Ordered, error) {
	done, bad := Ordered{Unknown: []string{}}, []error(nil)
	count := func(url string) {
		if done.URLs++; len(done.First) < MaxFirst {
			done.First = append(done.First, url)
		}
	}
	for _, target := range o.Targets {
		if isURL(target) || o.Kind == OrderInject {
			target, _ = address.WithoutSecret(target)
			u, err := f.Get(target)
			malformed, isBad := errors.AsType[*BadURL](err)
			switch {
			case isBad:
				bad = append(bad, malformed)
			case errors.Is(err, ErrUnknown) && (o.Kind == OrderDrop || o.Kind == OrderInject):
				count(target)
			case errors.Is(err, ErrUnknown):
				done.Unknown = append(done.Unknown, target)
			case err != nil:
				return done, err
			case o.changes(u):
				count(u.URL)
			}
			continue
		}
		s, err := f.selectTarget(target)
		if malformed, ok := errors.AsType[*BadURL](err); ok {
			bad = append(bad, malformed)
			continue
		}
		matched := 0
		for err == nil {
			var page []string
			if page, err = s.next(ctx, perTxn); len(page) == 0 {
				break
			}
			matched += len(page)
			err = f.db.View(func(txn *kv.Txn) error {
				for _, key := range page {
					u, known, err := get(txn, key)
					if err != nil && !errors.Is(err, ErrDamaged) {
						return err
					}
					if err == nil && known && o.changes(u) {
						count(u.URL)
					}
				}
				return nil
			})
		}
		if err != nil {
			return done, fmt.Errorf("frontier: %s %s: %w", o.Kind, target, err)
		}
		if matched == 0 {
			done.Unknown = append(done.Unknown, target)
		}
	}
	return done, errors.Join(bad...)
}

// changes reports whether an order changes a known URL, as its action does.
func (o Order) changes(u *URL) bool {
	isPaused := u.Blacklisted && strings.HasPrefix(u.Why, pausedWhy)
	switch o.Kind {
	case OrderPause:
		return !u.Blacklisted || isPaused
	case OrderResume:
		return isPaused
	case OrderBoost, OrderInject:
		return o.Score != nil && u.Priority != *o.Score
	}
	return true
}
