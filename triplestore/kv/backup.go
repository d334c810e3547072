package kv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cespare/xxhash/v2"
	badger "github.com/dgraph-io/badger/v4"
)

// A backup stream is backupMagic and two runs of chunks: what has changed, in Badger's own backup format, and the list of all
// keys that there are (keyList). A chunk is its length (uint32, little endian), the xxHash64 of its bytes (uint64) and the
// bytes; one of length 0 ends a run. Version 1 had no list: what was deleted since the backup before, and forgotten by a
// compaction, came back with it.
const (
	backupMagic  = "odarchive kv backup 2\n"
	backupMagic1 = "odarchive kv backup 1\n"
	maxChunk     = 1 << 20
	backupTemp   = "backup-*.tmp" // beside the database, while a backup is made
	maxFrame     = 64 << 20       // one list of entries in Badger's format, which it reads into memory
)

// ErrBadBackup says that a backup stream is cut off or changed.
var ErrBadBackup = errors.New("broken backup")

// Backup writes every entry changed since a version (0: everything) to w, and the keys of all, from one unchanging state; it
// returns the version to pass next time. Every byte is covered by a checksum. Writers are not blocked.
func (db *DB) Backup(w io.Writer, since uint64) (next uint64, err error) {
	defer recoverDamage("backup", &err)
	if db.closed.Load() {
		return 0, ErrClosed
	}
	if next, err = db.backup(w, since); err != nil {
		return 0, fmt.Errorf("kv: backup: %w", err)
	}
	return next, nil
}

func (db *DB) backup(w io.Writer, since uint64) (next uint64, err error) {
	list, err := os.CreateTemp(db.dir, backupTemp) // the keys of a large archive do not fit in memory
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, list.Close(), os.Remove(list.Name())) }()
	buffered := bufio.NewWriterSize(list, 1<<20)
	keys := &keyList{w: buffered}

	if _, err := io.WriteString(w, backupMagic); err != nil {
		return 0, err
	}
	stream := db.badger.NewStream()
	stream.LogPrefix = "backup"
	stream.NumGo = 1 // each of its goroutines takes a state of its own: of two, one may miss what the other has
	stream.ChooseKey = func(item *badger.Item) bool {
		if !item.IsDeletedOrExpired() {
			keys.add(item.Key())
		}
		return item.Version() > since
	}
	c := &chunkWriter{w: w}
	if next, err = stream.Backup(c, 0); err != nil {
		return 0, err
	}
	if err := errors.Join(c.end(), keys.err, buffered.Flush()); err != nil {
		return 0, err
	}
	if _, err := list.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	if _, err := io.Copy(c, list); err != nil {
		return 0, err
	}
	return max(next, since), c.end() // Badger's own comment says + 1; that skips a transaction
}

// Load reads a backup into the database: over an empty one for a full backup, over the previous state for a later
// part. Nothing else may use the database meanwhile. A broken stream is ErrBadBackup; what came before the break
// has been read, so load into a database that can be thrown away.
func (db *DB) Load(r io.Reader) (err error) {
	defer recoverDamage("restore", &err)
	return db.alone(func() error {
		if err := db.checkSpace(); err != nil {
			return err
		}
		magic := make([]byte, len(backupMagic))
		if _, err := io.ReadFull(r, magic); err != nil || (string(magic) != backupMagic && string(magic) != backupMagic1) {
			return fmt.Errorf("kv: restore: %w: it does not begin like one of version 1 or 2", ErrBadBackup)
		}
		if err := db.badger.Load(&frameReader{r: &chunkReader{r: r}}, 16); err != nil {
			return fmt.Errorf("kv: restore: %w", err)
		}
		if string(magic) == backupMagic1 {
			return nil
		}
		if err := db.keepListed(&chunkReader{r: r}); err != nil {
			return fmt.Errorf("kv: restore: %w", err)
		}
		return nil
	})
}

type chunkWriter struct {
	w   io.Writer
	buf []byte
}

func (c *chunkWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), maxChunk-len(c.buf))
		c.buf = append(c.buf, p[:k]...)
		p = p[k:]
		if len(c.buf) == maxChunk {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (c *chunkWriter) flush() error {
	var head [12]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(c.buf)))
	binary.LittleEndian.PutUint64(head[4:], xxhash.Sum64(c.buf))
	if _, err := c.w.Write(head[:]); err != nil {
		return err
	}
	_, err := c.w.Write(c.buf)
	c.buf = c.buf[:0]
	return err
}

func (c *chunkWriter) end() error {
	if len(c.buf) > 0 {
		if err := c.flush(); err != nil {
			return err
		}
	}
	return c.flush()
}

type chunkReader struct {
	r    io.Reader
	rest []byte
	buf  []byte
	done bool
}

func (c *chunkReader) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.done {
			return 0, io.EOF
		}
		if err := c.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunkReader) next() error {
	var head [12]byte
	if _, err := io.ReadFull(c.r, head[:]); err != nil {
		return fmt.Errorf("%w: it ends too early: %w", ErrBadBackup, err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxChunk {
		return fmt.Errorf("%w: a chunk of %d bytes", ErrBadBackup, n)
	}
	if c.buf == nil {
		c.buf = make([]byte, maxChunk)
	}
	c.rest = c.buf[:n]
	if _, err := io.ReadFull(c.r, c.rest); err != nil {
		return fmt.Errorf("%w: it ends too early: %w", ErrBadBackup, err)
	}
	if xxhash.Sum64(c.rest) != binary.LittleEndian.Uint64(head[4:]) {
		return fmt.Errorf("%w: a chunk differs from its checksum", ErrBadBackup)
	}
	c.done = n == 0
	return nil
}

// frameReader passes Badger's stream on one frame (length as uint64, bytes) at a time, so that a wrong length never
// becomes an allocation.
type frameReader struct {
	r    io.Reader
	head bytes.Reader
	body int64
}

func (f *frameReader) Read(p []byte) (int, error) {
	if f.head.Len() == 0 && f.body == 0 {
		var size [8]byte
		if _, err := io.ReadFull(f.r, size[:]); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return 0, fmt.Errorf("%w: it ends inside a frame", ErrBadBackup)
			}
			return 0, err
		}
		n := binary.LittleEndian.Uint64(size[:])
		if n > maxFrame {
			return 0, fmt.Errorf("%w: a frame of %d bytes", ErrBadBackup, n)
		}
		f.head.Reset(bytes.Clone(size[:]))
		f.body = int64(n)
	}
	if f.head.Len() > 0 {
		return f.head.Read(p)
	}
	n, err := f.r.Read(p[:min(int64(len(p)), f.body)])
	f.body -= int64(n)
	return n, err
}
