package warc

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/web/spool"
)

// DirOptions are the options of a Dir. The zero value uses the defaults.
type DirOptions struct {
	Prefix  string           // of file names; default "odarchive"
	Info    []Field          // the fields of each file's warcinfo record
	MaxSize int64            // bytes of a file after which a new one is begun; default 1 GiB
	Reserve int64            // bytes of the disk to keep free, at most a quarter of the disk; default 512 MiB; negative for none
	Now     func() time.Time // default time.Now
	Log     *slog.Logger     // for the parts that OpenDir removes from damaged files; default none
}

func (o DirOptions) withDefaults() DirOptions {
	if o.Prefix == "" {
		o.Prefix = "odarchive"
	}
	if o.MaxSize == 0 {
		o.MaxSize = 1 << 30
	}
	if o.Reserve == 0 {
		o.Reserve = 512 << 20
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Dir writes records to files in a directory. The name of a file is PREFIX-DATE-RANDOM.warc.gz, with .open appended
// until the file is complete. A file starts with a warcinfo record. It is created when there is something to write.
//
// If the process is killed, the next OpenDir removes damaged and incomplete parts from its .open file and completes it.
// Several processes may use one directory at the same time, each with its own files. Records that Append has accepted
// survive the end of the process. They survive a loss of power as soon as syncEvery more bytes were written or the file
// is complete.
//
// After a failed write, the file is truncated to its last complete record, and Append fails until retryAfter has
// passed.
type Dir struct {
	path string
	opts DirOptions

	mu      sync.Mutex // guards what follows
	file    *os.File   // nil if none is open
	name    string     // of file, without .open
	size    int64
	synced  int64     // bytes that are on the disk
	checked int64     // the free space is checked again when size reaches this
	broken  time.Time // of the last failure; zero if the last write succeeded
	why     error     // of the last failure
}

const (
	opened     = ".open"   // ending of files that are not complete
	checkpoint = ".synced" // ending of a file with the number of bytes that are on the disk
	syncEvery  = 64 << 20  // bytes
	roomEvery  = 4 << 20   // bytes between two checks of the free space
	retryAfter = time.Minute
	smallGroup = 1 << 20 // groups of records up to this size are compressed in memory, without holding mu
)

// OpenDir creates the directory if necessary and completes the files that killed processes left in it.
func OpenDir(path string, o DirOptions) (*Dir, error) {
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	d := &Dir{path: path, opts: o.withDefaults()}
	left, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.warc.gz"+opened))
	if err != nil {
		return nil, fmt.Errorf("warc: %w", err)
	}
	for _, name := range left {
		if err := d.complete(strings.TrimSuffix(name, opened)); err != nil {
			return nil, fmt.Errorf("warc: complete %s: %w", name, err)
		}
	}
	return d, nil
}

// escapeGlob escapes the characters that have a meaning to filepath.Glob.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Append writes records next to each other, like Writer.Write, and sets their Offset and Length. It returns the name of
// the file. If it fails, the records are not in a file, unless the file could not be synced or truncated: then they may
// be.
func (d *Dir) Append(recs ...*Record) (file string, err error) {
	var total int64
	for _, rec := range recs {
		total += rec.ContentLength
	}
	write := func(w io.Writer) error { return writeAll(w, recs) }
	if total <= smallGroup {
		buf := groups.Get().(*bytes.Buffer)
		defer groups.Put(buf)
		buf.Reset()
		if err := write(buf); err != nil {
			return "", err
		}
		write = func(w io.Writer) error { _, err := w.Write(buf.Bytes()); return err }
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	start, err := d.append(write)
	if err != nil {
		return "", err
	}
	for _, rec := range recs {
		rec.Offset += start
	}
	return filepath.Base(d.name), nil
}

var groups = sync.Pool{New: func() any { return new(bytes.Buffer) }}

var writers = sync.Pool{New: func() any { return newFastWriter() }} // crawling must not wait for compression

func writeAll(to io.Writer, recs []*Record) error {
	w := writers.Get().(*Writer)
	defer writers.Put(w)
	w.w, w.offset = to, 0
	defer func() { w.w = nil }()
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			return err
		}
	}
	return nil
}

// append calls write with a writer that appends to the current file, and returns the offset of the first byte. The
// caller holds mu.
func (d *Dir) append(write func(io.Writer) error) (start int64, err error) {
	if !d.broken.IsZero() && time.Since(d.broken) < retryAfter {
		return 0, d.why
	}
	if err := d.ready(); err != nil {
		return 0, d.fail(err)
	}
	start = d.size
	w := &appender{f: d.file, at: d.size}
	if err := write(w); err != nil {
		if cutting := d.file.Truncate(d.size); cutting != nil {
			return 0, d.fail(errors.Join(err, cutting, d.abandon()))
		}
		if w.failed { // otherwise the error came from the records, not from the file
			return 0, d.fail(err)
		}
		return 0, err
	}
	d.size, d.broken = w.at, time.Time{}
	if d.size-d.synced >= syncEvery {
		if err := d.sync(); err != nil {
			return 0, d.fail(errors.Join(err, d.abandon()))
		}
	}
	return start, nil
}

// appender writes at the end of a file.
type appender struct {
	f      *os.File
	at     int64
	failed bool
}

func (a *appender) Write(p []byte) (int, error) {
	n, err := a.f.WriteAt(p, a.at)
	a.at += int64(n)
	a.failed = a.failed || err != nil
	return n, err
}

// fail records that writing has failed.
func (d *Dir) fail(err error) error {
	d.broken, d.why = time.Now(), fmt.Errorf("warc: write to %s: %w", d.path, err)
	return d.why
}

// abandon closes a file whose state is unknown; the next OpenDir completes it.
func (d *Dir) abandon() error {
	err := d.file.Close()
	d.file = nil
	return err
}

// ready begins a new file if there is none or it is full, and checks the free space.
func (d *Dir) ready() error {
	if d.file != nil && d.size >= d.opts.MaxSize {
		if err := d.finish(); err != nil {
			return err
		}
	}
	if d.file == nil || d.size >= d.checked || !d.broken.IsZero() {
		d.checked = d.size + roomEvery
		if err := d.room(); err != nil {
			return err
		}
	}
	if d.file != nil {
		return nil
	}
	return d.begin()
}

// room returns an error if the disk has too little room.
func (d *Dir) room() error {
	if d.opts.Reserve < 0 {
		return nil
	}
	free, total, err := spool.Free(d.path)
	if reserve := min(d.opts.Reserve, total/4); err == nil && free < reserve {
		return fmt.Errorf("the disk has %d MiB left, and %d MiB stay free", free>>20, reserve>>20)
	}
	return nil // also if the free space is not known
}

// begin begins a file with a warcinfo record.
func (d *Dir) begin() error {
	now := d.opts.Now()
	base := d.opts.Prefix + "-" + strings.Replace(now.UTC().Format("20060102150405.000"), ".", "", 1) + "-" +
		strings.ToLower(rand.Text()[:8]) + ".warc.gz"
	name := filepath.Join(d.path, base)
	f, err := os.OpenFile(name+opened, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	if err := lockFile(f); err != nil {
		return errors.Join(err, f.Close(), os.Remove(name+opened))
	}
	var block bytes.Buffer
	for _, field := range d.opts.Info {
		fmt.Fprintf(&block, "%s: %s\r\n", field.Name, strings.Map(func(c rune) rune {
			if isControl(c) {
				return ' '
			}
			return c
		}, field.Value))
	}
	w := &appender{f: f}
	err = writeAll(w, []*Record{{
		Header: Header{{"WARC-Type", Warcinfo}, {"WARC-Record-ID", NewID()}, {"WARC-Date", FormatDate(now)},
			{"WARC-Filename", base}, {"Content-Type", WarcFields}},
		Block: bytes.NewReader(block.Bytes()),
	}})
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(name+opened))
	}
	d.file, d.name, d.size, d.synced, d.checked = f, name, w.at, 0, roomEvery
	return nil
}

// sync syncs the file to the disk and records its length.
func (d *Dir) sync() error {
	if err := d.file.Sync(); err != nil {
		return err
	}
	d.synced = d.size
	return os.WriteFile(d.name+checkpoint, strconv.AppendInt(nil, d.size, 10), 0o644) // if it is lost, more is read at the next start
}

// finish completes the current file.
func (d *Dir) finish() error {
	f, name := d.file, d.name
	if f == nil {
		return nil
	}
	d.file = nil
	return seal(f, name)
}

// Close completes the current file. A second call does nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.finish(); err != nil {
		return fmt.Errorf("warc: close %s: %w", d.name, err)
	}
	return nil
}

// seal syncs a file, removes the ending .open, and closes it.
func seal(f *os.File, name string) error {
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := os.Remove(name + checkpoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, f.Close())
	}
	return errors.Join(os.Rename(name+opened, name), f.Close(), syncDir(filepath.Dir(name)))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
