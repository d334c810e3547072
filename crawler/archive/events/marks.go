package events

import (
	"encoding/binary"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Way is a set of ways in which a resource is gone.
type Way byte

// The ways, by bit.
const (
	NotFetched Way = 1 << iota // the resource can no longer be fetched
	NotListed                  // no portal lists the resource any more
)

func goneKey(resource string) []byte { return append([]byte{tableGone}, resourceBytes(resource)...) }

// IsGone returns the ways in which a resource is gone.
func (t Txn) IsGone(resource string) (ways Way, err error) {
	_, err = t.Read(kv.SpaceEvents, goneKey(resource), func(raw []byte) error {
		if len(raw) == 1 {
			ways = Way(raw[0])
		}
		return nil
	})
	return ways, err
}

// SetGone sets the ways in which a resource is gone. 0 means that it is not gone.
func (t Txn) SetGone(resource string, ways Way) error {
	if ways == 0 {
		return t.Delete(kv.SpaceEvents, goneKey(resource))
	}
	return t.Set(kv.SpaceEvents, goneKey(resource), []byte{byte(ways)})
}

// Mark returns the mark of a reader of the log: the number of the first event that the reader has not seen. ok is false
// if the reader has no mark.
func (t Txn) Mark(reader string) (next uint64, ok bool, err error) {
	k := append([]byte{tableMark}, reader...)
	ok, err = t.Read(kv.SpaceEvents, k, func(raw []byte) error {
		r := fields.Reader{B: raw}
		if next = r.Uvarint(); r.End() != nil {
			return bad(k)
		}
		return nil
	})
	return next, ok, err
}

// SetMark sets the mark of a reader.
func (t Txn) SetMark(reader string, next uint64) error {
	return t.Set(kv.SpaceEvents, append([]byte{tableMark}, reader...), binary.AppendUvarint(nil, next))
}
