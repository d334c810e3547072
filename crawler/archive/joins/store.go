package joins

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The index's keyspace, by first byte. Numbers are big-endian in keys, little-endian in values.
const (
	tableNext    = 'n' // -                               -> number of the next set
	tableSet     = 'c' // number of a set                 -> set
	tablePrint   = 'd' // fingerprint of a sketch         -> number of the set
	tablePosting = 'p' // greatest hash of a partition, id -> pairs of a hash and a number
	tableVersion = 'v' // version id                      -> numbers of sets that have columns of it
	tableMatches = 'm' // version id                      -> its matches: their count, and each one's fields
	tableHeads   = 'h' // number of a block of sets       -> their heads
	tableSeen    = 'r' // version id, 0, other version id -> index: matches of the other version name the first, and not the other way round
)

// number is the number of a set of values in the index. It is never reused, and not 0. See numberOf.
type number uint32

const maxNumbers = number(removed >> 3)

// set is the columns that have the same values, and so the same sketch, which is stored with the versions (Samples).
type set struct {
	filed   int      // hashes it is filed under; 0: only its fingerprint finds it
	reach   uint32   // the hash up to which the hashes that it is filed under are complete
	members []Column // the first ones, without Sketch
	from    Column   // the first of those that the database has: the sketch of the set is that of this column
	changed bool
}

// addMember makes a column a member if there is room, and reports whether it did. A quarter of the room is reserved for
// keys, which tables refer to.
func (s *set) addMember(c Column) bool {
	at := len(s.members)
	if at >= maxMembers {
		keys := 0
		for i, m := range s.members {
			if m.Key {
				keys++
			} else {
				at = i
			}
		}
		if !c.Key || keys >= maxMembers/4 {
			return false
		}
		s.members = slices.Delete(s.members, at, at+1)
	}
	c.Sketch = nil
	s.members, s.changed = append(s.members, c), true
	return true
}

// fingerprint identifies a sketch, even against collisions made on purpose.
type fingerprint [16]byte

func printOf(s csvprofile.Sketch) fingerprint {
	sum := sha256.Sum256(sketchBytes(s))
	return fingerprint(sum[:16])
}

func sketchBytes(s csvprofile.Sketch) []byte {
	raw := make([]byte, 0, 4*len(s))
	for _, h := range s {
		raw = binary.LittleEndian.AppendUint32(raw, h)
	}
	return raw
}

var (
	errDamaged   = errors.New("joins: damaged record")
	errExhausted = errors.New("joins: the index has used all its numbers; rebuild it")
)

func nkey(table byte, n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{table}, n) }

func vkey(table byte, version string) []byte { return appendID([]byte{table}, version) }

// A version's id is stored as plainID, 12 bytes for the resource's id, and the number of the version (uvarint); any
// other text as otherID and the text with its length.
const (
	plainID = 0
	otherID = 1
)

func appendID(b []byte, version string) []byte {
	resource, n, ok := ns.SplitVersionID(version)
	if ok && n >= 0 && len(resource) == 24 && ns.VersionID(resource, n) == version {
		at := len(b)
		if b, err := hex.AppendDecode(append(b, plainID), []byte(resource)); err == nil && hex.EncodeToString(b[at+1:]) == resource {
			return binary.AppendUvarint(b, uint64(n))
		}
		b = b[:at]
	}
	return fields.AppendText(append(b, otherID), version)
}

// id reads what appendID wrote.
func (f *reader) id() string {
	switch f.Byte() {
	case plainID:
		resource := hex.EncodeToString(f.Bytes(12))
		return ns.VersionID(resource, int(f.Max(math.MaxInt32)))
	case otherID:
		return f.Text()
	}
	f.Fail()
	return ""
}

func seenKey(version, other string) []byte { return appendID(vkey(tableSeen, version), other) }

// tables reads and writes the index within one transaction.
type tables struct{ txn *kv.Txn }

func (t tables) numbers(key []byte) (list []number, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, key, func(v []byte) error {
		r := fields.Reader{B: v}
		for len(r.B) > 0 {
			list = append(list, number(r.Max(math.MaxUint32)))
		}
		if r.End() != nil {
			return fmt.Errorf("%w: numbers under %x", errDamaged, key)
		}
		return nil
	})
	return list, err
}

func (t tables) setNumbers(key []byte, list []number) error {
	if len(list) == 0 {
		return t.txn.Delete(kv.SpaceJoins, key)
	}
	raw := make([]byte, 0, 4*len(list))
	for _, n := range list {
		raw = binary.AppendUvarint(raw, uint64(n))
	}
	return t.txn.Set(kv.SpaceJoins, key, raw)
}

func (t tables) set(n number) (s *set, err error) {
	err = t.readSet(n, func(v []byte) error {
		s, err = decodeSet(n, v)
		return err
	})
	return s, err
}

// readSet calls f with a set as it is stored.
func (t tables) readSet(n number, f func([]byte) error) error {
	ok, err := t.txn.Read(kv.SpaceJoins, nkey(tableSet, uint32(n)), f)
	if err == nil && !ok {
		err = fmt.Errorf("%w: set %d is filed but does not exist", errDamaged, n)
	}
	return err
}

func decodeSet(n number, v []byte) (*set, error) {
	r := reader{fields.Reader{B: v}}
	s := &set{filed: int(r.Uvarint()), reach: uint32(r.Uvarint())}
	s.members = make([]Column, r.Count(minMemberLen))
	for i := range s.members {
		c := Column{Distinct: int64(r.Uvarint()), Key: r.Uvarint() == 1, At: int(r.Uvarint())}
		c.Table, c.Column = int(r.Uvarint()), int(r.Uvarint())
		c.Version, c.Member, c.Name = r.id(), r.Text(), r.Text()
		s.members[i] = c
	}
	if len(s.members) > 0 {
		s.from = s.members[0]
	}
	if r.End() != nil {
		return nil, fmt.Errorf("%w: set %d", errDamaged, n)
	}
	return s, nil
}

// minMemberLen is the minimum number of bytes of a column in a set.
const minMemberLen = 9

func (t tables) setSet(n number, s *set) error {
	return t.txn.Set(kv.SpaceJoins, nkey(tableSet, uint32(n)), encodeSet(s))
}

func encodeSet(s *set) []byte {
	raw := binary.AppendUvarint(nil, uint64(s.filed))
	raw = binary.AppendUvarint(raw, uint64(s.reach))
	raw = binary.AppendUvarint(raw, uint64(len(s.members)))
	for _, c := range s.members {
		key := uint64(0)
		if c.Key {
			key = 1
		}
		for _, u := range []uint64{uint64(c.Distinct), key, uint64(c.At), uint64(c.Table), uint64(c.Column)} {
			raw = binary.AppendUvarint(raw, u)
		}
		raw = fields.AppendText(fields.AppendText(appendID(raw, c.Version), c.Member), c.Name)
	}
	return raw
}

func pkey(print fingerprint) []byte { return append([]byte{tablePrint}, print[:]...) }

func (t tables) put(e entry) error {
	if e.val == nil {
		return t.txn.Delete(kv.SpaceJoins, e.key)
	}
	return t.txn.Set(kv.SpaceJoins, e.key, e.val)
}

func (t tables) dropSet(n number) error {
	return t.txn.Delete(kv.SpaceJoins, nkey(tableSet, uint32(n)))
}

// reader reads the parts of records.
type reader struct{ fields.Reader }
