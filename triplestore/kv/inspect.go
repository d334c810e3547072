package kv

import (
	"context"
	"io"
)

// Write is an entry of a state file, or what a write set does to one entry or to a whole space.
type Write struct {
	Space   Space
	Key     []byte // without the space; nil if Dropped
	Val     []byte // nil if Deleted or Dropped
	Deleted bool   // the entry is deleted
	Dropped bool   // all entries of the space are deleted
}

// ReadState calls f with each entry of a state file, in the order of spaces and keys, and compares the file with its
// checksums. f must not keep the bytes. ReadState returns the number of the state. The error is ErrDamaged if the file
// is damaged or truncated.
func ReadState(ctx context.Context, r io.Reader, f func(Write) error) (number uint64, err error) {
	return readStateFrom(ctx, r, nil, func(key, val []byte, _ uint64) error {
		if len(key) == 0 {
			return ErrDamaged
		}
		return f(Write{Space: Space(key[0]), Key: key[1:], Val: val})
	})
}

// EachWrite calls f with what the write set of a record does, in order. f must not keep the bytes. The error is
// ErrDamaged if the record is malformed, and ErrNewer if it was written by a newer program.
func EachWrite(r Record, f func(Write) error) error {
	w, err := checkRecord(r)
	if err != nil {
		return err
	}
	if w.drop != 0 {
		if err := f(Write{Space: w.drop, Dropped: true}); err != nil {
			return err
		}
	}
	return w.each(func(key, val []byte, deleted bool) error {
		if len(key) == 0 {
			return ErrDamaged
		}
		one := Write{Space: Space(key[0]), Key: key[1:], Deleted: deleted}
		if !deleted {
			one.Val = val
		}
		return f(one)
	})
}
