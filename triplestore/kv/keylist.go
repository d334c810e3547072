package kv

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	badger "github.com/dgraph-io/badger/v4"
)

// keyList writes keys in ascending order, each as how many bytes it shares with the one before, how many follow (uvarint
// each), and these.
type keyList struct {
	w    *bufio.Writer
	last []byte
	head []byte
	err  error
}

func (l *keyList) add(key []byte) {
	shared := 0
	for shared < min(len(key), len(l.last)) && key[shared] == l.last[shared] {
		shared++
	}
	l.head = binary.AppendUvarint(l.head[:0], uint64(shared))
	l.head = binary.AppendUvarint(l.head, uint64(len(key)-shared))
	_, err := l.w.Write(l.head)
	if err == nil {
		_, err = l.w.Write(key[shared:])
	}
	l.err = errors.Join(l.err, err)
	l.last = append(l.last[:0], key...)
}

// keyReader reads them.
type keyReader struct {
	r   *bufio.Reader
	key []byte
}

// next goes to the next key; io.EOF after the last.
func (l *keyReader) next() error {
	shared, err := binary.ReadUvarint(l.r)
	if err != nil { // io.EOF itself is the end; a chunk that is cut off is another error, with io.EOF in its chain
		return err
	}
	more, err := binary.ReadUvarint(l.r)
	if err != nil || shared > uint64(len(l.key)) || more > MaxKey+1 || shared+more > MaxKey+1 {
		return fmt.Errorf("%w: its list of keys: %w", ErrBadBackup, errors.Join(err, errors.New("a wrong length")))
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

// keepListed deletes every key that is not in the list. A key that is in it and not here is ErrBadBackup.
func (db *DB) keepListed(r io.Reader) (err error) {
	b := db.cache.Load().badger
	number := b.MaxVersion() + 1
	txn := b.NewTransactionAt(number, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{})
	defer it.Close()
	deleted := b.NewWriteBatchAt(number)
	defer deleted.Cancel()
	pass := func() { // over the keys of the machinery below, which are not listed
		for it.Valid() && !ours(it.Item().Key()) {
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
		for pass(); it.Valid() && bytes.Compare(it.Item().Key(), listed.key) < 0; pass() {
			if err := remove(); err != nil {
				return err
			}
		}
		if !it.Valid() || !bytes.Equal(it.Item().Key(), listed.key) {
			return fmt.Errorf("%w: key %x is listed and nowhere to be found", ErrBadBackup, listed.key)
		}
		it.Next()
	}
	if err != io.EOF {
		return err
	}
	for pass(); it.Valid(); pass() {
		if err := remove(); err != nil {
			return err
		}
	}
	return deleted.Flush()
}
