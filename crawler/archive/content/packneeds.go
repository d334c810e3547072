package content

import (
	"maps"

	"odarchive/triplestore/kv"
)

// Needs follows which packs a database needs, from its state and the write sets after it, without the database. The
// zero value is ready to use.
type Needs struct {
	ends map[uint64]int64
}

// Apply takes an entry of a state, or what a write set does to one. It reports whether a pack has grown or is new.
func (n *Needs) Apply(w kv.Write) (num uint64, end int64, grown bool, err error) {
	if w.Space != refsSpace {
		return 0, 0, false, nil
	}
	if w.Dropped {
		clear(n.ends)
		return 0, 0, false, nil
	}
	num, ok := keyNumber(w.Key)
	if !ok || w.Key[0] != keyPack {
		return 0, 0, false, nil
	}
	if w.Deleted {
		delete(n.ends, num)
		return num, 0, false, nil
	}
	rec, err := decodePack(w.Val)
	if err != nil {
		return num, 0, false, recordError(err)
	}
	if n.ends == nil {
		n.ends = make(map[uint64]int64)
	}
	grown = rec.end > n.ends[num]
	n.ends[num] = rec.end
	return num, rec.end, grown, nil
}

// Packs returns the packs that the database needs now, by number, with the bytes that it counts, as PacksOf does.
func (n *Needs) Packs() map[uint64]int64 { return maps.Clone(n.ends) }
