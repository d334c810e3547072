// Package events keeps the log of changes in the archive: new versions, files that disappeared or came back, licences
// that changed.
//
// An event never changes. Its number counts from 0 in the order of commits, without gaps. It states the kinds of the
// change (Kind) and what changed: a version of a resource, a resource, or a dataset. Details that the records of the
// versions have, such as the names of new columns, are not repeated in the log. Scopes index the events of one
// resource, dataset or portal.
//
// The log cannot be rebuilt: the records of versions do not tell the order of commits, and only the log knows when a
// file disappeared. Feeds, streams and hooks rely on the numbers. FORMAT.md describes the records.
package events

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The tables in the keyspace of events, by first byte. The numbers of events are complemented in keys, so that scans
// return the newest event first.
const (
	tableEvent = 'e' // ^number (8 bytes)                  -> Event
	tableScope = 's' // hash of a scope, ^number (8 bytes) -> kinds (uvarint)
	tableGone  = 'g' // resource id (12 bytes)             -> ways in which the resource is gone (1 byte)
	tableState = 'n' //                                    -> state
	tableNode  = 'b' // level (1 byte), number (8 bytes)  -> dates of the versions in a node (nodes.go)
	tableMark  = 'm' // name                               -> number of the next event that a reader has not seen
)

func eventKey(seq uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{tableEvent}, ^seq)
}

// numberOf returns the number of the event with a key, which eventKey made.
func numberOf(k []byte) uint64 { return ^binary.BigEndian.Uint64(k[1:]) }

// Scope identifies a resource, dataset or portal whose events are indexed. See OfResource, OfDataset and OfPortal.
type Scope string

// OfResource returns the scope of a resource, by its id.
func OfResource(id string) Scope { return Scope("r" + id) }

// OfDataset returns the scope of a dataset, by its IRI.
func OfDataset(iri string) Scope { return Scope("d" + iri) }

// OfPortal returns the scope of a portal, by its IRI.
func OfPortal(iri string) Scope { return Scope("p" + iri) }

// prefix returns the beginning of the scope's keys.
func (s Scope) prefix() []byte {
	sum := sha256.Sum256([]byte(s)) // portals choose IRIs, and must not be able to choose one with the hash of another
	return append([]byte{tableScope}, sum[:8]...)
}

// Txn reads and writes the log within one transaction.
type Txn struct{ *kv.Txn }

// View calls f with a read-only transaction.
func View(db *kv.DB, f func(Txn) error) error {
	return db.View(func(txn *kv.Txn) error { return f(Txn{txn}) })
}

// state has what Add must know to append to the log.
type state struct {
	next     uint64       // number of the next event
	versions uint64       // number of events with a version
	open     [Levels]span // dates of the versions in the last node of each level, which is not full
}

func (t Txn) state() (s state, err error) {
	_, err = t.Read(kv.SpaceEvents, []byte{tableState}, func(raw []byte) error {
		r := fields.Reader{B: raw}
		if r.Byte() != eventFormat {
			r.Fail()
		}
		s.next, s.versions = r.Uvarint(), r.Uvarint()
		for i := range s.open {
			s.open[i] = readSpan(&r)
		}
		if r.End() != nil {
			return bad([]byte{tableState})
		}
		return nil
	})
	return s, err
}

func (t Txn) setState(s state) error {
	b := binary.AppendUvarint([]byte{eventFormat}, s.next)
	b = binary.AppendUvarint(b, s.versions)
	for _, open := range s.open {
		b = open.append(b)
	}
	return t.Set(kv.SpaceEvents, []byte{tableState}, b)
}

// Next returns the number of the next event, which is also the number of events so far.
func (t Txn) Next() (uint64, error) {
	s, err := t.state()
	return s.next, err
}

// Versions returns the number of events with a version.
func (t Txn) Versions() (uint64, error) {
	s, err := t.state()
	return s.versions, err
}

// Add appends an event to the log and to the indexes of its scopes. It ignores e.Seq: the event gets the next number.
func (t Txn) Add(e Event, scopes ...Scope) error {
	s, err := t.state()
	if err != nil {
		return err
	}
	e.Seq = s.next
	s.next++
	if e.IsVersion() {
		s.versions++
		s.note(e.Issued)
	}
	if err := t.closeNodes(&s); err != nil {
		return err
	}
	if err := t.Set(kv.SpaceEvents, eventKey(e.Seq), e.encode()); err != nil {
		return err
	}
	kinds := binary.AppendUvarint(nil, uint64(e.Kinds))
	for _, scope := range scopes {
		if err := t.Set(kv.SpaceEvents, binary.BigEndian.AppendUint64(scope.prefix(), ^e.Seq), kinds); err != nil {
			return err
		}
	}
	return t.setState(s)
}

// Event returns the event with a number.
func (t Txn) Event(seq uint64) (e Event, ok bool, err error) {
	k := eventKey(seq)
	ok, err = t.Read(kv.SpaceEvents, k, func(raw []byte) (err error) {
		e, err = decode(k, raw)
		return err
	})
	return e, ok, err
}

// Before calls f with the events whose numbers are less than before, newest first, until f returns false or an error.
func (t Txn) Before(ctx context.Context, before uint64, f func(Event) (more bool, err error)) error {
	if before == 0 {
		return nil
	}
	return t.Scan(kv.SpaceEvents, []byte{tableEvent}, eventKey(before-1), func(k, raw []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		e, err := decode(k, raw)
		if err != nil {
			return false, err
		}
		return f(e)
	})
}

// Range returns the events whose numbers are at least from and less than to, oldest first.
func (t Txn) Range(ctx context.Context, from, to uint64) (list []Event, err error) {
	err = t.Before(ctx, to, func(e Event) (bool, error) {
		if e.Seq >= from {
			list = append(list, e)
		}
		return e.Seq > from, nil
	})
	slices.Reverse(list)
	return list, err
}

// InScope calls f with the number and kinds of each event of a scope whose number is less than before, newest first,
// until f returns false or an error.
func (t Txn) InScope(ctx context.Context, scope Scope, before uint64, f func(seq uint64, kinds Kind) (more bool, err error)) error {
	if before == 0 {
		return nil
	}
	prefix := scope.prefix()
	from := binary.BigEndian.AppendUint64(slices.Clone(prefix), ^(before - 1))
	return t.Scan(kv.SpaceEvents, prefix, from, func(k, raw []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		r := fields.Reader{B: raw}
		kinds := Kind(r.Uvarint())
		if len(k) != len(prefix)+8 || r.End() != nil {
			return false, bad(k)
		}
		return f(^binary.BigEndian.Uint64(k[len(prefix):]), kinds)
	})
}
