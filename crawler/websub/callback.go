package websub

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/archive/faults"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/sitemap"
	"odarchive/crawler/hints"

	"golang.org/x/time/rate"
)

// Errors of Verify and Deliver.
var (
	ErrUnknown   = errors.New("there is no such subscription, or nothing was asked of it")
	ErrEnded     = errors.New("the subscription has ended")
	ErrSignature = errors.New("it is not signed as sha256, sha384 or sha512 with the secret of the subscription")
	ErrTooLarge  = fmt.Errorf("it is larger than %d bytes", MaxBody)
	ErrTooMany   = errors.New("there are too many deliveries")
)

// Limits of deliveries.
const (
	MaxBody      = 1 << 20 // bytes
	maxReading   = 4       // at a time
	perDelivery  = 10 * time.Second
	burst        = 30
	maxEntries   = 500  // of a feed
	maxChallenge = 4096 // bytes
)

// Intent is what a hub asks to be confirmed.
type Intent struct {
	Mode      string // subscribe, unsubscribe or denied
	Topic     string
	Challenge string
	Lease     string // seconds; may be anything
	Reason    string // of a denial
}

// Verify confirms a request that was sent for a subscription, and returns what the hub wants to read. It returns ErrUnknown for
// everything that was not asked for.
func (s *Subscriber) Verify(ctx context.Context, id string, in Intent) (answer string, err error) {
	if s == nil || len(in.Challenge) > maxChallenge || in.Challenge == "" && in.Mode != "denied" {
		return "", ErrUnknown
	}
	known := false
	now := s.o.Clock()
	err = s.changeIf(ctx, id, func(one *subscription) (keep, changed bool) {
		if in.Topic != one.Topic || one.Asked.IsZero() || now.Sub(one.Asked).Abs() > verifyFor && in.Mode != "denied" {
			return true, false
		}
		switch {
		case in.Mode == "subscribe" && s.o.On && (one.State == Wanted || one.State == Active):
			known = true
			one.confirm(leaseOf(in.Lease), now)
		case in.Mode == "unsubscribe" && one.State == Leaving:
			known = true
			return false, true
		case in.Mode == "denied" && one.State == Leaving:
			known = true
			return false, true
		case in.Mode == "denied":
			known = true
			one.State, one.Next, one.Lease, one.Failures = Denied, now.Add(afterDenial), time.Time{}, 0
			one.Why = fmt.Sprintf("denied: %.*s", maxWhy, strings.ToValidUTF8(in.Reason, "?"))
		}
		return true, known
	})
	if err == nil && !known {
		err = ErrUnknown
	}
	return in.Challenge, err
}

// changeIf is change, which writes only if f says that it changed something.
func (s *Subscriber) changeIf(ctx context.Context, id string, f func(*subscription) (keep, changed bool)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	before := s.get(id)
	if before == nil {
		return nil
	}
	one := *before
	keep, changed := f(&one)
	if !changed {
		return nil
	}
	return s.write(ctx, id, &one, keep)
}

func (one *subscription) confirm(lease time.Duration, now time.Time) {
	one.State, one.Failures, one.Why = Active, 0, ""
	one.Lease = now.Add(lease)
	one.Next = now.Add(max(lease*4/5, minRenew))
}

// leaseOf returns the time for which a hub sends changes, by its seconds: at most maxLease, whatever it says.
func leaseOf(seconds string) time.Duration {
	n, err := strconv.ParseInt(seconds, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || n > int64(maxLease/time.Second):
		return maxLease
	case err != nil || n <= 0:
		return leaseWanted
	}
	return time.Duration(n) * time.Second
}

// Deliver takes what a hub sends. If signature is right, the visits of the topic, and of the files that it lists if it is a
// feed, are brought forward as far as the hub of the site is believed. body is read up to MaxBody.
func (s *Subscriber) Deliver(ctx context.Context, id, signature string, body io.Reader) (moved int, err error) {
	if s == nil {
		return 0, ErrUnknown
	}
	moved, err = s.deliver(ctx, id, signature, body)
	s.mu.Lock()
	if err == nil {
		s.accepted++
	} else {
		s.refused++
	}
	s.mu.Unlock()
	return moved, err
}

func (s *Subscriber) deliver(ctx context.Context, id, signature string, body io.Reader) (moved int, err error) {
	one := s.get(id)
	switch {
	case one == nil:
		return 0, ErrUnknown
	case !s.o.On || one.State == Leaving || one.State == Denied:
		return 0, ErrEnded
	case one.State == Wanted && one.Lease.IsZero():
		return 0, ErrUnknown
	case !s.allow(id):
		return 0, ErrTooMany
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
	default:
		return 0, ErrTooMany
	}
	content, err := io.ReadAll(io.LimitReader(body, MaxBody+1))
	if err != nil {
		return 0, fmt.Errorf("websub: delivery: %w", err)
	}
	if len(content) > MaxBody {
		return 0, ErrTooLarge
	}
	if !signed(content, signature, one.Secret) {
		return 0, ErrSignature
	}
	now := s.o.Clock()
	moved, err = s.o.Hints.Give(ctx, sourceOf(one), append(one.changed(now), one.entries(content, now)...))
	if err != nil {
		return 0, err
	}
	return moved, s.change(ctx, id, func(one *subscription) bool {
		one.Deliveries, one.Moved, one.Told, one.Again = one.Deliveries+1, one.Moved+moved, now, time.Time{}
		if moved == 0 { // the last visit may have been a moment ago
			one.Again = now.Add(s.o.Hints.Min)
		}
		return true
	})
}

// allow counts a delivery and reports whether the subscription may have it.
func (s *Subscriber) allow(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all[id] == nil {
		return false
	}
	bucket := s.rates[id]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Every(perDelivery), burst)
		s.rates[id] = bucket
	}
	return bucket.Allow()
}

// signed reports whether a signature, such as "sha256=" and hexadecimal digits, is that of the content. SHA-1 is refused.
func signed(content []byte, signature, secret string) bool {
	method, digits, ok := strings.Cut(signature, "=")
	makers := map[string]func() hash.Hash{"sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}
	maker := makers[strings.ToLower(strings.TrimSpace(method))]
	given, err := hex.DecodeString(strings.TrimSpace(digits))
	if !ok || maker == nil || err != nil || secret == "" {
		return false
	}
	mac := hmac.New(maker, []byte(secret))
	mac.Write(content)
	return hmac.Equal(mac.Sum(nil), given)
}

// entries returns what a delivered feed says of files of the topic's site. An entry without a time has changed now.
func (one *subscription) entries(content []byte, now time.Time) (list []hints.Hint) {
	if !bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))), []byte("<")) {
		return nil // not compressed either: only what was sent is read
	}
	done := errors.New("enough")
	_ = faults.Contain(func() error { // what is before a fault counts
		return sitemap.Read(content, one.Topic, func(e sitemap.Entry) error {
			if at, ok := siteOf(e.URL); ok && at == one.Site && e.URL != one.Topic && e.URL != one.Page {
				when := now
				if e.Modified != "" {
					when = hints.NotAfter(harvest.ParseEnd(e.Modified), now)
				}
				list = append(list, hints.Hint{URL: e.URL, Modified: when, Period: 0})
			}
			if len(list) >= maxEntries {
				return done
			}
			return nil
		})
	})
	return list
}
