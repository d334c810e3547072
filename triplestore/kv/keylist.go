package kv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"odarchive/triplestore/fields"

	badger "github.com/dgraph-io/badger/v4"
)

// keyList writes keys in ascending order. Each key is the number of bytes it shares with the previous key and the
// number of the others, both as uvarints, and then the others.
type keyList struct {
	w    *bufio.Writer
	last []byte
	head []byte
	err  error
}

func (l *keyList) add(key []byte) {
	l.head = appendKey(l.head[:0], l.last, key)
	_, err := l.w.Write(l.head)
	l.err = errors.Join(l.err, err)
	l.last = append(l.last[:0], key...)
}

// appendKey appends a key as keyList describes it.
func appendKey(b, last, key []byte) []byte {
	shared := fields.SharedPrefix(key, last)
	b = binary.AppendUvarint(b, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(key)-shared))
	return append(b, key[shared:]...)
}

// keyReader reads keys written by a keyList.
type keyReader struct {
	r   *bufio.Reader
	key []byte
}

// next reads the next key. After the last it returns io.EOF.
func (l *keyReader) next() error {
	shared, err := binary.ReadUvarint(l.r)
	if err != nil { // io.EOF alone means the end; a truncated chunk is another error that wraps io.EOF
		return err
	}
	more, err := binary.ReadUvarint(l.r)
	if err != nil || shared > uint64(len(l.key)) || more > MaxKey+1 || shared+more > MaxKey+1 {
		return fmt.Errorf("%w: its list of keys: %w", ErrBadBackup, errors.Join(err, errors.New("wrong length")))
	}
	last := bytes.Clone(l.key)
	l.key = append(l.key[:shared], make([]byte, more)...)
	if _, err := io.ReadFull(l.r, l.key[shared:]); err != nil {
		return fmt.Errorf("%w: its list of keys: %w", ErrBadBackup, err)
	}
	if last != nil && bytes.Compare(l.key, last) <= 0 {
		return fmt.Errorf("%w: its list of keys is not in order", ErrBadBackup)
	}
	return nil
}

// keepListed deletes every key that is not in the list. If a listed key does not exist, it returns ErrBadBackup.
func (db *DB) keepListed(r io.Reader) (err error) {
	b := db.cache.Load().badger
	number := b.MaxVersion() + 1
	txn := b.NewTransactionAt(number, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	deleted := b.NewWriteBatchAt(number)
	defer deleted.Cancel()
	skip := func() { // skips bookkeeping keys, which are not listed
		for it.Valid() && !isContent(it.Item().Key()) {
			it.Next()
		}
	}
	remove := func() error {
		defer it.Next()
		return deleted.Delete(it.Item().KeyCopy(nil))
	}
	listed := &keyReader{r: bufio.NewReaderSize(r, 1<<20)}
	it.Rewind()
	for err = listed.next(); err == nil; err = listed.next() {
		for skip(); it.Valid() && bytes.Compare(it.Item().Key(), listed.key) < 0; skip() {
			if err := remove(); err != nil {
				return err
			}
		}
		if !it.Valid() || !bytes.Equal(it.Item().Key(), listed.key) {
			return fmt.Errorf("%w: key %x is listed but missing", ErrBadBackup, listed.key)
		}
		it.Next()
	}
	if err != io.EOF {
		return err
	}
	for skip(); it.Valid(); skip() {
		if err := remove(); err != nil {
			return err
		}
	}
	return deleted.Flush()
}
