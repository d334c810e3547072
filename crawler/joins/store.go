package joins

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"odarchive/crawler/csvprofile"
	"odarchive/triplestore/kv"
)

// The index's keyspace, by first byte. Numbers are big-endian in keys, little-endian in values.
const (
	tableNext    = 'n' // -                               -> number of the next column
	tableHead    = 'c' // column number                   -> head
	tableSketch  = 's' // column number                   -> hashes, 4 bytes each
	tablePosting = 'p' // hash                            -> numbers of columns that are filed under it
	tableVersion = 'v' // version id                      -> numbers of its columns
	tableMatches = 'm' // version id                      -> []Match, as JSON
	tableSeen    = 'r' // version id, 0, other version id -> index of versions whose matches name the first
)

// number of a column in the index: never used again.
type number uint32

// head is what is looked at of a column before its sketch is.
type head struct {
	Column        // without Sketch
	filed  int    // hashes it is filed under
	reach  uint32 // the greatest of them, or the greatest there is where all its values are among them
}

var errDamaged = errors.New("joins: damaged record")

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

// fresh gives n numbers that no column ever had.
func (t tables) fresh(n int) (first number, err error) {
	list, err := t.numbers([]byte{tableNext})
	if err != nil {
		return 0, err
	}
	if len(list) == 1 {
		first = list[0]
	}
	if uint64(first)+uint64(n) > math.MaxUint32 {
		return 0, errors.New("joins: the index has given out all its numbers; make it again")
	}
	return first, t.setNumbers([]byte{tableNext}, []number{first + number(n)})
}

func (t tables) head(n number) (h head, ok bool, err error) {
	ok, err = t.txn.Read(kv.SpaceJoins, nkey(tableHead, uint32(n)), func(v []byte) error {
		r := fields{v: v}
		h = head{Column: Column{Distinct: int64(r.uint()), Key: r.uint() == 1}, filed: int(r.uint()), reach: uint32(r.uint())}
		h.Table, h.Column.Column = int(r.uint()), int(r.uint())
		h.Version, h.Member, h.Name = r.text(), r.text(), r.text()
		if r.bad {
			return fmt.Errorf("%w: column %d", errDamaged, n)
		}
		return nil
	})
	return h, ok, err
}

func (t tables) setColumn(n number, c Column) error {
	key := uint64(0)
	if c.Key {
		key = 1
	}
	filed, reach := filing(c.Sketch)
	var raw []byte
	for _, u := range []uint64{uint64(c.Distinct), key, uint64(len(filed)), uint64(reach), uint64(c.Table), uint64(c.Column)} {
		raw = binary.AppendUvarint(raw, u)
	}
	for _, s := range []string{c.Version, c.Member, c.Name} {
		raw = append(binary.AppendUvarint(raw, uint64(len(s))), s...)
	}
	if err := t.txn.Set(kv.SpaceJoins, nkey(tableHead, uint32(n)), raw); err != nil {
		return err
	}
	raw = make([]byte, 0, 4*len(c.Sketch))
	for _, h := range c.Sketch {
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
	_, err = t.txn.Read(kv.SpaceJoins, vkey(tableMatches, version), func(v []byte) error { return json.Unmarshal(v, &list) })
	return list, err
}

func (t tables) setMatches(version string, list []Match) error {
	if len(list) == 0 {
		return t.txn.Delete(kv.SpaceJoins, vkey(tableMatches, version))
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
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

// fields reads a head.
type fields struct {
	v   []byte
	bad bool
}

func (f *fields) uint() uint64 {
	u, n := binary.Uvarint(f.v)
	if n <= 0 {
		f.bad, f.v = true, nil
		return 0
	}
	f.v = f.v[n:]
	return u
}

func (f *fields) text() string {
	n := f.uint()
	if n > uint64(len(f.v)) {
		f.bad, f.v = true, nil
		return ""
	}
	s := string(f.v[:n])
	f.v = f.v[n:]
	return s
}
