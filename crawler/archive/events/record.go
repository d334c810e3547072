package events

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/ns"
	"odarchive/triplestore/fields"
)

// Event is one entry of the log.
type Event struct {
	Seq      uint64 // its number
	Kinds    Kind
	At       time.Time // when the visit ended or the portal was read, to the millisecond; not always in the order of numbers
	Resource string    // id; in an event of a dataset, the id of one of its resources, or ""
	N        int       // number of the version, -1 if the event is not about a version
	Issued   time.Time // date of the version; not stored in the record, but in the nodes (see Bounds)
	Dataset  string    // IRI of the dataset whose licence changed, "" in other events
	Portal   string    // IRI of the portal that declared the licence, "" in other events
	From, To string    // the licence before and after
	Why      string    // why the file is gone, in one sentence
}

// IsVersion reports whether the event is about a version.
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

// encode returns the record of the event, as FORMAT.md describes it.
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
