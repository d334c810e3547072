package joins

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"odarchive/crawler/csvprofile"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The index's keyspace, by first byte. Numbers are big-endian in keys, little-endian in values.
const (
	tableNext    = 'n' // -                               -> number of the next column
	tableHead    = 'c' // column number                   -> head
	tableSketch  = 's' // column number                   -> hashes, 4 bytes each
	tablePosting = 'p' // hash                            -> numbers of columns that are filed under it
	tableVersion = 'v' // version id                      -> numbers of its columns
	tableMatches = 'm' // version id                      -> its matches: their count, and each one's fields
	tableSeen    = 'r' // version id, 0, other version id -> index of versions whose matches name the first
)

// number of a column in the index: never used again, and not 0. See numbered.
type number uint32

const maxNumber = math.MaxUint32 >> 3

// head is what is looked at of a column before its sketch is.
type head struct {
	Column        // without Sketch
	filed  int    // hashes it is filed under
	reach  uint32 // the greatest of them, or the greatest there is where all its values are among them
}

var (
	errDamaged   = errors.New("joins: damaged record")
	errExhausted = errors.New("joins: the index has given out all its numbers; make it again")
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

func (t tables) head(n number) (h head, ok bool, err error) {
	ok, err = t.txn.Read(kv.SpaceJoins, nkey(tableHead, uint32(n)), func(v []byte) error {
		r := reader{fields.Reader{B: v}}
		h = head{Column: Column{Distinct: int64(r.Uvarint()), Key: r.Uvarint() == 1}, filed: int(r.Uvarint()), reach: uint32(r.Uvarint())}
		h.Table, h.Column.Column = int(r.Uvarint()), int(r.Uvarint())
		h.Version, h.Member, h.Name = r.Text(), r.Text(), r.Text()
		if r.Bad() {
			return fmt.Errorf("%w: column %d", errDamaged, n)
		}
		return nil
	})
	return h, ok, err
}

func (t tables) setHead(n number, h head) error {
	key := uint64(0)
	if h.Key {
		key = 1
	}
	var raw []byte
	for _, u := range []uint64{uint64(h.Distinct), key, uint64(h.filed), uint64(h.reach), uint64(h.Table), uint64(h.Column.Column)} {
		raw = binary.AppendUvarint(raw, u)
	}
	for _, s := range []string{h.Version, h.Member, h.Name} {
		raw = fields.AppendText(raw, s)
	}
	return t.txn.Set(kv.SpaceJoins, nkey(tableHead, uint32(n)), raw)
}

func (t tables) setSketch(n number, s csvprofile.Sketch) error {
	raw := make([]byte, 0, 4*len(s))
	for _, h := range s {
		raw = binary.LittleEndian.AppendUint32(raw, h)
	}
	return t.txn.Set(kv.SpaceJoins, nkey(tableSketch, uint32(n)), raw)
}

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

func (t tables) dropColumn(n number) error {
	return errors.Join(t.txn.Delete(kv.SpaceJoins, nkey(tableHead, uint32(n))), t.txn.Delete(kv.SpaceJoins, nkey(tableSketch, uint32(n))))
}

func (t tables) matches(version string) (list []Match, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, vkey(tableMatches, version), func(v []byte) (err error) {
		list, err = decodeMatches(version, v)
		return err
	})
	return list, err
}

func decodeMatches(version string, v []byte) (list []Match, err error) {
	if len(v) > 0 && v[0] == '[' { // as an older program wrote them; a count is never as great
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

// seenBy lists the versions whose matches name a version.
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
