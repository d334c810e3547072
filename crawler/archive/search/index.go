package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"odarchive/triplestore/kv"
)

// Field is a field of documents.
type Field byte

const prefixPostings = 'w'

// postingKey returns the key of a posting: 'w', field, word, 0, chunk (4 bytes). Words of a field are in order, and so
// are the chunks of a word.
func postingKey(f Field, word string, chunk uint32) []byte {
	k := append([]byte{prefixPostings, byte(f)}, word...)
	return binary.BigEndian.AppendUint32(append(k, 0), chunk)
}

// chunkOf returns the chunk of a posting's key.
func chunkOf(key string) uint32 { return binary.BigEndian.Uint32([]byte(key[len(key)-4:])) }

type change struct {
	offset  uint16
	removed bool
}

// Changes gathers what one transaction changes. The zero value is ready to use.
type Changes struct {
	Newest *Newest // may be nil

	chunks map[string][]change // by posting key, in the order made
}

// Replace replaces the words of a field of a document.
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

func (c *Changes) add(doc uint32, f Field, word string, removed bool) {
	if c.chunks == nil {
		c.chunks = make(map[string][]change)
	}
	k := string(postingKey(f, word, doc>>chunkBits))
	c.chunks[k] = append(c.chunks[k], change{uint16(doc & (chunkDocs - 1)), removed})
}

// Empty reports whether there are no changes.
func (c *Changes) Empty() bool { return len(c.chunks) == 0 }

// Write writes the changes in a transaction, and empties c.
func (c *Changes) Write(txn *kv.Txn) error {
	for k, changes := range c.chunks {
		var raw []byte
		var err error
		if c.Newest.note(k) {
			if raw, _, err = txn.Get(kv.SpaceSearch, []byte(k)); err != nil {
				return fmt.Errorf("word index: %w", err)
			}
		}
		raw, ok := applyChanges(raw, changes)
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

// maxChunks bounds the chunks that Find reads, since very many words may begin with two letters.
const maxChunks = 30_000

// Find returns the documents with a word in a field, and in beginning those with words that begin with it. A single
// letter or digit is not searched for as a beginning. Find reads at most maxChunks chunks of a word.
func Find(ctx context.Context, txn *kv.Txn, f Field, word string) (exact, beginning Set, err error) {
	if exact, beginning, err = find(ctx, txn, f, word); err != nil {
		return nil, nil, err
	}
	groups, ok := groupsOf(word)
	if !ok {
		return exact, beginning, nil
	}
	var all Set // documents of version 1
	for i, group := range groups {
		with, _, err := find(ctx, txn, f, group)
		if err != nil {
			return nil, nil, err
		}
		if i == 0 {
			all = with
		} else {
			all.Intersect(with)
		}
	}
	exact.Union(all)
	return exact, beginning, nil
}

func find(ctx context.Context, txn *kv.Txn, f Field, word string) (exact, beginning Set, err error) {
	prefix := append([]byte{prefixPostings, byte(f)}, word...)
	if !findsBeginnings(word) {
		prefix = append(prefix, 0)
	}
	n, end := 0, len(prefix)
	if !findsBeginnings(word) {
		end--
	}
	err = txn.Scan(kv.SpaceSearch, prefix, nil, func(k, raw []byte) (bool, error) {
		if n++; n > maxChunks {
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
	return exact, beginning, err
}
