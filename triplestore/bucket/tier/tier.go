// Package tier is a file system (disk.FS) for one folder whose finished files live in a bucket; the local disk is a
// cache of them. It is this project's own and makes no promise of stability to anyone else.
//
// A file becomes finished when it gets a name for which Options.Finished is true. It never changes after that; it may
// be replaced by another file that is renamed to its name, or removed. All other files of the folder are local.
//
// A finished file goes through these states: *waiting* (only local, and never dropped), *stored* and still local,
// *cold* (only in the bucket, except for ranges that were read lately). Files are uploaded in the background, retried
// for ever, under their own names. One is stored when the bucket has confirmed its SHA-256 and its size, and a durable
// record of that is in the journal; only then may the local copy go. Local copies and ranges take at most Options.Cache
// bytes; the least recently used go first.
//
// Removing a file is durable once Remove returns: the journal has it, and the object is deleted in the background, also
// by the next process. Flush waits for that.
//
// A bucket has one owner, which the object OWNER names: Open refuses a bucket that another folder uses.
//
// Reads of cold bytes fail with bucket.ErrUnavailable if the bucket does not answer in Options.Limit, and at once for a
// while after that. They never return bytes that the caller may not compare with checksums of its own: Distrust makes
// the next read go to the bucket. FORMAT.md describes the journal and the bucket.
package tier

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// Errors that callers decide on.
var (
	ErrOwned    = errors.New("the bucket belongs to another archive")
	ErrNoBucket = errors.New("the folder's files are in a bucket")
)

// Options configure Open. Bucket, Dir, Finished and Archive are required.
type Options struct {
	Bucket   bucket.Bucket
	Dir      string                   // the folder
	Finished func(name string) bool   // whether a file of the folder belongs into the bucket once it has this name
	Digest   func(name string) string // how the SHA-256 of a file begins, in hexadecimal, "" if its name does not say; may be nil
	Archive  string                   // identifies the archive that owns the bucket
	Guests   string                   // keys with this prefix are others', which use the bucket only while it has an owner; "" for none
	TakeOver bool                     // take the bucket from another folder of the same archive
	Follow   bool                     // read the bucket of another folder, which goes on changing it: no journal, and ReadOnly
	Beside   bool                     // with Follow: another process follows in the folder, so change nothing there either
	ReadOnly bool                     // change neither the folder nor the bucket
	Cache    int64                    // bytes of stored files that may be local; 0 = 10 GiB
	Limit    time.Duration            // of a read from the bucket; 0 = 20 s
	Pause    time.Duration            // how long reads fail at once after one has failed; 0 = 5 s
	Backoff  time.Duration            // between two attempts to upload or delete, doubled up to a minute; 0 = 1 s
	Age      time.Duration            // of objects that no journal knows, before they are deleted; 0 = a day
	FS       disk.FS                  // nil = disk.OS
	NoSync   bool                     // do not fsync
	// Wanted reports whether an object that no journal knows is one of the folder's files nevertheless: then it is
	// added. It may be nil.
	Wanted func(name string) (bool, error)
	Logger *slog.Logger
}

const (
	defaultCache   = 10 << 30
	defaultLimit   = 20 * time.Second
	defaultPause   = 5 * time.Second
	defaultBackoff = time.Second
	maxBackoff     = time.Minute
	defaultAge     = 24 * time.Hour
)

func (o Options) withDefaults() Options {
	if o.Cache <= 0 {
		o.Cache = defaultCache
	}
	o.ReadOnly = o.ReadOnly || o.Follow
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if o.Pause <= 0 {
		o.Pause = defaultPause
	}
	if o.Backoff <= 0 {
		o.Backoff = defaultBackoff
	}
	if o.Age <= 0 {
		o.Age = defaultAge
	}
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// FS is a folder whose finished files are in a bucket. All methods may be called concurrently.
type FS struct {
	o     Options
	local disk.FS
	log   *slog.Logger
	ctx   context.Context // of everything in the background, and of reads
	stop  context.CancelFunc
	done  sync.WaitGroup

	writing sync.Mutex // held while the journal is written; taken before mu
	journal *journal   // nil if read-only

	mu         sync.Mutex // guards the fields below, and those of objects
	cond       *sync.Cond // of mu: there may be work, or work is done
	objects    map[string]*object
	tick       uint64
	cached     int64     // bytes of stored files and of ranges that are local
	colds      string    // folder of ranges; "" until there is one
	away       time.Time // until then, reads fail at once
	why        error     // of away
	listed     time.Time // by a follower
	owner      ownership
	unkept     int // ranges that could not be kept since saidUnkept
	saidUnkept time.Time
	ended      bool
	detached   bool // nothing is uploaded, deleted or dropped any more
	stats      Stats
}

// Stats are figures since Open, and the present state.
type Stats struct {
	Files        int // finished files
	Waiting      int // files that are not in the bucket yet
	WaitingBytes int64
	Deleting     int   // objects that are to be deleted
	Cached       int64 // bytes of stored files that are local
	Cache        int64 // the bound of Cached
	Cold         int64 // bytes of files that are only in the bucket
	Uploads      int64
	Uploaded     int64 // bytes
	Failures     int64 // of uploads and deletions
	Hits         int64 // reads of finished files from the local disk
	Misses       int64 // reads that asked the bucket
	Read         int64 // bytes from the bucket
	ReadFailures int64
	Problem      string // why the last upload, deletion or read failed; "" after a success
}

// object is a finished file.
type object struct {
	name string

	reading sync.RWMutex // held for reading while the local file is read; for writing while it goes. Taken before FS.mu

	size     int64
	local    bool // the file is in the folder
	stored   bool // the bucket has an object of this name, as the journal says
	replace  bool // with stored: the local file must replace the object
	deleting bool // the name is removed; the object is to be deleted
	etag     string
	sum      string // SHA-256 in hexadecimal, "" if unknown
	used     uint64
	handles  int
	file     disk.File // the open local file, shared by the handles; nil if none is open
	part     *part
	busy     bool // an upload or deletion is under way
	renewed  int  // counts replacements, so that an upload knows that there was one
	after    time.Time
	wait     time.Duration
}

// settled reports whether an object is in the bucket, and no request is to change it. The caller holds FS.mu.
func (o *object) settled() bool { return o.stored && !o.replace && !o.deleting && !o.busy }

// Open opens the folder. It reads the journal; if there is none, it lists the bucket. If the bucket is away, it fails
// only without a journal.
func Open(ctx context.Context, o Options) (*FS, error) {
	o = o.withDefaults()
	f := &FS{o: o, local: o.FS, log: o.Logger, objects: map[string]*object{}}
	f.cond = sync.NewCond(&f.mu)
	f.ctx, f.stop = context.WithCancel(context.Background())
	if err := f.load(ctx); err != nil {
		f.stop()
		return nil, fmt.Errorf("bytes in a bucket: %w", err)
	}
	if !o.ReadOnly {
		for range uploads {
			f.done.Go(f.work)
		}
		f.done.Go(f.sweepDaily)
	}
	return f, nil
}

// uploads is the number of uploads at the same time.
const uploads = 2

// load reads the journal, and the folder.
func (f *FS) load(ctx context.Context) error {
	if f.o.Follow {
		if err := f.list(ctx); err != nil {
			return err
		}
		if err := f.scan(journalState{}); err != nil || f.o.Beside {
			return err
		}
		return f.emptyColds()
	}
	path := filepath.Join(f.o.Dir, JournalName)
	state, err := readJournal(f.local, path)
	if err != nil {
		return err
	}
	if f.o.ReadOnly {
		if !state.exists {
			return errors.New("the folder has not been used with the bucket yet")
		}
	} else {
		if state.holder == "" {
			state.holder = rand.Text()
		}
		f.owner = ownership{archive: f.o.Archive, holder: state.holder, stored: len(state.entries) > 0}
		if err := f.claim(ctx, state.exists && state.archive == f.o.Archive); err != nil {
			return err
		}
	}
	for name, e := range state.entries {
		f.objects[name] = &object{name: name, size: e.size, etag: e.etag, sum: e.sum, stored: true, deleting: e.deleting}
	}
	if !state.exists || state.torn {
		if err := f.adopt(ctx); err != nil {
			return err
		}
	}
	if err := f.scan(state); err != nil {
		return err
	}
	if f.o.ReadOnly {
		return nil
	}
	if f.journal, err = f.rewriteJournal(path); err != nil {
		return err
	}
	f.mu.Lock()
	drop := f.excess()
	f.mu.Unlock()
	f.evict(drop)
	return f.emptyColds()
}

// scan adds what is in the folder.
func (f *FS) scan(state journalState) error {
	entries, err := f.local.ReadDir(f.o.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !f.o.Finished(name) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		o := f.objects[name]
		if o != nil && o.deleting && !f.o.ReadOnly { // a crash came before the local file was removed
			if err := f.local.Remove(filepath.Join(f.o.Dir, name)); err != nil {
				return err
			}
			continue
		}
		if o == nil {
			o = &object{name: name}
			f.objects[name] = o
		}
		o.local = true
		if o.stored && (state.entries[name].replace || o.size != info.Size()) {
			o.replace = true
		}
		o.size = info.Size()
		f.tick++
		o.used = f.tick // older files, whose numbers are lower, go first
		if o.stored && !o.replace && !f.o.ReadOnly {
			f.cached += o.size
		}
	}
	return nil
}

// Close ends what is in the background, without waiting for the bucket. Files that wait are uploaded by the next
// process. It may be called twice.
func (f *FS) Close() error {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return nil
	}
	f.ended = true
	f.cond.Broadcast()
	f.mu.Unlock()
	f.stop()
	f.done.Wait()
	var err error
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.file != nil {
			err = errors.Join(err, o.file.Close())
			o.file = nil
		}
		if o.part != nil {
			err = errors.Join(err, o.part.f.Close())
			o.part = nil
		}
	}
	if f.journal != nil {
		err = errors.Join(err, f.journal.close())
	}
	return errors.Join(err, f.removeColds())
}

// Stats returns the figures.
func (f *FS) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Cached, s.Cache = f.cached, f.o.Cache
	for _, o := range f.objects {
		switch {
		case o.deleting:
			s.Deleting++
			continue
		case !o.stored || o.replace:
			s.Waiting++
			s.WaitingBytes += o.size
		case !o.local:
			s.Cold += o.size
		}
		s.Files++
	}
	return s
}
