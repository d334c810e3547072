// Package events keeps the log of what changed in the archive: versions that came, files that went and came back,
// licences that changed.
//
// An event has a number, counted from 0 in the order of commits and without gaps, and never changes. It says of which
// kinds the change was (Kind) and what it was about: a version of a resource, a resource, or a dataset. The details, such as
// the columns that came, are in the records of the versions; the log keeps what those do not have. Scopes index the
// events of one resource, dataset or portal.
//
// Versions could be listed again from their records, but not in the same order, and nothing else says when a file went:
// so the log is not rebuilt, and feeds, streams and hooks may rely on its numbers. FORMAT.md describes the records.
package events

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// Kind is a set of kinds of changes.
type Kind uint16

// The kinds, by bit. A number is never reused.
const (
	New     Kind = 1 << iota // the first version of a file
	Rows                     // rows came, went or changed
	Schema                   // columns came, went or changed their type
	Content                  // another version, of which neither Rows nor Schema is known
	Shrunk                   // less than half of the bytes or rows of the version before
	Gone                     // the file can no longer be fetched, or no portal lists it any more
	Back                     // a file that was gone can be fetched, or is listed, again
	Licence                  // the portal declares another licence
	Past                     // the version is older than others that the archive had already
)

// Usual are the kinds that feeds and hooks select by default: all but Past.
const Usual = New | Rows | Schema | Content | Shrunk | Gone | Back | Licence

var names = [...]string{"new", "rows", "schema", "content", "shrunk", "gone", "back", "licence", "past"}

// Names returns the words for the kinds, in the order of their bits.
func (k Kind) Names() (list []string) {
	for i, name := range names {
		if k&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// ParseKinds reads words that commas separate. "all" stands for all kinds. An unknown word is an error that lists the known ones.
func ParseKinds(words string) (k Kind, err error) {
	for word := range strings.SplitSeq(words, ",") {
		word = strings.ToLower(strings.TrimSpace(word))
		switch i := slices.Index(names[:], word); {
		case i >= 0:
			k |= 1 << i
		case word == "license":
			k |= Licence
		case word == "all":
			k |= 1<<len(names) - 1
		case word != "":
			return 0, fmt.Errorf("%q is not a kind of change: expected %s", word, strings.Join(names[:], ", "))
		}
	}
	if k == 0 {
		k = Usual
	}
	return k, nil
}

// Event is one entry of the log.
type Event struct {
	Seq      uint64 // its number
	Kinds    Kind
	At       time.Time // when the visit ended, or the portal said so, in milliseconds; need not follow the order of numbers
	Resource string    // id; of a dataset's event, one of its resources, or ""
	N        int       // number of the version, -1 if the event is not about one
	Issued   time.Time // of the version; only Add reads it, for Bounds
	Dataset  string    // IRI of the dataset whose licence changed, "" otherwise
	Portal   string    // IRI of the portal that said so, "" otherwise
	From, To string    // the licence before and after
	Why      string    // why the file is gone, in one sentence
}

// IsVersion reports whether a version came with the event.
func (e Event) IsVersion() bool { return e.N >= 0 }

// VersionID returns the id of the event's version, "" if it has none.
func (e Event) VersionID() string {
	if !e.IsVersion() {
		return ""
	}
	return ns.VersionID(e.Resource, e.N)
}

// maxText bounds each text of an event, in bytes.
const maxText = 1000

const eventFormat = 1

// encode returns the record that FORMAT.md describes.
func (e Event) encode() []byte {
	b := make([]byte, 1, 48)
	b[0] = eventFormat
	b = binary.AppendUvarint(b, uint64(e.Kinds))
	b = binary.AppendVarint(b, e.At.UnixMilli())
	b = append(b, resourceBytes(e.Resource)...)
	b = binary.AppendUvarint(b, uint64(e.N+1))
	for _, text := range [...]string{e.Dataset, e.Portal, e.From, e.To, e.Why} {
		b = fields.AppendText(b, bounded(text))
	}
	return b
}

func decode(k, raw []byte) (e Event, err error) {
	r := fields.Reader{B: raw}
	if len(k) != 9 || r.Byte() != eventFormat {
		return e, bad(k)
	}
	e.Seq = numberOf(k)
	e.Kinds, e.At = Kind(r.Uvarint()), time.UnixMilli(r.Varint()).UTC()
	if id := r.Bytes(records.IDLen / 2); slices.ContainsFunc(id, func(b byte) bool { return b != 0 }) {
		e.Resource = hex.EncodeToString(id)
	}
	e.N = int(r.Max(1<<31)) - 1
	for _, text := range [...]*string{&e.Dataset, &e.Portal, &e.From, &e.To, &e.Why} {
		*text = r.Text()
	}
	if r.End() != nil {
		return e, bad(k)
	}
	return e, nil
}

func bad(k []byte) error { return fmt.Errorf("archive: event %x: %w", k, records.ErrBadRecord) }

// resourceBytes returns the 12 bytes of a resource id, zeros for "".
func resourceBytes(id string) []byte {
	b := make([]byte, records.IDLen/2)
	hex.Decode(b, []byte(id)) // an id is hexadecimal
	return b
}

func bounded(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// The tables in the keyspace of events, by first byte. Numbers in keys are complemented, so that the newest come first.
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

// numberOf returns the number that eventKey made a key of.
func numberOf(k []byte) uint64 { return ^binary.BigEndian.Uint64(k[1:]) }

// Scope is what events are about: Resource, Dataset or Portal.
type Scope string

// OfResource returns the scope of a resource, by its id.
func OfResource(id string) Scope { return Scope("r" + id) }

// OfDataset returns the scope of a dataset, by its IRI.
func OfDataset(iri string) Scope { return Scope("d" + iri) }

// OfPortal returns the scope of a portal, by its IRI.
func OfPortal(iri string) Scope { return Scope("p" + iri) }

// prefix returns the beginning of the scope's keys.
func (s Scope) prefix() []byte {
	sum := sha256.Sum256([]byte(s)) // strangers choose IRIs, and must not choose the hash
	return append([]byte{tableScope}, sum[:8]...)
}

// Txn reads and writes the log within one transaction.
type Txn struct{ *kv.Txn }

// View runs f over one unchanging state of the log.
func View(db *kv.DB, f func(Txn) error) error {
	return db.View(func(txn *kv.Txn) error { return f(Txn{txn}) })
}

// state is the end of the log.
type state struct {
	next     uint64 // number of the next event
	versions uint64 // number of events with a version
	open     [Levels]span
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

// Next returns the number that the next event will have, which is the number of events.
func (t Txn) Next() (uint64, error) {
	s, err := t.state()
	return s.next, err
}

// Versions returns the number of events with a version.
func (t Txn) Versions() (uint64, error) {
	s, err := t.state()
	return s.versions, err
}

// Add appends an event in some scopes, and sets its number.
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

// Range returns the events with numbers from from up to, but not including, to, oldest first.
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

// InScope calls f with the numbers and kinds of a scope's events that come before a number, newest first, until f returns
// false or an error.
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

// Way is a set of ways in which a resource is gone.
type Way byte

// The ways, by bit.
const (
	NotFetched Way = 1 << iota // it can no longer be fetched
	NotListed                  // no portal lists it any more
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

// SetGone sets the ways in which a resource is gone; 0 for none.
func (t Txn) SetGone(resource string, ways Way) error {
	if ways == 0 {
		return t.Delete(kv.SpaceEvents, goneKey(resource))
	}
	return t.Set(kv.SpaceEvents, goneKey(resource), []byte{byte(ways)})
}

// Mark returns how far a reader of the log has come: the number of the next event that it has not seen. ok is false if
// the reader is not known.
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

// SetMark sets what Mark returns.
func (t Txn) SetMark(reader string, next uint64) error {
	return t.Set(kv.SpaceEvents, append([]byte{tableMark}, reader...), binary.AppendUvarint(nil, next))
}
