// Package frontier is the durable list of every URL the archive knows, and what is due when.
//
// A URL enters with Add, under its SURT key, and joins the queue of its host group. A worker leases a whole group (one
// connection per host): Lease gives it the group's most urgent due URLs as Jobs. Done, called inside the transaction that
// stores what the visit brought, records the visit and puts the URL back into the queue at its next time; with the last
// job the lease ends. Release ends it early.
//
// Promises:
//   - A visit's result and the URL's next due time are one transaction. After a crash every URL is either still due, or
//     visited and queued anew; never both, never neither.
//   - One lease per group at a time. Leases live in memory and carry an epoch that no former process used; Lease.Context
//     ends before the lease does, and a result under an ended lease is refused with ErrLeaseLost. What a killed process had
//     leased is due again when the directory is opened.
//   - A record that cannot be read stops nothing: it is made again, and what is lost with it is logged (mend.go). Check reads
//     all records and compares them with one another.
//   - Adding, leasing and finishing cost the same whether ten thousand URLs are known or ten million, and memory
//     depends on the number of leases only, beside two thousand groups that are next. (FORMAT.md says how.)
//
// It does not fetch, wait for politeness or decide when a URL is due next: whoever calls Done says.
package frontier

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"odarchive/triplestore/kv"
)

// What a caller may want to decide on.
var (
	ErrUnknown   = errors.New("the URL is not known")
	ErrLeaseLost = errors.New("the lease has ended")
	ErrPaused    = errors.New("the crawl is paused")
)

// Options of a frontier. The zero value is a working one.
type Options struct {
	Now       func() time.Time // the archive's clock; time.Now
	LeaseTime time.Duration    // 10 minutes; real time, whatever the archive's clock says
	LeaseJobs int              // most jobs of one lease; 16
	// Recall says what somebody else knows of the URL with a key, for a record that cannot be read; ok is false where that is
	// nothing. It may be called inside a transaction. nil knows nothing.
	Recall func(key string) (r Recalled, ok bool, err error)
	// Everything calls visit with every URL that somebody else knows and the frontier must know, for Check; nil: none.
	Everything func(ctx context.Context, visit func(url string) error) error
	Log        *slog.Logger // nil discards
	// Hold is asked before every lease; while it gives a reason, none is granted. nil never holds.
	Hold func() (why string)
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

// Frontier of one data directory. Its methods may be called concurrently.
type Frontier struct {
	db   *kv.DB
	opts Options

	taking sync.Mutex // held while a lease is looked for; taken before mu

	mu      sync.Mutex // guards everything below; never held while the database is asked or waited for
	leases  map[string]*Lease
	epoch   uint64
	window  window
	writing map[string]int // groups, and how many transactions write them that are not committed yet
	wake    chan struct{}  // closed, and replaced, when something may have become due
	paused  string         // why; "" when not
}

// New opens the frontier of a database.
func New(db *kv.DB, opts Options) (*Frontier, error) {
	f := &Frontier{db: db, opts: opts.withDefaults(), leases: map[string]*Lease{}, wake: make(chan struct{}), window: newWindow(), writing: map[string]int{}}
	if db.ReadOnly() {
		return f, f.openReadOnly()
	}
	var older bool
	err := db.Update(context.Background(), func(txn *kv.Txn) (err error) {
		if older, err = checkFormat(txn); err != nil {
			return err
		}
		generation, err := counter(txn, keyGeneration)
		if err != nil {
			return err
		}
		f.epoch = (generation + 1) << 32
		why, _, err := txn.Get(kv.SpaceHosts, []byte(keyPaused))
		f.paused = string(why)
		if err != nil {
			return err
		}
		return setCounter(txn, keyGeneration, generation+1)
	})
	if err == nil && older {
		err = f.migrate(context.Background(), perTxn)
	}
	if err != nil {
		return nil, fmt.Errorf("frontier: open: %w", err)
	}
	return f, nil
}

// openReadOnly leaves the database as it is. Leases cannot be had.
func (f *Frontier) openReadOnly() error {
	err := f.db.View(func(txn *kv.Txn) error {
		v, err := counter(txn, keyFormat)
		if err == nil && v > formatVersion {
			err = fmt.Errorf("the frontier has format %d, this program knows %d", v, formatVersion)
		}
		if err != nil {
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

// formatVersion is raised when a newer program writes what an older one would misread.
const formatVersion = 3

// checkFormat says whether records of an older format may be left.
func checkFormat(txn *kv.Txn) (older bool, err error) {
	v, err := counter(txn, keyFormat)
	if err != nil {
		return false, err
	}
	switch {
	case v > formatVersion:
		return false, fmt.Errorf("the frontier has format %d, this program knows %d", v, formatVersion)
	case v == 1:
		if err := txn.Set(kv.SpaceHosts, []byte(keyMigrating), nil); err != nil {
			return false, err
		}
	}
	if v != formatVersion {
		if err := setCounter(txn, keyFormat, formatVersion); err != nil {
			return false, err
		}
	}
	_, older, err = txn.Get(kv.SpaceHosts, []byte(keyMigrating))
	return older, err
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

// signal wakes whoever waits for a lease: something may be due now, or earlier than it was.
func (f *Frontier) signal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.wake)
	f.wake = make(chan struct{})
}

// Changed is closed when something may have become due that was not: a lease has ended, URLs were added.
func (f *Frontier) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.wake
}

// Pause stops granting leases, also after a restart, until Resume. Leases under way go on.
func (f *Frontier) Pause(ctx context.Context, why string) error {
	if why == "" {
		why = "paused"
	}
	return f.setPaused(ctx, why)
}

// Resume ends a pause.
func (f *Frontier) Resume(ctx context.Context) error { return f.setPaused(ctx, "") }

func (f *Frontier) setPaused(ctx context.Context, why string) error {
	err := f.db.Update(ctx, func(txn *kv.Txn) error {
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

// Held says why no leases are granted: because of Pause or Options.Hold; "" when they are.
func (f *Frontier) Held() string {
	f.mu.Lock()
	why := f.paused
	f.mu.Unlock()
	if why == "" && f.opts.Hold != nil {
		why = f.opts.Hold()
	}
	return why
}
