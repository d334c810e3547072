// Package supervise runs background jobs independently of one another, so that the failure of one does not end another.
//
// A job is a function that works until its context ends. If it returns an error or panics, the failure is logged, with
// the stack of a panic, and the job is run again after a pause: 1 s at first, then doubled each time up to 10 min.
// After a run of 10 min, the pause is 1 s again. A job that returns nil is done. An error that Options.Final accepts
// stops the job for good. List returns the states of the jobs.
//
// The package does not limit what a job does. It recovers panics only in the job's own goroutine; in other goroutines
// that it starts, the job must use Contain.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// The pauses before a job is run again.
const (
	minPause = time.Second
	maxPause = 10 * time.Minute
)

// Options of New. The zero value uses the defaults.
type Options struct {
	Log   *slog.Logger     // nil discards logs
	Final func(error) bool // reports whether an error stops a job for good; nil for none
}

// Jobs is a set of jobs. Its methods may be called concurrently. A nil *Jobs runs jobs without listing them.
type Jobs struct {
	opts Options

	mu  sync.Mutex // guards all and its elements
	all []*Job
}

// The states of a job.
const (
	Running = "running"
	Waiting = "waiting" // failed, will be run again
	Stopped = "stopped" // failed for good
	Done    = "done"
)

// Job is the state of one job. Its JSON names are stable, since /crawl/status contains them.
type Job struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Since    time.Time `json:"since"`             // when State began
	Failures int       `json:"failures"`          // since the process began
	Error    string    `json:"error,omitempty"`   // of the last failure
	FailedAt time.Time `json:"failedAt,omitzero"` // time of the last failure
	Next     time.Time `json:"next,omitzero"`     // when a waiting job is run again
}

// New returns an empty set.
func New(opts Options) *Jobs {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Jobs{opts: opts}
}

// Run runs a job, and again after each failure, until it returns nil, fails for good, or ctx ends. It returns the error
// that stopped the job for good, or nil. At most one job of a name may run at a time.
func (s *Jobs) Run(ctx context.Context, name string, work func(context.Context) error) error {
	if s == nil {
		s = New(Options{})
	}
	j := s.add(name)
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		s.change(j, func(j *Job) { j.State, j.Since, j.Next = Running, began, time.Time{} })
		err := Contain(func() error { return work(ctx) })
		if err == nil || ctx.Err() != nil {
			break
		}
		if pause = min(2*pause, maxPause); pause == 0 || time.Since(began) >= maxPause {
			pause = minPause
		}
		if s.fail(j, err, pause) {
			return fmt.Errorf("%s: %w", name, err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
	s.change(j, func(j *Job) { j.State, j.Since, j.Next = Done, time.Now(), time.Time{} })
	return nil
}

// add adds a job to the list, and removes an earlier one of that name.
func (s *Jobs) add(name string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	j := &Job{Name: name}
	if i := slices.IndexFunc(s.all, func(o *Job) bool { return o.Name == name }); i >= 0 {
		s.all[i] = j
	} else {
		s.all = append(s.all, j)
	}
	return j
}

func (s *Jobs) change(j *Job, change func(*Job)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(j)
}

// fail records and logs a failure. It reports whether the job is stopped for good.
func (s *Jobs) fail(j *Job, err error, pause time.Duration) (final bool) {
	final = s.opts.Final != nil && s.opts.Final(err)
	now := time.Now()
	s.change(j, func(j *Job) {
		j.Failures++
		j.Error, j.FailedAt, j.Since = err.Error(), now, now
		if j.State, j.Next = Waiting, now.Add(pause); final {
			j.State, j.Next = Stopped, time.Time{}
		}
	})
	facts := []any{"job", j.Name, "error", err}
	var p *Panic
	if errors.As(err, &p) {
		facts = append(facts, "stack", p.Stack)
	}
	if final {
		s.opts.Log.Error("a job has stopped for good; other jobs continue", facts...)
	} else {
		s.opts.Log.Error("a job failed and will be run again; other jobs continue", append(facts, "after", pause)...)
	}
	return final
}

// List returns the jobs, sorted by name.
func (s *Jobs) List() []Job {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Job, len(s.all))
	for i, j := range s.all {
		list[i] = *j
	}
	slices.SortFunc(list, func(a, b Job) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Panic is the error that Contain returns for a panic.
type Panic struct {
	Value any
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("a fault of this program: panic: %.500v", p.Value) }

// Unwrap returns the value of the panic if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Contain calls work and returns its error, or a *Panic if it panics.
func Contain(work func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Panic{Value: v, Stack: string(debug.Stack())}
		}
	}()
	return work()
}
