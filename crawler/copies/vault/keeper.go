package vault

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// Source is the archive that a Keeper copies.
type Source struct {
	DB      *kv.DB
	Content *content.Store
	Dir     string   // the data directory; only Files are read from it
	Files   []string // names of small files in Dir that are copied
	// Withdrawn reports whether bytes were withdrawn, and have left the archive, but not the vault. Forgotten records
	// that they have left the vault, too. Both may be nil.
	Withdrawn func() (bool, error)
	Forgotten func(context.Context) error
}

// Options configure a Keeper. The zero value is ready to use.
type Options struct {
	Keep   time.Duration // how far back every moment can be restored; 0 = 30 days
	Every  time.Duration // how often the log is copied; 0 = 1 s
	Lease  time.Duration // after which followers may take over if the writer is not heard of; 0 = 30 s
	Wait   bool          // commits wait until they are in the vault
	Holder Holder        // of the data directory
	URL    string        // where this process serves, for followers and for who is refused; may be ""
	Take   bool          // take the archive from another holder
	Log    *slog.Logger  // nil discards
	// Taken, if not nil, is called each time this process has become the writer: by Begin, or by Run if the backup
	// could be reached only then, and when the history begins anew. While it fails, it is called again, nothing is
	// copied, and no commit is acknowledged, with or without Wait.
	// vault is its id.
	Taken func(epoch uint64, vault string) error
	// Begun says that this directory has been the writer, so that what is wrong with the bucket now can be mended.
	Begun bool
	// Epoch is the last one in which this directory wrote the vault; 0 if that is not known.
	Epoch uint64
	// Check, if not nil, is called before the process becomes the writer. The error ends that; it may wrap
	// ErrOtherArchive.
	Check func(context.Context, bucket.Bucket) error
	// Written is when the database was last written before this process opened it, the best that is known of when its
	// write sets were committed that are not in the vault yet.
	Written time.Time
}

func (o Options) withDefaults() Options {
	o.Keep = cmp.Or(max(o.Keep, 0), 30*24*time.Hour)
	o.Every = cmp.Or(max(o.Every, 0), time.Second)
	o.Lease = cmp.Or(max(o.Lease, 0), 30*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	return o
}

// holdName is the name under which the database keeps its log for a Keeper.
const holdName = "backup"

// Keeper copies an archive to a vault while it is in use. Begin and Run it once.
type Keeper struct {
	b    *heard
	src  Source
	gate *Gate
	opts Options
	log  *slog.Logger

	writer *Writer // nil until Begin or Run has taken the archive
	taken  *Writer // has taken it, and something after that has failed; nil otherwise
	was    string  // nonce of the last writer of this process
	// waiting is called when Take waits; nil after Begin.
	waiting  func(time.Duration)
	patience time.Duration // how long Begin waits for an object store that is away
	packs    *packCopier
	files    fileCopier
	merger   *merger
	reader   *kv.Reader // of the log, behind what the vault has, or nil; only for cycle
	read     time.Time  // when reader was last used

	forgetting chan struct{} // of size one: what was withdrawn shall leave the vault

	mu       sync.Mutex // guards the fields below
	state    State
	last     snapshot  // newest state file in the vault
	sinceLog int64     // State.LogBytes when it was copied
	spoiled  []spoiled // objects before the present history, which needs none of them
}

// New returns a Keeper of an archive whose database was opened with the gate's Acknowledge.
func New(of bucket.Bucket, src Source, gate *Gate, o Options) *Keeper {
	o = o.withDefaults()
	b := &heard{Bucket: of}
	k := &Keeper{b: b, src: src, gate: gate, opts: o, log: o.Log, forgetting: make(chan struct{}, 1)}
	gate.setLog(o.Log)
	k.patience = beginFor
	k.packs = newPackCopier(b, src.Content, o.Log)
	k.files = fileCopier{b: b, src: src}
	k.merger = &merger{b: b}
	k.state.Every, k.state.Keep, k.state.Wait = o.Every, o.Keep, o.Wait
	if at := src.DB.Position(); at.Number > 0 && !o.Written.IsZero() {
		gate.note(at.Number, milliOf(o.Written))
	}
	return k
}

// beginFor is Keeper.patience of the program.
const beginFor = 10 * time.Second

// Run copies the archive until ctx ends. If another process becomes the writer, it stops all writes of the database and
// returns ErrFenced. When ctx ends, it copies what is left, for some seconds at most.
func (k *Keeper) Run(ctx context.Context) error {
	if k.State().Fenced {
		return ErrFenced
	}
	defer k.src.Content.SetKeep(nil)
	defer k.closeReader()
	for said := (complaint{}); ; {
		err := k.run(ctx)
		switch {
		case isPermanent(err):
			k.stopWrites(err)
			return err
		case ctx.Err() != nil:
			return k.finish(ctx)
		case errors.Is(err, errAgain):
			k.mu.Lock()
			k.writer = nil
			k.mu.Unlock()
		}
		k.failed(err)
		if said.isNews(err) {
			k.log.Warn("backup interrupted; trying again", "error", err)
		}
		if !rest(ctx, retryEvery) {
			return k.finish(ctx)
		}
	}
}

const retryEvery = 2 * time.Second

// complaint is what the log was told last of something that is tried again and again.
type complaint struct {
	text string
	at   time.Time
}

// isNews reports whether an error is another one than the last, or that was a while ago.
func (c *complaint) isNews(err error) bool {
	if err.Error() == c.text && time.Since(c.at) < time.Minute {
		return false
	}
	c.text, c.at = err.Error(), time.Now()
	return true
}

// errEnded is the error of commits that wait for a Keeper that has ended.
var errEnded = errors.New("the process stops, and the backup does not have the commit yet")

// Lets reports whether a write set may leave this process: with Options.Wait, not before the vault has it, so that no
// replica has what a promotion would drop.
func (k *Keeper) Lets(number uint64) bool { return !k.opts.Wait || k.gate.lets(number) }

// End makes commits fail that wait for the vault, if they must: nothing copies them any more, or nobody waits for that
// any longer.
func (k *Keeper) End() {
	if k.opts.Wait || k.gate.holds() {
		k.gate.fail(errEnded)
	}
}

// stopWrites ends all writes, and the waits of commits.
func (k *Keeper) stopWrites(err error) {
	k.gate.fail(err)
	k.src.DB.StopWrites(err)
	k.failed(err)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state.Fenced = true
}

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// errAgain says that what is in the vault is not what this process has put there: the archive must be taken again, and
// perhaps begins a new history there.
var errAgain = errors.New("the backup is looked at again")

// run takes the archive, if it is not taken yet, and copies until something fails that is not tried again here.
func (k *Keeper) run(ctx context.Context) error {
	if k.writer == nil {
		if err := k.take(ctx); err != nil {
			return err
		}
	}
	var group sync.WaitGroup
	defer group.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	group.Go(func() { stop(k.renew(ctx)) })
	if k.writer.IsNew() && !k.isWhole() {
		if err := k.base(ctx); err != nil {
			return firstCause(ctx, err)
		}
	}
	if k.opts.Wait {
		k.gate.setWaiting(true)
	}
	group.Go(func() { k.maintain(ctx, stop) })
	return firstCause(ctx, k.appendAll(ctx))
}

// firstCause prefers the reason for which ctx was ended.
func firstCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// isWhole reports whether the vault has a state file of the writer's history.
func (k *Keeper) isWhole() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last.epoch == k.writer.Epoch()
}

// renew renews the lease until ctx ends, and returns ErrFenced if another process has taken the archive, and errAgain
// if the vault is gone.
func (k *Keeper) renew(ctx context.Context) error {
	for pause := k.opts.Lease / 3; rest(ctx, pause); {
		pause = k.opts.Lease / 3
		switch err := k.writer.renew(ctx); {
		case errors.Is(err, ErrFenced), errors.Is(err, errAgain):
			return err
		case errors.Is(err, errContested):
			k.log.Warn("another process is about to become the writer", "error", err)
			pause = min(pause, time.Second)
		case err != nil && ctx.Err() == nil:
			k.log.Debug("lease not renewed", "error", err)
		}
	}
	return nil
}

// maxBaseWait is how many bytes of packs may be missing while commits wait for the first copy of a history: a minute or
// so.
const maxBaseWait = 1 << 30

// base makes the first copy of a history: all packs, and a state file. Commits do not wait for that, unless most of it
// is there from earlier histories.
func (k *Keeper) base(ctx context.Context) error {
	missing, err := k.packs.missing()
	if err != nil {
		return err
	}
	if missing > maxBaseWait {
		k.gate.setWaiting(false)
	}
	k.log.Info("the first whole copy of the archive begins")
	began := time.Now()
	for {
		err := k.tryBase(ctx)
		if err == nil {
			k.log.Info("the backup is whole", "took", time.Since(began).Round(time.Millisecond))
			return nil
		}
		if ctx.Err() != nil || isPermanent(err) {
			return err
		}
		k.failed(err)
		k.log.Warn("first copy interrupted; trying again", "error", err)
		if !rest(ctx, retryEvery) {
			return context.Cause(ctx)
		}
	}
}

func (k *Keeper) tryBase(ctx context.Context) error {
	if err := k.copyFiles(ctx); err != nil {
		return err
	}
	if err := k.packs.closeAll(ctx); err != nil {
		return err
	}
	return k.snapshot(ctx, true)
}

// finishFor bounds how long the end of a server waits for the last copies.
const finishFor = 10 * time.Second

// finish copies what is left when the server stops.
func (k *Keeper) finish(ctx context.Context) error {
	w := cmp.Or(k.writer, k.taken)
	if w == nil || w.Fenced() != nil {
		return context.Cause(ctx)
	}
	cause := context.Cause(ctx)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), finishFor)
	defer stop()
	defer func() {
		if err := w.release(ctx); err != nil {
			k.log.Debug("lease not given back", "error", err)
		}
	}()
	if k.writer == nil || k.writer.IsNew() && !k.isWhole() {
		return cause
	}
	if err := k.cycle(ctx); err != nil {
		k.log.Warn("the backup lacks the last commits until the next start", "error", err)
		return err
	}
	return nil
}
