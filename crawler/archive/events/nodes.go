package events

import (
	"encoding/binary"
	"time"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The events are the leaves of a tree in which each node has PerNode children. The children of node n of level 0 are
// the events from number n*PerNode on; those of node n of a higher level are the nodes of the level below from number
// n*PerNode on. A full node never changes. When a node becomes full, the earliest and the latest date of its versions
// are recorded. Dates need not be in the order of the events.

// PerNode is the number of children of a node, Levels the number of levels.
const (
	PerNode = 256
	Levels  = 4
)

// NodeSize returns the number of events in a full node of a level.
func NodeSize(level int) uint64 {
	size := uint64(PerNode)
	for range level {
		size *= PerNode
	}
	return size
}

// span is the range of the dates of some versions, in milliseconds since 1970. It is empty if any is false.
type span struct {
	any         bool
	first, last int64
}

func (s span) append(b []byte) []byte {
	if !s.any {
		return append(b, 0)
	}
	return binary.AppendVarint(binary.AppendVarint(append(b, 1), s.first), s.last)
}

func readSpan(r *fields.Reader) (s span) {
	switch r.Byte() {
	case 0:
	case 1:
		s = span{true, r.Varint(), r.Varint()}
	default:
		r.Fail()
	}
	return s
}

// note adds a version's date to the open nodes of all levels.
func (s *state) note(issued time.Time) {
	ms := issued.UnixMilli()
	for i := range s.open {
		o := &s.open[i]
		if !o.any {
			*o = span{true, ms, ms}
		}
		o.first, o.last = min(o.first, ms), max(o.last, ms)
	}
}

// closeNodes records the dates of the nodes that became full with the last event.
func (t Txn) closeNodes(s *state) error {
	for level := range s.open {
		size := NodeSize(level)
		if s.next%size != 0 {
			return nil
		}
		if err := t.Set(kv.SpaceEvents, nodeKey(level, s.next/size-1), s.open[level].append(nil)); err != nil {
			return err
		}
		s.open[level] = span{}
	}
	return nil
}

func nodeKey(level int, n uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{tableNode, byte(level)}, n)
}

// Bounds returns the dates of the oldest and the newest version in a full node. ok is false if the node has no version.
func (t Txn) Bounds(level int, n uint64) (first, last time.Time, ok bool, err error) {
	k := nodeKey(level, n)
	var s span
	_, err = t.Read(kv.SpaceEvents, k, func(raw []byte) error {
		r := fields.Reader{B: raw}
		if s = readSpan(&r); r.End() != nil {
			return bad(k)
		}
		return nil
	})
	return time.UnixMilli(s.first).UTC(), time.UnixMilli(s.last).UTC(), s.any, err
}
