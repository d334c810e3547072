// Package frontier is the durable list of all registered URLs and of when each is due.
//
// Add registers a URL under its SURT key and queues it in its host group. A worker leases a whole group (one connection
// per host): Lease returns the group's most urgent due URLs as Jobs. Done, called inside the transaction that stores
// what the visit found, records the visit and queues the URL for its next one. The last Done ends the lease; Release
// ends it early.
//
// Promises:
//   - A visit's result and the URL's next due time are one transaction. After a crash, every URL is either still due,
//     or visited and queued again; never both, never neither.
//   - A group has one lease at a time. Leases live in memory and have an epoch that no earlier process used.
//     Lease.Context ends before the lease does, and a result under an ended lease is refused with ErrLeaseLost. URLs
//     that a killed process had leased are due again when the directory is opened.
//   - A damaged record stops nothing: it is restored, and what is lost is logged (mend.go). Check reads all records and
//     compares them with one another.
//   - Adding, leasing and finishing cost the same for ten thousand URLs and for ten million. Memory is bounded by the
//     number of leases and the two thousand groups that are next. FORMAT.md explains how.
//
// The package does not fetch, wait for hosts, or decide when a URL is due next: the caller of Done does.
package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Errors that callers act on.
var (
	ErrUnknown   = errors.New("the URL is not known") // not registered, or its record is damaged
	ErrLeaseLost = errors.New("the lease has ended")
	ErrPaused    = errors.New("the crawl stands still")
)

// Options of a frontier. The zero value uses the defaults.
type Options struct {
	Now       func() time.Time // the archive's clock; default time.Now
	LeaseTime time.Duration    // duration of a lease by the machine's clock; default 10 minutes
	LeaseJobs int              // maximum number of jobs of a lease; default 16
	// Jobs, if not nil, returns the maximum number of jobs of a lease of a group, 0 for LeaseJobs.
	Jobs    func(group string) int
	MaxWait time.Duration // no visit is planned later than this from now; default none
	// Recall, if not nil, returns what is known elsewhere about the URL with a key, to restore a damaged record. ok is
	// false if nothing is. It may be called inside a transaction.
	Recall func(key string) (r Recalled, ok bool, err error)
	// Everything, if not nil, calls visit with every URL that the frontier must have, for Check.
	Everything func(ctx context.Context, visit func(url string) error) error
	Log        *slog.Logger // nil discards logs
	// Hold, if not nil, is called before every lease. While it returns a reason, no lease is granted.
	Hold func() (why string)
	// Refuses, if not nil, returns why a URL must not be visited: it is registered, and never due. "" if it may be
	// visited. With count, the URL is refused now; without, the answer was known. It may be called inside a
	// transaction.
	Refuses func(u *URL, count bool) (why string)
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.LeaseTime <= 0 {
		o.LeaseTime = 10 * time.Minute
	}
	if o.LeaseJobs <= 0 {
		o.LeaseJobs = 16
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// historySize is how many visits a record remembers.
const historySize = 48

// Frontier is the frontier of one data directory. Its methods may be called concurrently.
type Frontier struct {
	db   *kv.DB
	opts Options

	leasing sync.Mutex // held while searching for a lease; acquired before mu

	mu      sync.Mutex // guards the fields below; never held during a call of the database
	leases  map[string]*Lease
	epoch   uint64
	window  window
	writing map[string]int // number of uncommitted transactions that write a group
	wake    chan struct{}  // closed and replaced when something may have become due
	paused  string         // the reason of the pause; "" if not paused
}

// New opens the frontier of a database. It fails on other formats than its own.
func New(db *kv.DB, opts Options) (*Frontier, error) {
	f := &Frontier{db: db, opts: opts.withDefaults(), leases: map[string]*Lease{}, wake: make(chan struct{}), window: newWindow(),
		writing: map[string]int{}}
	if db.ReadOnly() {
		return f, f.openReadOnly()
	}
	err := db.Update(context.Background(), func(txn *kv.Txn) error {
		v, err := checkFormat(txn)
		if err == nil && v == 0 {
			err = setCounter(txn, keyFormat, formatVersion)
		}
		if err != nil {
			return err
		}
		why, _, err := txn.Get(kv.SpaceHosts, []byte(keyPaused))
		f.paused = string(why)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("frontier: open: %w", err)
	}
	return f, nil
}

// beginGeneration makes the epochs of this process's leases differ from those of all earlier ones. It is done before
// the first lease and not at the opening: whoever may not write here after all has then written nothing. The caller
// holds leasing.
func (f *Frontier) beginGeneration(ctx context.Context) error {
	f.mu.Lock()
	begun := f.epoch > 0
	f.mu.Unlock()
	if begun {
		return nil
	}
	var generation uint64
	err := f.db.Update(ctx, func(txn *kv.Txn) (err error) {
		if generation, err = counter(txn, keyGeneration); err != nil {
			return err
		}
		generation++
		return setCounter(txn, keyGeneration, generation)
	})
	if err != nil {
		return fmt.Errorf("frontier: begin: %w", err)
	}
	f.mu.Lock()
	f.epoch = generation << 32
	f.mu.Unlock()
	return nil
}

// openReadOnly opens the frontier without writing. No leases can be granted.
func (f *Frontier) openReadOnly() error {
	err := f.db.View(func(txn *kv.Txn) error {
		if _, err := checkFormat(txn); err != nil {
			return err
		}
		why, _, err := txn.Get(kv.SpaceHosts, []byte(keyPaused))
		f.paused = string(why)
		return err
	})
	if err != nil {
		return fmt.Errorf("frontier: open: %w", err)
	}
	return nil
}

// formatVersion changes when another program would misread what this one writes.
const formatVersion = 1

// checkFormat returns the stored format, 0 for none, and an error if it is another one than this program's.
func checkFormat(txn *kv.Txn) (v uint64, err error) {
	v, err = counter(txn, keyFormat)
	if err == nil && v != 0 && v != formatVersion {
		err = fields.OtherFormat("the frontier", v, formatVersion)
	}
	return v, err
}

func counter(txn *kv.Txn, key string) (uint64, error) {
	v, ok, err := txn.Get(kv.SpaceHosts, []byte(key))
	if err != nil || !ok || len(v) != 8 {
		return 0, err
	}
	return binary.BigEndian.Uint64(v), nil
}

func setCounter(txn *kv.Txn, key string, v uint64) error {
	return txn.Set(kv.SpaceHosts, []byte(key), binary.BigEndian.AppendUint64(nil, v))
}

// signal wakes those who wait for a lease, because something may be due earlier than before.
func (f *Frontier) signal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.wake)
	f.wake = make(chan struct{})
}

// Changed returns a channel that is closed when something may have become due: a lease ended, or URLs were added.
func (f *Frontier) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wake
}

// Pause stops granting leases until Resume, across restarts. Leases under way continue.
func (f *Frontier) Pause(ctx context.Context, why string) error {
	if why == "" {
		why = "paused"
	}
	return f.setPaused(ctx, why)
}

// Resume ends a pause.
func (f *Frontier) Resume(ctx context.Context) error { return f.setPaused(ctx, "") }

func (f *Frontier) setPaused(ctx context.Context, why string) error {
	e := &entryOfOrder{Note: noteOf(Order{Kind: orderPauseCrawl, Why: why}, f.opts.Now())}
	if why == "" {
		e.Order = orderResumeCrawl
	}
	e.Done = true
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
		if err := e.write(txn, 0); err != nil {
			return err
		}
		if why == "" {
			return txn.Delete(kv.SpaceHosts, []byte(keyPaused))
		}
		return txn.Set(kv.SpaceHosts, []byte(keyPaused), []byte(why))
	})
	if err != nil {
		return fmt.Errorf("frontier: pause: %w", err)
	}
	f.mu.Lock()
	f.paused = why
	f.mu.Unlock()
	f.signal()
	return nil
}

// Held returns why no leases are granted, the reason of Pause or Options.Hold, or "" if they are.
func (f *Frontier) Held() string {
	f.mu.Lock()
	why := f.paused
	f.mu.Unlock()
	if why == "" && f.opts.Hold != nil {
		why = f.opts.Hold()
	}
	return why
}
