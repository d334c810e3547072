// Package replica keeps a replica of another archive: a complete copy of its database and packs, which follows the
// writer's log over HTTP and is served meanwhile.
//
// A Follower owns the data directory. Run restores the writer's state into an empty directory and then applies its log
// for ever: it copies the bytes of packs, appends the write sets to its own log, and opens a new state for readers.
// Readers see pinned states (kv.DB.Pin): each request is answered from one state of the writer, and states only go
// forward. A state is a whole node over the pinned database, opened for reading only; so nothing that the layers above
// the database keep in memory can differ from it.
//
// Whatever ends in between, the directory is a consistent older state, and the next Run goes on. If the writer's log
// does not reach back to that state, or has another history, a new state is restored beside the old one, which is
// served until then. The package writes nothing of its own to the archive, and never fetches from anybody but the
// writer.
package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
)

// Options of New.
type Options struct {
	Dir    string        // the replica's own directory
	Bytes  string        // URL of the bucket with closed packs; "" for the one that the directory remembers
	Here   bool          // there is no bucket, whatever the directory remembers
	Cache  int64         // bytes of closed packs that are kept here, beside a bucket; 0 means no limit
	Writer string        // address of the writer
	Token  string        // with the right replicate, for the writer
	MaxLag time.Duration // beyond it the replica is not ready; 0 means no limit
	FS     disk.FS       // of packs, log, state files and small files; nil means disk.OS
	// MinFree is kv.Options.MinFree. Packs are copied only while twice as much is free.
	MinFree   int64
	FullRetry time.Duration // pause before the next attempt on a full disk; 0 = 10 s
	Log       *slog.Logger
	// Open makes the node of a state and its handler. base is the writer's, "" if it is not known; before is the node
	// of the state before, nil for the first one.
	Open func(ctx context.Context, base string, state *kv.DB, before Node) (Node, http.Handler, error)
}

// Node is what answers for one state.
type Node interface{ Close() error }

// Pace of following.
const (
	pollWait    = time.Second            // how long the writer waits for records; also the precision of the lag at rest
	pollRest    = 10 * time.Millisecond  // between two requests, so that commits are grouped
	openRest    = 100 * time.Millisecond // at least between two states
	openShare   = 4                      // and this many times what opening the last one took
	maxOpenRest = time.Second            // but not more: the process may have been stopped meanwhile
	firstRetry  = 200 * time.Millisecond
	maxRetry    = time.Second
	goneAfter   = 2 * time.Minute // how long files that the writer has removed stay for older states that are in use
	purgeReopen = time.Second     // while old tables wait for their last reader
)

// Follower is a replica. Run follows, ServeHTTP serves.
type Follower struct {
	opts   Options
	log    *slog.Logger
	fs     disk.FS
	dir    string
	client *client
	mirror *mirror
	served served
	status status

	bytes   string // URL of the bucket that has closed packs; "" for none
	db      *kv.DB // nil while there is none
	purging chan error

	opened   time.Time     // when the newest state was opened
	openTook time.Duration // what that took
}

// New returns a follower of the archive at Options.Writer. The directory must be empty or that of a replica of it;
// ErrOther says that it is not.
func New(o Options) (*Follower, error) {
	o.FS = cmp.Or[disk.FS](o.FS, disk.OS{})
	o.FullRetry = cmp.Or(o.FullRetry, 10*time.Second)
	f := &Follower{opts: o, log: o.Log, fs: o.FS, dir: o.Dir}
	marked, err := readMark(f.fs, f.dir)
	if err != nil {
		return nil, err
	}
	if marked.ID == "" {
		if err := f.checkEmpty(); err != nil {
			return nil, err
		}
		marked = newMark(o.Writer)
	}
	f.bytes = f.bytesURL(marked)
	f.client = newClient(o.Writer, o.Token, marked.ID)
	f.mirror = &mirror{dir: filepath.Join(f.dir, "packs"), fs: f.fs, client: f.client, grown: map[string]openPack{}}
	f.mirror.room = func(bytes int64) error { return kv.RoomIn(f.dir, o.MinFree, bytes) }
	f.served.changed = make(chan struct{})
	return f, nil
}

// Run follows until ctx ends, or until it cannot go on without a person: ErrOther. It opens what the directory holds
// first, so that it is served while the writer is away.
func (f *Follower) Run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, f.close()) }()
	if err := f.finishSwap(); err != nil {
		return fmt.Errorf("replica %s: %w", f.dir, err)
	}
	if err := f.mirror.removeTemps(); err != nil {
		return fmt.Errorf("replica %s: %w", f.dir, err)
	}
	retry := firstRetry
	var said repeated
	for ctx.Err() == nil {
		began := time.Now()
		err := f.follow(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil { // restored
			continue
		}
		if errors.Is(err, ErrOther) {
			return err
		}
		f.status.failed(err)
		if time.Since(began) > 2*maxRetry {
			retry = firstRetry
		}
		rest := retry
		switch {
		case errors.Is(err, errTrimmed), errors.Is(err, errHistory), errors.Is(err, kv.ErrOtherHistory):
			f.log.Warn("the replica begins again with the writer's state; it serves its own until then", "because", err)
			if err = f.restore(ctx); err == nil {
				retry = firstRetry
				continue
			}
			f.log.Error("cannot restore the writer's state", "error", err, "retry", rest)
		case errors.Is(err, kv.ErrWritesStopped): // also if the reason is a full disk
			if disk.IsFull(err) {
				rest = f.opts.FullRetry
			}
			f.log.Error("a write failed: the replica's database is opened again when the disk can be written", "error", err)
			if f.canWrite() != nil { // the state that is open goes on answering
				break
			}
			if err := f.shut(); err != nil {
				f.log.Error("cannot close the replica's database", "error", err)
			}
		case errors.Is(err, kv.ErrDiskFull), disk.IsFull(err):
			rest = f.opts.FullRetry
			f.log.Error("the disk of the replica is full: it stays behind", "error", err)
		default:
			said.warn(f.log, "cannot follow the writer", err, rest)
		}
		retry = min(2*retry, maxRetry)
		select {
		case <-ctx.Done():
		case <-time.After(rest):
		}
	}
	return nil
}

// repeated is an error that comes again and again.
type repeated struct {
	text  string
	since time.Time // when it was logged last
	times int       // how often it has come since
}

// sayAgain is the pause between two lines about the same error.
const sayAgain = time.Minute

// warn logs an error, unless the same one was logged less than sayAgain ago.
func (r *repeated) warn(log *slog.Logger, msg string, err error, retry time.Duration) {
	r.times++
	if err.Error() == r.text && time.Since(r.since) < sayAgain {
		return
	}
	log.Warn(msg, "error", err, "times", r.times, "retry", retry)
	r.text, r.since, r.times = err.Error(), time.Now(), 0
}

// canWrite tries to write a file.
func (f *Follower) canWrite() error {
	path := filepath.Join(f.dir, "tmp", "probe")
	return errors.Join(disk.MakeDir(f.fs, filepath.Dir(path), 0o755), disk.WriteFile(f.fs, path, []byte("probe"), 0o644), f.fs.Remove(path))
}

// follow applies the writer's log until an error or until ctx ends.
func (f *Follower) follow(ctx context.Context) error {
	if err := f.openBucket(ctx); err != nil {
		return err
	}
	if f.db == nil {
		if err := f.finishSwap(); err != nil { // which may have failed on the way
			return err
		}
		if err := f.openDatabase(ctx); err != nil {
			return err
		}
	}
	id, err := f.client.identity(ctx)
	if err != nil {
		return err
	}
	if f.db == nil {
		return f.restore(ctx)
	}
	if err := f.sameArchive(id); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := f.step(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pollRest):
		}
	}
	return context.Cause(ctx)
}

// step asks once for records, applies them, and opens a new state when that is due.
func (f *Follower) step(ctx context.Context) error {
	f.purge(ctx)
	due := f.openDue()
	wait := pollWait
	if f.behind() || f.purging != nil {
		wait = min(wait, max(time.Millisecond, time.Until(due)))
	}
	records, end, err := f.client.log(ctx, f.db.Position(), wait)
	if err != nil {
		return err
	}
	at := time.Now()
	f.status.heard(end.Number, records)
	if err := f.mirror.catchUp(ctx, end); err != nil {
		return err
	}
	if len(records) > 0 {
		if err := f.db.Apply(ctx, records); err != nil {
			return err
		}
	}
	if end.More || f.mirror.lacks { // a state in between may name files that are gone by now
		f.status.caughtUp(f.served.number(), time.Time{})
		return nil
	}
	number := f.db.Position().Number
	if f.behind() && !time.Now().Before(due) || f.served.newest() == nil || f.purging != nil {
		if number >= end.Number {
			f.status.since(at) // before the first answer, which is to say it
		}
		if err := f.openState(ctx); err != nil {
			return err
		}
	}
	if f.served.number() >= number && number >= end.Number {
		f.status.caughtUp(f.served.number(), at)
	}
	return f.removeGone()
}

// behind reports whether what is applied is not served yet.
func (f *Follower) behind() bool { return f.db.Position().Number > f.served.number() }

// openDue returns when the next state may be opened.
func (f *Follower) openDue() time.Time {
	return f.opened.Add(min(max(openRest, openShare*f.openTook), maxOpenRest))
}

// openState opens the newest state for readers.
func (f *Follower) openState(ctx context.Context) error {
	began := time.Now()
	state, err := f.db.Pin()
	if err != nil {
		return err
	}
	var before Node
	if g := f.served.newest(); g != nil {
		before = g.node
	}
	marked, _ := readMark(f.fs, f.dir) // without it, the base is not known
	node, handler, err := f.opts.Open(ctx, marked.Base, state, before)
	if err != nil {
		return errors.Join(fmt.Errorf("open write set %d: %w", state.Number(), err), state.Close())
	}
	f.served.publish(&generation{node: node, handler: handler, number: state.Number(), users: map[*request]bool{},
		left: make(chan struct{})})
	f.opened, f.openTook = time.Now(), time.Since(began)
	f.status.opened(f.openTook)
	return nil
}

// purge rewrites the database without what the writer has purged. It runs beside the rest, since it waits for readers.
func (f *Follower) purge(ctx context.Context) {
	if f.purging != nil {
		select {
		case err := <-f.purging:
			f.purging = nil
			if err != nil && ctx.Err() == nil {
				f.log.Error("what the writer has purged is still on this disk; the next attempt follows", "error", err)
			}
		default:
		}
		return
	}
	if !f.db.PurgeDue() {
		return
	}
	done, db := make(chan error, 1), f.db
	f.purging = done
	go func() { done <- db.Purge(ctx) }() // waited for by shut
}

// removeGone removes the files that the writer has removed, when no older state is in use.
func (f *Follower) removeGone() error {
	if len(f.mirror.gone) == 0 || f.behind() {
		return nil
	}
	if f.served.older() > 0 && time.Since(f.opened) < goneAfter {
		return nil
	}
	return f.mirror.removeGone()
}
