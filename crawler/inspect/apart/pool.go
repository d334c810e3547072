package apart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// DefaultMemory is the limit of a child, if nothing else is said.
const DefaultMemory = 512 << 20

// Options of a Pool.
type Options struct {
	Name    string   // of the program, as the system lists it; "odarchive" by default
	Program string   // the file to start; the running program by default
	Env     []string // variables of children, for tests
	Memory  int64    // limit of a child in bytes; DefaultMemory by default
	Lanes   []int    // how many children each lane may have at a time

	Unlimited bool              // without limits of the kernel
	Said      func(what string) // is called once, with a sentence about what limits the system grants; may be nil
}

// A child ends after so many documents, or after so long without one.
const (
	maxJobs  = 1000
	maxIdle  = time.Minute
	maxTries = 3 // of a job whose children others ended
)

// Pool is a set of children. Its methods may be called concurrently.
type Pool struct {
	o       Options
	program *os.File
	noted   os.FileInfo
	lanes   []chan struct{}
	starter chan func() // to the goroutine that starts all children
	done    chan struct{}

	mu     sync.Mutex // guards what follows
	idle   []*process // the one that was used last at the end
	closed bool
	said   bool

	started, died, failures atomic.Int64 // failures to start, in a row
}

// Stats says what a pool has done.
type Stats struct {
	Started, Died int64 // children; those that ended in a job
	Failures      int64 // children in a row that could not be started
}

// New returns a pool without children; they are started when they are needed. The caller closes it.
func New(o Options) (*Pool, error) {
	if o.Name == "" {
		o.Name = "odarchive"
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Program == "" {
		var err error
		if o.Program, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find the program, to examine files with it: %w", err)
		}
	}
	program, err := os.Open(o.Program)
	if err != nil {
		return nil, fmt.Errorf("open the program, to examine files with it: %w", err)
	}
	noted, err := program.Stat()
	if err != nil {
		return nil, errors.Join(err, program.Close())
	}
	p := &Pool{o: o, program: program, noted: noted, starter: make(chan func()), done: make(chan struct{})}
	for _, n := range o.Lanes {
		p.lanes = append(p.lanes, make(chan struct{}, max(1, n)))
	}
	// A child is killed when the thread that started it ends (PR_SET_PDEATHSIG), not when the process does. So all are
	// started from one thread, which lives as long as the pool.
	go p.startAll()
	return p, nil
}

// startAll starts children until Close.
func (p *Pool) startAll() {
	runtime.LockOSThread()
	defer p.program.Close()
	for {
		select {
		case f := <-p.starter:
			f()
		case <-p.done:
			return
		}
	}
}

// Close ends all children. On Linux those at work are killed with the thread that started them; elsewhere they end
// after their job.
func (p *Pool) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, c := range idle {
		c.expires.Stop()
		c.end()
	}
	close(p.done)
	return nil
}

// Stats returns what the pool has done.
func (p *Pool) Stats() Stats {
	return Stats{Started: p.started.Load(), Died: p.died.Load(), Failures: p.failures.Load()}
}

// Memory returns the limit of a child in bytes.
func (p *Pool) Memory() int64 { return p.o.Memory }

// take returns an idle child, or a new one.
func (p *Pool) take() (*process, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, fmt.Errorf("%w: %w", ErrOurs, os.ErrClosed)
	}
	if last := len(p.idle) - 1; last >= 0 {
		c := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		c.expires.Stop()
		return c, nil
	}
	p.mu.Unlock()
	c, err := p.start()
	if err != nil {
		p.failures.Add(1)
		return nil, fmt.Errorf("%w: no process can be started for it: %w", ErrOurs, err)
	}
	p.failures.Store(0)
	p.started.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.said && p.o.Said != nil {
		p.said = true
		p.o.Said(c.said)
	}
	return c, nil
}

func (p *Pool) start() (c *process, err error) {
	if executable(p.program) == p.program.Name() { // else what was opened is started, whatever the name stands for now
		if now, err := os.Stat(p.program.Name()); err != nil || !os.SameFile(now, p.noted) || !now.ModTime().Equal(p.noted.ModTime()) {
			return nil, errors.Join(errors.New("the program's file was replaced: start the program again"), err)
		}
	}
	done := make(chan struct{})
	select {
	case p.starter <- func() { c, err = start(p.o, p.program); close(done) }:
	case <-p.done:
		return nil, os.ErrClosed
	}
	<-done
	if err == nil {
		err = c.greet()
	}
	return c, err
}

// put takes a child back.
func (p *Pool) put(c *process) {
	if c.jobs >= maxJobs {
		c.end()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		go c.end()
		return
	}
	p.idle = append(p.idle, c)
	c.expires = time.AfterFunc(maxIdle, func() { p.expire(c) })
}

// expire ends a child that nobody has needed for long.
func (p *Pool) expire(c *process) {
	p.mu.Lock()
	i := slices.Index(p.idle, c)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		c.end()
	}
}

// Document is a document, or several to compare, for which a child is set aside until Close. One goroutine uses it at a
// time.
type Document struct {
	p      *Pool
	lane   chan struct{}
	bodies []Body
	c      *process // nil: none yet, or it ended
	told   int      // how many of the bodies the child has
	closed bool
}

// Open waits for a place in a lane until ctx ends, or for as long as patience; 0 for ever.
func (p *Pool) Open(ctx context.Context, lane int, patience time.Duration, bodies ...Body) (*Document, error) {
	d := &Document{p: p, lane: p.lanes[lane], bodies: bodies}
	select {
	case d.lane <- struct{}{}:
		return d, nil
	default:
	}
	var late <-chan time.Time
	if patience > 0 {
		timer := time.NewTimer(patience)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case d.lane <- struct{}{}:
		return d, nil
	case <-late:
		return nil, ErrBusy
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Add adds a body: a version to compare with.
func (d *Document) Add(b Body) { d.bodies = append(d.bodies, b) }

// Close gives the child back. A second call does nothing.
func (d *Document) Close() {
	if d.closed {
		return
	}
	d.closed = true
	if d.c != nil {
		d.p.put(d.c)
	}
	d.c = nil
	<-d.lane
}
