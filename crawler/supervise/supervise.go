// Package supervise runs jobs apart from one another, so that what ends one of them ends nothing else.
//
// A job is a function that works until its context ends. If it returns an error or panics, it is logged once, with the
// stack of a panic, and run again after a pause: 1 s at first, then twice the one before, at most 10 min. A job that ran
// for 10 min begins again with 1 s. A job that returns nil is done. An error that Options.Final names stops the job for
// good, since another try could not help. List says how each job stands.
//
// It does not limit what a job does, and it recovers panics only in the goroutine of the job: what a job starts, the job
// must contain itself (Contain).
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
	firstPause   = time.Second
	longestPause = 10 * time.Minute
)

// Options of New. The zero value is a working one.
type Options struct {
	Log   *slog.Logger     // nil discards
	Final func(error) bool // whether an error stops a job for good; nil: none does
}

// Jobs is a set of jobs. Its methods may be called concurrently. A nil *Jobs runs jobs all the same, unlisted.
type Jobs struct {
	opts Options

	mu  sync.Mutex // guards all and what is in it
	all []*Job
}

// The states of a job.
const (
	Running = "running"
	Waiting = "waiting" // failed, and will be run again
	Stopped = "stopped" // failed for good
	Done    = "done"
)

// Job is how one job stands. Names are stable: it is part of what /crawl/status answers.
type Job struct {
	Name     string    `json:"name"`
	State    string    `json:"state"`
	Since    time.Time `json:"since"`             // when the state began
	Failures int       `json:"failures"`          // since the process began
	Error    string    `json:"error,omitempty"`   // the last one
	FailedAt time.Time `json:"failedAt,omitzero"` // when that was
	Next     time.Time `json:"next,omitzero"`     // when a waiting job is run again
}

// New makes an empty set.
func New(opts Options) *Jobs {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	return &Jobs{opts: opts}
}

// Run runs a job, again after each failure, until it returns nil, fails for good, or ctx ends. It returns the error that
// stopped the job for good, else nil. A name stands for one job at a time.
func (s *Jobs) Run(ctx context.Context, name string, work func(context.Context) error) error {
	if s == nil {
		s = New(Options{})
	}
	j := s.begin(name)
	for pause := time.Duration(0); ctx.Err() == nil; {
		began := time.Now()
		s.set(j, func(j *Job) { j.State, j.Since, j.Next = Running, began, time.Time{} })
		err := Contain(func() error { return work(ctx) })
		if err == nil || ctx.Err() != nil {
			break
		}
		if pause = min(2*pause, longestPause); pause == 0 || time.Since(began) >= longestPause {
			pause = firstPause
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
	s.set(j, func(j *Job) { j.State, j.Since, j.Next = Done, time.Now(), time.Time{} })
	return nil
}

// begin lists a job, in the place of an earlier one of that name.
func (s *Jobs) begin(name string) *Job {
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

func (s *Jobs) set(j *Job, change func(*Job)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(j)
}

// fail notes and logs a failure; final reports that the job is not run again.
func (s *Jobs) fail(j *Job, err error, pause time.Duration) (final bool) {
	final = s.opts.Final != nil && s.opts.Final(err)
	now := time.Now()
	s.set(j, func(j *Job) {
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
		s.opts.Log.Error("a job has stopped; everything else goes on", facts...)
	} else {
		s.opts.Log.Error("a job failed and is run again; everything else goes on", append(facts, "after", pause)...)
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

// Panic is the error that Contain makes of a panic.
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
