// Package examine does everything that reads a stranger's bytes: it detects what they are, profiles and compares them,
// and reads their rows and members. A Pool does so in child processes (package apart), or in this process; what comes
// out is the same.
//
// A child's answers are read as a stranger's: with bounds, and nothing that they say can name another document. An
// error because of the bytes is one sentence. Errors of packages unpack, inspect and diff are in the chain as if they
// had been met here; a panic is a *supervise.Panic.
package examine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/queue/supervise"
)

// The lanes of a pool: a visitor never waits for the crawl, nor the crawl for a visitor, nor either for exports, whose
// clients may be slow.
const (
	Crawl = iota
	Visitors
	exports
)

type exporting struct{}

// Exporting returns a context in which Open takes the lane of exports in the place of the visitors': for what is sent
// to a client while it is read.
func Exporting(ctx context.Context) context.Context { return context.WithValue(ctx, exporting{}, true) }

// Body is a document's bytes.
type Body = apart.Body

// Pool examines documents. A nil *Pool does it in this process.
type Pool struct {
	children *apart.Pool // nil: in this process
	notes    *notes      // nil for none
}

// Options of New.
type Options struct {
	Children  int          // of the crawl at a time
	Memory    int64        // limit of a child in bytes
	InProcess bool         // without children
	Unlimited bool         // children without limits of the kernel
	Notes     string       // directory for notes of what is being examined, "" for none
	Said      func(string) // gets a sentence about the limits, once; may be nil
}

// New returns a pool. The caller closes it.
func New(o Options) (p *Pool, err error) {
	p = &Pool{}
	lanes := Lanes(o.Children)
	if o.Notes != "" {
		if p.notes, err = openNotes(o.Notes); err != nil {
			return nil, err
		}
	}
	if o.InProcess {
		return p, nil
	}
	p.children, err = apart.New(apart.Options{Memory: o.Memory, Unlimited: o.Unlimited, Lanes: lanes, Said: o.Said})
	return p, err
}

// Lanes returns how many children each lane has if the crawl has n.
func Lanes(n int) []int { return []int{max(1, n), max(2, n/2), max(1, n/4)} }

// Close ends the children.
func (p *Pool) Close() error {
	if p == nil {
		return nil
	}
	p.notes.close()
	if p.children == nil {
		return nil
	}
	return p.children.Close()
}

// Stats says what the children have done; all zero in this process.
func (p *Pool) Stats() apart.Stats {
	if p == nil || p.children == nil {
		return apart.Stats{}
	}
	return p.children.Stats()
}

// patience is how long a visitor waits for a child.
const patience = 10 * time.Second

// About says what is examined, for the note of it.
type About struct {
	SHA256 [32]byte // zero if it is not known: then there is no note
	URL    string
}

// ErrSetAside is in the chain of Open's error for a document during whose examination the program has ended twice.
var ErrSetAside = errors.New("was under examination when the program ended, twice; its bytes are kept and are not examined again")

// Document is a document that is being examined. One goroutine uses it at a time, and closes it.
type Document struct {
	child  *apart.Document // nil: in this process
	bodies []Body
	note   *note
	passed *profiled // by Detect
}

// Open sets a child aside for a document. The error is in apart.ErrBusy if a visitor has waited too long, and in
// ErrSetAside.
func (p *Pool) Open(ctx context.Context, lane int, about About, body Body) (*Document, error) {
	d := &Document{bodies: []Body{body}}
	if lane == Visitors && ctx.Value(exporting{}) != nil {
		lane = exports
	}
	if p == nil {
		return d, nil
	}
	if err := p.notes.refuses(about); err != nil {
		return nil, err
	}
	if p.children != nil {
		wait := time.Duration(0)
		if lane != Crawl {
			wait = patience
		}
		var err error
		if d.child, err = p.children.Open(ctx, lane, wait, body); err != nil {
			return nil, err
		}
	}
	d.note = p.notes.write(about)
	return d, nil
}

// Close gives the child back. It may be called twice, and on nil.
func (d *Document) Close() {
	if d == nil {
		return
	}
	if d.child != nil {
		d.child.Close()
	}
	d.note.remove()
	d.note = nil
}

// temp makes a temporary file in this process; nil leaves that to the package.
type temp func() (f *os.File, done func(), err error)

// do has a child do a job, and translates its errors.
func (d *Document) do(ctx context.Context, t apart.Task) ([]byte, error) {
	if left, ok := ctx.Deadline(); ok {
		t.Time = min(t.Time, max(time.Until(left), time.Second))
	}
	answer, err := d.child.Do(ctx, t)
	if err == nil {
		return answer, nil
	}
	if failure, ok := errors.AsType[*apart.Failure](err); ok {
		return nil, uncoded(failure)
	}
	return nil, err
}

// contained calls f, which reads a stranger's bytes in this process.
func contained[T any](f func() (T, error)) (result T, err error) {
	err = supervise.Contain(func() (err error) { result, err = f(); return err })
	return result, err
}

// nonsense is the error about a child's answer that cannot be read.
func nonsense(err error) error {
	return fmt.Errorf("the answer of the process that examined it: %w", err)
}
