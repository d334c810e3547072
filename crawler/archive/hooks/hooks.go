// Package hooks sends the changes in the archive to other programs: each event of the log of changes becomes one POST
// request to each hook that selects it, with the same JSON as in feeds.
//
// Each hook has a mark in the log: the number of the first event that the hook has not accepted. The mark is stored
// after each accepted event, so no event is lost when the process ends. An event whose acceptance was not stored is
// sent again with the same webhook-id. Events are not queued in memory, and a slow hook delays nobody else: it falls
// behind in the log, and failed requests are repeated after pauses that double. A new hook starts with the next event.
//
// Requests are signed as Standard Webhooks describes (https://www.standardwebhooks.com): the header webhook-signature
// is the HMAC-SHA256 of webhook-id, webhook-timestamp and the body. Redirects are not followed. The caller's
// http.Client must refuse private addresses.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// Log is the log of changes. *archive.Archive implements it.
type Log interface {
	// EventCount returns the number of events.
	EventCount() (uint64, error)
	// EventsFrom reads events, from the number from on, and returns the selected ones, oldest first. next is the number
	// to continue with; it equals from at the end of the log.
	EventsFrom(ctx context.Context, q catalog.EventQuery, from uint64) (list []catalog.Event, next uint64, err error)
	// EventMark returns the mark of a reader of the log. known is false if it has none.
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

	Poll     time.Duration // pause between two looks at the log; 0 means 1 s
	MinPause time.Duration // pause after the first failure; 0 means 1 s
	MaxPause time.Duration // longest pause after a failure; 0 means 1 h
	GiveUp   time.Duration // how long an event is tried before it is skipped; 0 means 72 h
}

func (o Options) withDefaults() Options {
	o.Poll = cmp.Or(max(o.Poll, 0), time.Second)
	o.MinPause = cmp.Or(max(o.MinPause, 0), time.Second)
	o.MaxPause = cmp.Or(max(o.MaxPause, 0), time.Hour)
	o.GiveUp = cmp.Or(max(o.GiveUp, 0), 72*time.Hour)
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

// New returns a Sender. Run sends the events.
func New(o Options) *Sender {
	s := &Sender{opts: o.withDefaults(), client: *o.Client}
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.client.Timeout = requestTimeout
	return s
}

// Begin sets the marks of new hooks to the next event. Run does the same, but a caller that causes events before or
// while it starts Run must call Begin first, or new hooks may miss them.
func (s *Sender) Begin(ctx context.Context) error {
	for _, h := range s.opts.Hooks {
		if _, err := s.position(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// Run sends events until ctx ends. If drain is true, it returns as soon as each hook has either received all events or
// failed once. An error is one of the log, not of a hook.
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

// position returns the mark of a hook, and sets it to the next event if the hook is new.
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

// follow sends events to one hook.
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
			// If ctx has ended, the mark is stored nevertheless; otherwise the event would be sent again.
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

// deliver sends one event until the hook accepts it or Options.GiveUp has passed. With once, it sends the event only
// once. done is false if the event must be sent again later: ctx ended, or the only try failed.
func (s *Sender) deliver(ctx context.Context, h Hook, e catalog.Event, once bool) (done bool, err error) {
	body, err := json.Marshal(events.Describe(s.opts.Mint, e))
	if err != nil {
		return false, fmt.Errorf("hooks: event %d: %w", e.Seq, err)
	}
	body = append(body, '\n')
	backoff, began := s.opts.MinPause, time.Now()
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
		pause := max(backoff, min(retryAfter, s.opts.MaxPause))
		s.opts.Logger.Warn("hook failed, and is tried again", "host", h.host(), "event", e.Seq, "pause", pause, "error", failed)
		if !wait(ctx, pause) {
			return false, nil
		}
		backoff = min(2*backoff, s.opts.MaxPause)
	}
}

// wait waits for d. It returns false if ctx ends first.
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
