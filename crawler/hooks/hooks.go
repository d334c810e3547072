// Package hooks tells other programs what changes in the archive: it sends each event of the log of changes to the addresses that
// want it, one POST a change, with the JSON that feeds have.
//
// A Hook reads the log of events by itself. The number of the next event is stored, so that a hook neither loses an event nor
// begins anew when the process ends, however it ends: an event whose answer was not noted is sent again, under the
// same webhook-id. Nothing is queued in memory, and nothing waits for a hook: one that fails falls behind, and is tried again
// after pauses that double. A hook that is new begins with the next event.
//
// Requests are signed as Standard Webhooks describes (https://www.standardwebhooks.com): the header webhook-signature has the
// HMAC-SHA256 of webhook-id, webhook-timestamp and the body. They go through the client that the caller gives, which guards
// private addresses; redirects are not followed.
package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// Hook is an address that wants to be told of changes.
type Hook struct {
	URL    string
	Select catalog.EventQuery // Before and Limit have no effect

	name string // in the store
}

// selectors are the parameters of a hook's selection, which are those of a feed.
var selectors = []string{"url", "dataset", "portal", "q", "kind"}

// Parse reads a hook: an http or https address, and after a space the query string of a feed, such as
// "https://example.org/in portal=http://data.example/&kind=schema,gone".
func Parse(text string) (h Hook, err error) {
	address, selection, _ := strings.Cut(strings.TrimSpace(text), " ")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return h, errors.New("expected an http or https address, and after a space what a feed selects, such as kind=schema,gone")
	}
	q, err := url.ParseQuery(strings.TrimSpace(selection))
	if err != nil {
		return h, fmt.Errorf("the selection %q is not a query string: %w", selection, err)
	}
	about := 0
	for name, values := range q {
		if !slices.Contains(selectors, name) {
			return h, fmt.Errorf("a hook cannot select by %q: expected %s", name, strings.Join(selectors, ", "))
		}
		if name != "kind" && strings.Join(values, "") != "" {
			about++
		}
	}
	if about > 1 {
		return h, errors.New("a hook is about one of url, dataset, portal and q")
	}
	h.URL = address
	h.Select = catalog.EventQuery{URL: q.Get("url"), Dataset: q.Get("dataset"), Portal: q.Get("portal"), Text: q.Get("q"), Kinds: strings.Join(q["kind"], ",")}
	if _, err := events.ParseKinds(h.Select.Kinds); err != nil {
		return h, err
	}
	sum := sha256.Sum256([]byte(address + " " + q.Encode()))
	h.name = "hook " + hex.EncodeToString(sum[:12])
	return h, nil
}

// host returns the host of the address, which may have secrets in its path.
func (h Hook) host() string {
	u, err := url.Parse(h.URL)
	if err != nil {
		return "" // Parse has read it
	}
	return u.Host
}

// ParseSecret reads the secret of the signatures: "whsec_" and base64, as Standard Webhooks writes it, or any other text.
func ParseSecret(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if encoded, ok := strings.CutPrefix(text, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errors.New("the secret is not base64 after whsec_")
		}
		text = string(key)
	}
	if len(text) < minSecret {
		return nil, fmt.Errorf("the secret is shorter than %d bytes", minSecret)
	}
	return []byte(text), nil
}

const minSecret = 16 // bytes

// Log is the log of changes.
type Log interface {
	EventCount() (uint64, error)
	// EventsFrom returns selected events with numbers from from on, oldest first, and the number from which to go on.
	EventsFrom(ctx context.Context, q catalog.EventQuery, from uint64) (list []catalog.Event, next uint64, err error)
	EventMark(reader string) (next uint64, known bool, err error)
	SetEventMark(ctx context.Context, reader string, next uint64) error
}

// Options of New. Log and Client are required.
type Options struct {
	Log       Log
	Client    *http.Client
	UserAgent string
	Mint      ns.Mint
	Hooks     []Hook
	Secret    []byte // nil for no signatures
	Logger    *slog.Logger
	Now       func() time.Time // for timestamps; nil means time.Now

	Poll     time.Duration // how often the log is looked at; 0 means 1 s
	MinPause time.Duration // after the first failure; 0 means 1 s
	MaxPause time.Duration // 0 means 1 h
	GiveUp   time.Duration // after which an event that a hook refuses is skipped; 0 means 72 h
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		is    *time.Duration
		usual time.Duration
	}{{&o.Poll, time.Second}, {&o.MinPause, time.Second}, {&o.MaxPause, time.Hour}, {&o.GiveUp, 72 * time.Hour}} {
		if *d.is <= 0 {
			*d.is = d.usual
		}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Sender sends events to hooks.
type Sender struct {
	opts   Options
	client http.Client
}

// New returns a Sender. It sends nothing before Run.
func New(o Options) *Sender {
	s := &Sender{opts: o.withDefaults(), client: *o.Client}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client.Timeout = requestTimeout
	return s
}

const (
	requestTimeout = 30 * time.Second
	lastAnswer     = 5 * time.Second
	maxAnswer      = 64 << 10 // bytes of an answer that are read, so that its connection can be used again
)

// Begin makes new hooks begin with the next event. Run does so, too, but a caller that is about to make events calls Begin before.
func (s *Sender) Begin(ctx context.Context) error {
	for _, h := range s.opts.Hooks {
		if _, err := s.position(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// Run sends events until ctx ends. If drain is true, it also returns when no hook has an event left that it has not tried to
// send.
func (s *Sender) Run(ctx context.Context, drain bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for _, h := range s.opts.Hooks {
		group.Go(func() {
			if err := s.follow(ctx, h, drain); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// position returns the number of the next event for a hook.
func (s *Sender) position(ctx context.Context, h Hook) (uint64, error) {
	next, known, err := s.opts.Log.EventMark(h.name)
	if err != nil || known {
		return next, err
	}
	if next, err = s.opts.Log.EventCount(); err != nil {
		return 0, err
	}
	return next, s.opts.Log.SetEventMark(ctx, h.name, next)
}

// follow sends the events of one hook.
func (s *Sender) follow(ctx context.Context, h Hook, drain bool) error {
	next, err := s.position(ctx, h)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		list, after, err := s.opts.Log.EventsFrom(ctx, h.Select, next)
		if err != nil {
			return err
		}
		for _, e := range list {
			if done, err := s.deliver(ctx, h, e, drain); err != nil || !done {
				return err
			}
			// An answer that came is noted even if ctx has ended, or the event would be sent again.
			if err := s.opts.Log.SetEventMark(context.WithoutCancel(ctx), h.name, e.Seq+1); err != nil {
				return err
			}
		}
		if after == next {
			if drain || !wait(ctx, s.opts.Poll) {
				return nil
			}
			continue
		}
		if len(list) == 0 || list[len(list)-1].Seq+1 != after {
			if err := s.opts.Log.SetEventMark(ctx, h.name, after); err != nil {
				return err
			}
		}
		next = after
	}
	return nil
}

// deliver sends one event until it is accepted, or refused for too long. done is false if ctx ended before, or if the hook
// failed and once is true.
func (s *Sender) deliver(ctx context.Context, h Hook, e catalog.Event, once bool) (done bool, err error) {
	body, err := json.Marshal(events.Describe(s.opts.Mint, e))
	if err != nil {
		return false, fmt.Errorf("hooks: event %d: %w", e.Seq, err)
	}
	body = append(body, '\n')
	pause, began := s.opts.MinPause, time.Now()
	for {
		retryAfter, failed := s.post(ctx, h, e.Seq, body)
		switch {
		case failed == nil:
			return true, nil
		case ctx.Err() != nil || once:
			return false, nil
		case time.Since(began) > s.opts.GiveUp:
			s.opts.Logger.Error("hook refuses an event, which is skipped", "host", h.host(), "event", e.Seq, "error", failed)
			return true, nil
		}
		s.opts.Logger.Warn("hook failed, and is tried again", "host", h.host(), "event", e.Seq, "pause", max(pause, retryAfter), "error", failed)
		if !wait(ctx, max(pause, min(retryAfter, s.opts.MaxPause))) {
			return false, nil
		}
		pause = min(2*pause, s.opts.MaxPause)
	}
}

// post sends one request. retryAfter is how long the hook asks to wait. When ctx ends, the answer has lastAnswer left to come.
func (s *Sender) post(ctx context.Context, h Hook, seq uint64, body []byte) (retryAfter time.Duration, err error) {
	ctx, cancel := outlasting(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("malformed address") // the error has the address
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.opts.UserAgent)
	sign(r.Header, s.opts.Secret, s.messageID(h, seq), s.opts.Now(), body)
	answer, err := s.client.Do(r)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err // without the address, which may have a secret
		}
		return 0, err
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, maxAnswer) // what it says does not matter
	if answer.StatusCode/100 == 2 {
		return 0, nil
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		retryAfter = time.Duration(min(seconds, 24*60*60)) * time.Second
	}
	return retryAfter, fmt.Errorf("it answered %s", answer.Status)
}

// outlasting returns a context that ends lastAnswer after ctx.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := make(chan *time.Timer, 1)
	stop := context.AfterFunc(ctx, func() { timer <- time.AfterFunc(lastAnswer, cancel) })
	return longer, func() {
		if !stop() {
			(<-timer).Stop()
		}
		cancel()
	}
}

// messageID returns the id of a message, which is the same each time it is sent.
func (s *Sender) messageID(h Hook, seq uint64) string {
	return "msg_" + strings.TrimPrefix(h.name, "hook ") + "_" + strconv.FormatUint(seq, 10)
}

// sign sets the headers of Standard Webhooks. Without a secret there is no signature.
func sign(h http.Header, secret []byte, id string, now time.Time, body []byte) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	if secret == nil {
		return
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// wait waits, and reports whether ctx is still there.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
