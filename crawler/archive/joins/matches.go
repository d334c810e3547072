package joins

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"
)

// The matches of a version are stored best first. Each is: the number of a column of the version, from 1, in the order
// in which the matches name them, or 0 and the column's place and name; flags; the other column's place and its name,
// unless a flag says what they are; the other's version; and the shares that no flag says, in units of 1/shareUnit.
const (
	sameName  = 1 << iota // the other column has the name of the version's
	firstFile             // the other column is in the first table of the version itself
	allShared             // all three shares are 1
	knownBits = sameName | firstFile | allShared
)

func (t tables) matches(version string) (list []Match, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, vkey(tableMatches, version), func(v []byte) (err error) {
		list, err = decodeMatches(version, v)
		return err
	})
	return list, err
}

func (t tables) setMatches(version string, list []Match) error {
	if len(list) == 0 {
		return t.txn.Delete(kv.SpaceJoins, vkey(tableMatches, version))
	}
	return t.txn.Set(kv.SpaceJoins, vkey(tableMatches, version), encodeMatches(list))
}

// own is a column of the version whose matches are stored.
type own struct {
	place Place
	name  string
}

func encodeMatches(list []Match) []byte {
	var owns []own
	raw := binary.AppendUvarint(nil, uint64(len(list)))
	for _, m := range list {
		mine := own{m.Column, m.Name}
		at := slices.Index(owns, mine)
		raw = binary.AppendUvarint(raw, uint64(at+1))
		if at < 0 {
			owns = append(owns, mine)
			raw = fields.AppendText(appendPlace(raw, m.Column), m.Name)
		}
		flags := byte(0)
		if m.OtherName == m.Name {
			flags |= sameName
		}
		if m.Other.Member == "" && m.Other.Table == 0 {
			flags |= firstFile
		}
		if m.Containment == 1 && m.Reverse == 1 && m.Jaccard == 1 {
			flags |= allShared
		}
		raw = append(raw, flags)
		if flags&firstFile != 0 {
			raw = binary.AppendUvarint(raw, uint64(m.Other.Column))
		} else {
			raw = appendPlace(raw, m.Other)
		}
		if flags&sameName == 0 {
			raw = fields.AppendText(raw, m.OtherName)
		}
		raw = appendID(raw, m.Other.Version)
		if flags&allShared == 0 {
			for _, share := range []float64{m.Containment, m.Reverse, m.Jaccard} {
				raw = binary.AppendUvarint(raw, uint64(math.Round(share*shareUnit)))
			}
		}
	}
	return raw
}

func decodeMatches(version string, v []byte) (list []Match, err error) {
	r := reader{fields.Reader{B: v}}
	const shortest = 4
	list = make([]Match, r.Count(shortest))
	var owns []own
	for i := range list {
		m := &list[i]
		switch at := r.Max(int64(len(owns))); at {
		case 0:
			m.Column = r.place()
			m.Column.Version, m.Name = version, r.Text()
			owns = append(owns, own{m.Column, m.Name})
		default:
			m.Column, m.Name = owns[at-1].place, owns[at-1].name
		}
		flags := r.Byte()
		if flags&^knownBits != 0 {
			r.Fail()
		}
		if flags&firstFile != 0 {
			m.Other.Column = int(r.Max(math.MaxInt32))
		} else {
			m.Other = r.place()
		}
		if m.OtherName = m.Name; flags&sameName == 0 {
			m.OtherName = r.Text()
		}
		m.Other.Version = r.id()
		m.Containment, m.Reverse, m.Jaccard = 1, 1, 1
		if flags&allShared == 0 {
			m.Containment, m.Reverse, m.Jaccard = r.share(), r.share(), r.share()
		}
	}
	if r.End() != nil {
		return nil, fmt.Errorf("%w: matches of %s", errDamaged, version)
	}
	return list, nil
}

func appendPlace(b []byte, p Place) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(fields.AppendText(b, p.Member), uint64(p.Table)), uint64(p.Column))
}

func (f *reader) place() Place {
	return Place{Member: f.Text(), Table: int(f.Max(math.MaxInt32)), Column: int(f.Max(math.MaxInt32))}
}

func (f *reader) share() float64 { return float64(f.Max(shareUnit)) / shareUnit }

// Former is the matches of a version in the index of this program or an older one.
type Former struct {
	Matches []Match
	key     []byte
}

// Some returns the matches of the first versions that have any, at most limit versions.
func Some(txn *kv.Txn, limit int) (all []Former, err error) {
	err = txn.Scan(kv.SpaceJoins, []byte{tableMatches}, nil, func(k, v []byte) (bool, error) {
		f := Former{key: slices.Clone(k)}
		var err error
		r := reader{fields.Reader{B: k[1:]}}
		f.Matches, err = decodeMatches(r.id(), v)
		all = append(all, f)
		return len(all) < limit, err
	})
	if err != nil {
		return nil, fmt.Errorf("joins: %w", err)
	}
	return all, nil
}

// Clear removes the matches of versions, and nothing else. It is the first step of emptying the index.
func Clear(txn *kv.Txn, all []Former) error {
	for _, f := range all {
		if err := txn.Delete(kv.SpaceJoins, f.key); err != nil {
			return fmt.Errorf("joins: %w", err)
		}
	}
	return nil
}
