package wordindex

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"odarchive/triplestore/kv"
)

// Field of a document in which a word stands.
type Field byte

const prefixPostings = 'w'

// postingKey is 'w', field, word, 0, chunk (4 bytes): the chunks of a word stand in order, the words of a field too.
func postingKey(f Field, word string, chunk uint32) []byte {
	k := append([]byte{prefixPostings, byte(f)}, word...)
	return binary.BigEndian.AppendUint32(append(k, 0), chunk)
}

type change struct {
	offset uint16
	gone   bool
}

// Changes gathers what one transaction changes. The zero value is ready.
type Changes struct {
	chunks map[string][]change // by posting key, in the order made
}

// Replace says that a field of a document held the words of before and holds those of after.
func (c *Changes) Replace(doc uint32, f Field, before, after []string) {
	had := make(map[string]bool, len(before))
	for _, w := range before {
		had[w] = true
	}
	for _, w := range after {
		if had[w] {
			delete(had, w)
			continue
		}
		c.add(doc, f, w, false)
	}
	for w := range had {
		c.add(doc, f, w, true)
	}
}

func (c *Changes) add(doc uint32, f Field, word string, gone bool) {
	if c.chunks == nil {
		c.chunks = make(map[string][]change)
	}
	k := string(postingKey(f, word, doc>>chunkBits))
	c.chunks[k] = append(c.chunks[k], change{uint16(doc & (chunkDocs - 1)), gone})
}

// Write puts the changes into the transaction and forgets them.
func (c *Changes) Write(txn *kv.Txn) error {
	for k, changes := range c.chunks {
		raw, _, err := txn.Get(kv.SpaceSearch, []byte(k))
		if err != nil {
			return fmt.Errorf("word index: %w", err)
		}
		raw, ok := amend(raw, changes)
		if !ok {
			return fmt.Errorf("word index: posting %q is damaged", k)
		}
		if len(raw) == 0 {
			err = txn.Delete(kv.SpaceSearch, []byte(k))
		} else {
			err = txn.Set(kv.SpaceSearch, []byte(k), raw)
		}
		if err != nil {
			return fmt.Errorf("word index: %w", err)
		}
	}
	c.chunks = nil
	return nil
}

// maxChunks bounds what is read for the beginning of a word: two letters can begin very many.
const maxChunks = 30_000

// Find gives the documents that have a word in a field, and those that have only words that begin with it there. A single
// letter or digit is looked up as it is. more says that so many words begin so that not all were read.
func Find(ctx context.Context, txn *kv.Txn, f Field, word string) (exact, beginning Set, more bool, err error) {
	prefix := append([]byte{prefixPostings, byte(f)}, word...)
	if !whole(word) {
		prefix = append(prefix, 0)
	}
	n, end := 0, len(prefix)
	if !whole(word) {
		end--
	}
	err = txn.Scan(kv.SpaceSearch, prefix, nil, func(k, raw []byte) (bool, error) {
		if n++; n > maxChunks {
			more = true
			return false, nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		if len(k) < end+5 {
			return true, nil
		}
		to := &beginning
		if len(k) == end+5 && k[end] == 0 {
			to = &exact
		} else if bytes.IndexByte(k[end:len(k)-5], 0) >= 0 {
			return true, nil
		}
		if !to.addChunk(binary.BigEndian.Uint32(k[len(k)-4:]), raw) {
			return false, fmt.Errorf("word index: posting %q is damaged", k)
		}
		return true, nil
	})
	return exact, beginning, more, err
}
