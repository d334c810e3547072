package kv

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"
	badger "github.com/dgraph-io/badger/v4"
)

// A backup stream is backupMagic and two runs of chunks: the entries that changed, and the list of all keys (keyList).
// A chunk is its length (uint32, little endian), the xxHash64 of its bytes (uint64) and the bytes; a chunk of length 0
// ends a run. An entry is the lengths of its key and value and its version (uvarint each), the key with its space, and
// the value.
const (
	backupMagic  = "odarchive kv backup 1\n"
	backupFamily = "odarchive kv backup "
	maxChunk     = 1 << 20
	backupTemp   = "backup-*" // in Dir
)

// ErrBadBackup means that a backup stream is truncated or corrupt.
var ErrBadBackup = errors.New("broken backup")

// Backup writes every entry changed since a version (0 for all entries) to w, and the keys of all entries, from one
// unchanging state. It returns the version to pass next time. Checksums cover every byte. Writers are not blocked.
func (db *DB) Backup(w io.Writer, since uint64) (next uint64, err error) {
	s := db.Snapshot()
	defer s.Close()
	if err := s.acquire(); err != nil {
		return 0, err
	}
	defer s.release()
	if err := s.backup(w, since); err != nil {
		return 0, fmt.Errorf("kv: backup: %w", err)
	}
	return max(s.number, since), nil
}

func (s *Snapshot) backup(w io.Writer, since uint64) (err error) {
	list, err := os.CreateTemp(s.db.Dir(), backupTemp) // the keys of a large archive do not fit in memory
	if err != nil {                                    // backups must work when the disk is full
		list, err = os.CreateTemp("", backupTemp)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, list.Close(), os.Remove(list.Name())) }()
	buffered := bufio.NewWriterSize(list, 1<<20)
	keys := &keyList{w: buffered}
	if _, err := io.WriteString(w, backupMagic); err != nil {
		return err
	}
	c := &chunkWriter{w: w}
	var head []byte
	err = s.each(context.Background(), func(key, val []byte, version uint64) error {
		keys.add(key)
		if version <= since {
			return nil
		}
		head = binary.AppendUvarint(head[:0], uint64(len(key)))
		head = binary.AppendUvarint(head, uint64(len(val)))
		head = append(binary.AppendUvarint(head, version), key...)
		if _, err := c.Write(head); err != nil {
			return err
		}
		_, err := c.Write(val)
		return err
	})
	if err == nil {
		err = errors.Join(c.end(), keys.err, buffered.Flush())
	}
	if err != nil {
		return err
	}
	if bad, err := s.cache.verify(context.Background(), verifyOptions{}); err != nil || len(bad) > 0 {
		return errors.Join(err, s.db.suspect(ErrDamaged)) // the iteration may have ended early
	}
	if _, err := list.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if _, err := io.Copy(c, list); err != nil {
		return err
	}
	return c.end()
}

// Load reads a backup into the database: a full backup into an empty database, an incremental one into the previous
// state. Nothing else may use the database meanwhile. If the stream is bad, Load returns ErrBadBackup after it has
// loaded what came before; so load into a database that can be discarded.
func (db *DB) Load(r io.Reader) (err error) {
	defer recoverDamage("restore", &err)
	return db.alone(func() error {
		if err := db.writable(); err != nil {
			return err
		}
		magic := make([]byte, len(backupMagic))
		if _, err := io.ReadFull(r, magic); err != nil || !strings.HasPrefix(string(magic), backupFamily) {
			return fmt.Errorf("kv: restore: %w: wrong first line", ErrBadBackup)
		}
		db.writing.Lock()
		defer db.writing.Unlock()
		if string(magic) != backupMagic {
			return fmt.Errorf("kv: restore: %w: version %s, not 1", ErrBadBackup, magic[len(backupFamily):len(magic)-1])
		}
		err := db.loadEntries(r)
		if err == nil {
			err = db.keepListed(&chunkReader{r: r})
		}
		if err == nil {
			err = db.beginAt(max(db.cache.Load().badger.MaxVersion(), db.visible.Load()+1))
		}
		if err != nil {
			return fmt.Errorf("kv: restore: %w", err)
		}
		return nil
	})
}

// loadEntries reads the entries of a stream.
func (db *DB) loadEntries(stream io.Reader) error {
	chunks := &chunkReader{r: stream}
	r := bufio.NewReaderSize(chunks, 1<<16)
	b := db.cache.Load().badger.NewManagedWriteBatch()
	defer b.Cancel()
	for {
		keyLen, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return b.Flush()
		}
		valLen, err2 := binary.ReadUvarint(r)
		version, err3 := binary.ReadUvarint(r)
		if err := errors.Join(err, err2, err3); err != nil {
			return fmt.Errorf("%w: an entry: %w", ErrBadBackup, err)
		}
		if keyLen > MaxKey+1 || valLen > MaxValue { // check lengths before allocating
			return fmt.Errorf("%w: an entry with invalid lengths", ErrBadBackup)
		}
		entry := make([]byte, keyLen+valLen)
		if _, err := io.ReadFull(r, entry); err != nil {
			return fmt.Errorf("%w: an entry: %w", ErrBadBackup, err)
		}
		if err := checkLoaded(entry[:keyLen], int(valLen), version); err != nil {
			return err
		}
		if err := b.SetEntryAt(badger.NewEntry(entry[:keyLen], entry[keyLen:]), version); err != nil {
			return err
		}
	}
}

// checkLoaded rejects an entry that this database cannot have written: a version that would make later numbers
// overflow, or a key or value out of range.
func checkLoaded(key []byte, val int, version uint64) error {
	if !isContent(key) || len(key) > MaxKey+1 || val > MaxValue || version == 0 || version > maxVersion {
		return fmt.Errorf("%w: an entry of %d and %d bytes, of write set %d", ErrBadBackup, len(key), val, version)
	}
	return nil
}

const maxVersion = 1 << 60

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
		return fmt.Errorf("%w: unexpected end: %w", ErrBadBackup, err)
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
		return fmt.Errorf("%w: unexpected end: %w", ErrBadBackup, err)
	}
	if xxhash.Sum64(c.rest) != binary.LittleEndian.Uint64(head[4:]) {
		return fmt.Errorf("%w: a chunk differs from its checksum", ErrBadBackup)
	}
	c.done = n == 0
	return nil
}
