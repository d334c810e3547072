package joins

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The index's keyspace, by first byte. Numbers are big-endian in keys, little-endian in values.
const (
	tableNext    = 'n' // -                               -> number of the next set
	tableSet     = 'c' // number of a set                 -> set
	tableSketch  = 's' // number of a set                 -> hashes, 4 bytes each
	tablePrint   = 'd' // fingerprint of a sketch         -> number of the set
	tablePosting = 'p' // greatest hash of a partition, id -> pairs of a hash and a number
	tableVersion = 'v' // version id                      -> numbers of sets that have columns of it
	tableMatches = 'm' // version id                      -> its matches: their count, and each one's fields
	tableSeen    = 'r' // version id, 0, other version id -> index: matches of the other version name the first
)

// number is the number of a set of values in the index. It is never reused, and not 0. See numberOf.
type number uint32

const maxNumbers = number(removed >> 3)

// set is the columns that have the same values. Their sketch is stored separately.
type set struct {
	print   fingerprint // of the sketch
	filed   int         // hashes it is filed under; 0: only its fingerprint finds it, and its sketch is not stored
	reach   uint32      // the hash up to which the hashes that it is filed under are complete
	members []Column    // the first ones, without Sketch
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

func vkey(table byte, version string) []byte { return append([]byte{table}, version...) }

func seenKey(version, other string) []byte {
	return append(append(vkey(tableSeen, version), 0), other...)
}

// tables reads and writes the index within one transaction.
type tables struct{ txn *kv.Txn }

func (t tables) numbers(key []byte) (list []number, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, key, func(v []byte) error {
		for ; len(v) >= 4; v = v[4:] {
			list = append(list, number(binary.LittleEndian.Uint32(v)))
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
		raw = binary.LittleEndian.AppendUint32(raw, uint32(n))
	}
	return t.txn.Set(kv.SpaceJoins, key, raw)
}

func (t tables) set(n number) (s *set, err error) {
	ok, err := t.txn.Read(kv.SpaceJoins, nkey(tableSet, uint32(n)), func(v []byte) error {
		r := reader{fields.Reader{B: v}}
		s = &set{filed: int(r.Uvarint()), reach: uint32(r.Uvarint())}
		copy(s.print[:], r.Bytes(len(s.print)))
		s.members = make([]Column, r.Count(minMemberLen))
		for i := range s.members {
			c := Column{Distinct: int64(r.Uvarint()), Key: r.Uvarint() == 1}
			c.Table, c.Column = int(r.Uvarint()), int(r.Uvarint())
			c.Version, c.Member, c.Name = r.Text(), r.Text(), r.Text()
			s.members[i] = c
		}
		if r.End() != nil {
			return fmt.Errorf("%w: set %d", errDamaged, n)
		}
		return nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("%w: set %d is filed but does not exist", errDamaged, n)
	}
	return s, err
}

// minMemberLen is the minimum number of bytes of a column in a set.
const minMemberLen = 7

func (t tables) setSet(n number, s *set) error {
	raw := binary.AppendUvarint(nil, uint64(s.filed))
	raw = binary.AppendUvarint(raw, uint64(s.reach))
	raw = append(raw, s.print[:]...)
	raw = binary.AppendUvarint(raw, uint64(len(s.members)))
	for _, c := range s.members {
		key := uint64(0)
		if c.Key {
			key = 1
		}
		for _, u := range []uint64{uint64(c.Distinct), key, uint64(c.Table), uint64(c.Column)} {
			raw = binary.AppendUvarint(raw, u)
		}
		for _, text := range []string{c.Version, c.Member, c.Name} {
			raw = fields.AppendText(raw, text)
		}
	}
	return t.txn.Set(kv.SpaceJoins, nkey(tableSet, uint32(n)), raw)
}

func (t tables) setSketch(n number, s csvprofile.Sketch) error {
	return t.txn.Set(kv.SpaceJoins, nkey(tableSketch, uint32(n)), sketchBytes(s))
}

func pkey(print fingerprint) []byte { return append([]byte{tablePrint}, print[:]...) }

func (t tables) sketch(n number) (s csvprofile.Sketch, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, nkey(tableSketch, uint32(n)), func(v []byte) error {
		s = make(csvprofile.Sketch, 0, len(v)/4)
		for ; len(v) >= 4; v = v[4:] {
			s = append(s, binary.LittleEndian.Uint32(v))
		}
		return nil
	})
	return s, err
}

func (t tables) put(e entry) error {
	if e.val == nil {
		return t.txn.Delete(kv.SpaceJoins, e.key)
	}
	return t.txn.Set(kv.SpaceJoins, e.key, e.val)
}

func (t tables) dropSet(n number) error {
	return errors.Join(t.txn.Delete(kv.SpaceJoins, nkey(tableSet, uint32(n))), t.txn.Delete(kv.SpaceJoins, nkey(tableSketch, uint32(n))))
}

func (t tables) matches(version string) (list []Match, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, vkey(tableMatches, version), func(v []byte) (err error) {
		list, err = decodeMatches(version, v)
		return err
	})
	return list, err
}

func decodeMatches(version string, v []byte) (list []Match, err error) {
	if len(v) > 0 && v[0] == '[' { // as an older program wrote them; a count is never that great
		err := json.Unmarshal(v, &list)
		return list, err
	}
	r := reader{fields.Reader{B: v}}
	list = make([]Match, 0, min(r.Uvarint(), perVersion))
	for len(r.B) > 0 && !r.Bad() {
		list = append(list, r.match(version))
	}
	if r.Bad() {
		return nil, fmt.Errorf("%w: matches of %s", errDamaged, version)
	}
	return list, nil
}

func (t tables) setMatches(version string, list []Match) error {
	if len(list) == 0 {
		return t.txn.Delete(kv.SpaceJoins, vkey(tableMatches, version))
	}
	raw := binary.AppendUvarint(nil, uint64(len(list)))
	for _, m := range list {
		for _, p := range []Place{m.Column, m.Other} {
			raw = fields.AppendText(raw, p.Member)
			raw = binary.AppendUvarint(raw, uint64(p.Table))
			raw = binary.AppendUvarint(raw, uint64(p.Column))
		}
		for _, s := range []string{m.Name, m.OtherName, m.Other.Version} {
			raw = fields.AppendText(raw, s)
		}
		for _, share := range []float64{m.Containment, m.Reverse, m.Jaccard} {
			raw = binary.AppendUvarint(raw, uint64(math.Round(share*shareUnit)))
		}
	}
	return t.txn.Set(kv.SpaceJoins, vkey(tableMatches, version), raw)
}

// seenBy returns the versions whose matches name a version.
func (t tables) seenBy(version string) (list []string, err error) {
	prefix := append(vkey(tableSeen, version), 0)
	err = t.txn.Scan(kv.SpaceJoins, prefix, nil, func(k, _ []byte) (bool, error) {
		list = append(list, string(k[len(prefix):]))
		return true, nil
	})
	return list, err
}

// reader reads the parts of records.
type reader struct{ fields.Reader }

func (f *reader) place() Place {
	return Place{Member: f.Text(), Table: int(f.Uvarint()), Column: int(f.Uvarint())}
}

// match reads a match of a version.
func (f *reader) match(version string) (m Match) {
	m.Column, m.Other = f.place(), f.place()
	m.Name, m.OtherName = f.Text(), f.Text()
	m.Column.Version, m.Other.Version = version, f.Text()
	m.Containment, m.Reverse, m.Jaccard = float64(f.Uvarint())/shareUnit, float64(f.Uvarint())/shareUnit, float64(f.Uvarint())/shareUnit
	return m
}
