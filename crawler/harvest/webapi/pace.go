package webapi

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/harvest"

	"github.com/dustin/go-humanize/english"
)

// ErrDocument is in the chain of errors that stay until the document, or the environment, changes.
var ErrDocument = errors.New("the document cannot be used")

// BudgetError is the error of a request that the budget of a round does not allow. It wraps ErrBudget.
type BudgetError struct{ Requests int }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("%v: %s", ErrBudget, english.Plural(e.Requests, "request", ""))
}

func (e *BudgetError) Unwrap() []error { return []error{ErrBudget, harvest.ErrFinal} }

// ErrBudget is in the chain of the error of a request that the budget of a round does not allow.
var ErrBudget = errors.New("the budget of the round is used up")

// Pace is what must outlast the process so that the rate and the budget hold across restarts.
type Pace struct {
	Next time.Time `json:"next,omitzero"` // when the next request may be sent
	Used int       `json:"used"`          // requests of the round
}

// Pacer spaces requests evenly and counts them. The zero Pacer sends any number at once.
type Pacer struct {
	Every time.Duration // between the beginnings of two requests
	Max   int           // requests of a round; 0 means no limit
	Now   func() time.Time
	Load  func(context.Context) (Pace, error) // nil: the pace begins anew with the process
	Save  func(context.Context, Pace) error   // called before each request; may be nil

	turn sync.Mutex // held while one request waits
	mu   sync.Mutex // guards what follows; not held while anything waits
	pace Pace
	read bool // pace was loaded
}

// Pacer returns a pacer with the rate and the budget of the document.
func (a *API) Pacer() *Pacer {
	every, _ := parseRate(a.document.Rate) // Compile has checked it
	return &Pacer{Every: every, Max: a.document.MaxRequests}
}

// Used returns the number of requests of the round, as far as it is known.
func (p *Pacer) Used() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pace.Used
}

// Prepare loads the pace, so that Used knows it before the first request.
func (p *Pacer) Prepare(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read || p.Load == nil {
		return nil
	}
	pace, err := p.Load(ctx)
	if err == nil {
		p.pace, p.read = pace, true
	}
	return err
}

// Take waits until a request may be sent and counts it. The count is saved before the request is sent, so that a crash
// makes no request that is not counted. The error wraps ErrBudget if the budget is used up.
func (p *Pacer) Take(ctx context.Context) error {
	p.turn.Lock()
	defer p.turn.Unlock()
	if err := p.Prepare(ctx); err != nil {
		return err
	}
	now := time.Now
	if p.Now != nil {
		now = p.Now
	}
	p.mu.Lock()
	pace := p.pace
	p.mu.Unlock()
	if p.Max > 0 && pace.Used >= p.Max {
		return &BudgetError{p.Max}
	}
	at := now()
	if wait := pace.Next.Sub(at); wait > 0 {
		wait = min(wait, max(p.Every, 0)) // a clock that was set back
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		at = at.Add(wait)
		if late := now(); late.After(at) { // the timer of a busy machine
			at = late
		}
	}
	pace.Used++
	pace.Next = at.Add(p.Every)
	p.mu.Lock()
	p.pace = pace
	p.mu.Unlock()
	if p.Save != nil {
		return p.Save(ctx, pace)
	}
	return nil
}

// parseRate parses a rate such as "600/h" and returns the time between two requests, 0 for "".
func parseRate(rate string) (time.Duration, error) {
	if rate == "" {
		return 0, nil
	}
	count, unit, _ := strings.Cut(rate, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(count), 64)
	per := map[string]time.Duration{"s": time.Second, "second": time.Second, "m": time.Minute, "minute": time.Minute,
		"h": time.Hour, "hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour}[strings.TrimSpace(unit)]
	if err != nil || per == 0 || !(n >= 0.01 && n <= 1e6) {
		return 0, errors.New(`expected a number of requests in a time, such as "600/h", "30/m" or "2/s"`)
	}
	return time.Duration(float64(per) / n), nil
}
