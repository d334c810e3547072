package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"odarchive/triplestore/kv"
)

// Exact adds to docs the documents with a word in a field.
func Exact(txn *kv.Txn, f Field, word string, docs *Set) error {
	prefix := append([]byte{prefixPostings, byte(f)}, word...)
	prefix = append(prefix, 0)
	return txn.Scan(kv.SpaceSearch, prefix, nil, func(k, raw []byte) (bool, error) {
		if len(k) == len(prefix)+4 && !docs.addChunk(binary.BigEndian.Uint32(k[len(prefix):]), raw) {
			return false, fmt.Errorf("word index: posting %q is damaged", k)
		}
		return true, nil
	})
}

// Vocabulary returns the distinct words of some fields that accept is true for, sorted. It reads at most maxKeys
// postings of each field and keeps at most maxWords words; more reports whether there are others.
func Vocabulary(ctx context.Context, txn *kv.Txn, fields []Field, maxKeys, maxWords int, accept func(word []byte) bool) (words []string,
	more bool, err error) {
	for _, f := range fields {
		n := 0
		var last []byte
		err := txn.Scan(kv.SpaceSearch, []byte{prefixPostings, byte(f)}, nil, func(k, _ []byte) (bool, error) {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				return false, ctx.Err()
			}
			if n > maxKeys || len(words) >= maxWords {
				more = true
				return false, nil
			}
			if len(k) < 7 {
				return true, nil
			}
			word := k[2 : len(k)-5]
			if bytes.Equal(word, last) || !accept(word) {
				return true, nil
			}
			last = append(last[:0], word...)
			words = append(words, string(word))
			return true, nil
		})
		if err != nil {
			return nil, false, err
		}
	}
	slices.Sort(words)
	return slices.Clip(slices.Compact(words)), more, nil
}

// Without removes the documents of another set.
func (s Set) Without(o Set) {
	for i := range s[:min(len(s), len(o))] {
		s[i] &^= o[i]
	}
}

// Empty reports whether the set has no document.
func (s Set) Empty() bool { return !slices.ContainsFunc(s, func(w uint64) bool { return w != 0 }) }
