package joins

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"odarchive/triplestore/kv"
)

// Postings tell which sets are filed under a hash. They are kept as pairs of a hash and a set's number, in arrays that are
// sorted by both; one entry a pair would cost fifty times as much to write. Hashes are parted into ranges, and each part of
// them, a partition, has some arrays, of which the newer are the smaller: an update appends one to every partition that it
// changes, and merges some of like size, as log-structured trees do. A set that leaves is filed once more, with a mark that
// cancels the first; merging makes both vanish. A partition that has grown is split.
const (
	pairSize  = 8      // bytes
	maxPairs  = 16_384 // in a partition, about
	fewPairs  = 256    // in a partition that is one array
	mergeAt   = 8      // arrays of a size, or smaller
	mergeFor  = 4      // pairs merged for a pair that is filed, at most: merging keeps up with less
	mergeFree = 8192   // and as many in every update

	leaves number = 1 << 31 // in the number of a pair: the set is no longer filed there
)

type pair struct {
	hash uint32
	set  number
}

// byPair has a mark follow what it cancels.
func byPair(a, b pair) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return bySet(a.set, b.set)
}

func bySet(a, b number) int {
	return cmp.Compare(uint64(a&^leaves)<<1|uint64(a>>31), uint64(b&^leaves)<<1|uint64(b>>31))
}

// settle takes out pairs that cancel each other, of sorted ones; where nothing is left that a mark could cancel, marks too.
func settle(pairs []pair, all bool) []pair {
	kept := pairs[:0]
	for i := 0; i < len(pairs); i++ {
		if i+1 < len(pairs) && pairs[i+1] == (pair{pairs[i].hash, pairs[i].set | leaves}) {
			i++
			continue
		}
		if !all || pairs[i].set&leaves == 0 {
			kept = append(kept, pairs[i])
		}
	}
	return kept
}

// merge makes one sorted list of two.
func merge(a, b []pair) []pair {
	all := make([]pair, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if byPair(a[0], b[0]) <= 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// partition of the hashes: those up to high that are above the next lower one's.
type partition struct {
	high    uint32
	arrays  []array
	last    uint32 // the greatest id of an array
	changes []pair
}

type array struct {
	id    uint32
	pairs int
}

// class of arrays that are of like size.
func class(pairs int) int { return bits.Len(uint(pairs)) / 3 }

// posting is the sets filed under one hash, in the order in which they came.
type posting struct {
	list []number
	part *partition
}

// postings are those that an update has looked at.
type postings struct {
	tables
	cursor *kv.Cursor
	lists  map[uint32]*posting
	parts  map[uint32]*partition // by high
	room   []posting             // for lists
}

func arrayKey(high, id uint32) []byte {
	return binary.BigEndian.AppendUint32(nkey(tablePosting, high), id)
}

// posting of a hash.
func (p *postings) posting(hash uint32) (*posting, error) {
	if l := p.lists[hash]; l != nil {
		return l, nil
	}
	err := p.load([]uint32{hash})
	return p.lists[hash], err
}

// load reads what is filed under some hashes, which ascend.
func (p *postings) load(hashes []uint32) error {
	p.room = make([]posting, len(hashes))
	for len(hashes) > 0 {
		n, err := p.loadPartition(hashes)
		if err != nil {
			return err
		}
		hashes = hashes[n:]
	}
	return nil
}

// loadPartition reads what is filed under those hashes that are in the partition of the first, and says how many they are.
func (p *postings) loadPartition(hashes []uint32) (n int, err error) {
	var part *partition
	var known, done bool
	enter := func(high uint32) {
		if part, known = p.parts[high], true; part == nil {
			part, known = &partition{high: high}, false
			p.parts[high] = part
		}
		for n < len(hashes) && hashes[n] <= high {
			p.room[0].part = part
			p.lists[hashes[n]], p.room = &p.room[0], p.room[1:]
			n++
		}
	}
	for key := nkey(tablePosting, hashes[0]); !done; {
		found, err := p.cursor.Seek(key, func(k, v []byte) error {
			if k[0] != tablePosting || part != nil && binary.BigEndian.Uint32(k[1:]) != part.high {
				done = true
				return nil
			}
			if len(k) != 9 || len(v)%pairSize != 0 {
				return errDamaged
			}
			if part == nil {
				enter(binary.BigEndian.Uint32(k[1:]))
			}
			id := binary.BigEndian.Uint32(k[5:])
			if !known {
				part.arrays, part.last = append(part.arrays, array{id, len(v) / pairSize}), id
			}
			p.gather(hashes[:n], v)
			key = arrayKey(part.high, id+1)
			return nil
		})
		if err != nil {
			return 0, err
		}
		done = done || !found
	}
	if part == nil {
		enter(math.MaxUint32)
	}
	for _, h := range hashes[:n] {
		p.lists[h].settle()
	}
	return n, nil
}

// gather adds what an array files under some hashes, which ascend, to their lists.
func (p *postings) gather(hashes []uint32, v []byte) {
	for _, h := range hashes {
		at, end := 0, len(v)/pairSize
		for at < end {
			if mid := (at + end) / 2; binary.LittleEndian.Uint32(v[mid*pairSize:]) < h {
				at = mid + 1
			} else {
				end = mid
			}
		}
		v = v[at*pairSize:]
		for ; len(v) > 0 && binary.LittleEndian.Uint32(v) == h; v = v[pairSize:] {
			l := p.lists[h]
			l.list = append(l.list, number(binary.LittleEndian.Uint32(v[4:])))
		}
	}
}

func (l *posting) settle() {
	if len(l.list) < 2 {
		return
	}
	slices.SortFunc(l.list, bySet)
	kept := l.list[:0]
	for _, n := range l.list {
		if n&leaves == 0 {
			kept = append(kept, n)
		} else if last := len(kept) - 1; last >= 0 && kept[last] == n&^leaves {
			kept = kept[:last]
		}
	}
	l.list = kept
}

func (l *posting) add(hash uint32, n number) {
	l.list = append(l.list, n)
	l.part.changes = append(l.part.changes, pair{hash, n})
}

func (l *posting) remove(hash uint32, n number) {
	if at := slices.Index(l.list, n); at >= 0 {
		l.list = slices.Delete(l.list, at, at+1)
		l.part.changes = append(l.part.changes, pair{hash, n | leaves})
	}
}

// entry of the database that is to be written; without a value: deleted.
type entry struct{ key, val []byte }

// entries are what the changes come to.
func (p *postings) entries() (all []entry, err error) {
	var changed []*partition
	budget := mergeFree
	for _, part := range p.parts {
		slices.SortFunc(part.changes, byPair)
		if part.changes = settle(part.changes, len(part.arrays) == 0); len(part.changes) > 0 {
			changed = append(changed, part)
			budget += mergeFor * len(part.changes)
		}
	}
	slices.SortFunc(changed, func(a, b *partition) int { // those that need merging most come first
		return cmp.Or(cmp.Compare(len(b.arrays), len(a.arrays)), cmp.Compare(a.high, b.high))
	})
	for i, part := range changed {
		merged, size := part.toMerge()
		if size > budget && i > 0 {
			merged, size = nil, 0
		}
		budget -= size
		pairs := part.changes
		slices.SortFunc(merged, func(a, b array) int { return cmp.Compare(a.pairs, b.pairs) })
		for _, a := range merged {
			more, err := p.read(part.high, a.id)
			if err != nil {
				return nil, err
			}
			pairs = merge(pairs, more)
			all = append(all, entry{key: arrayKey(part.high, a.id)})
		}
		if len(merged) > 0 {
			pairs = settle(pairs, len(merged) == len(part.arrays))
		}
		all = append(all, split(part, pairs, len(merged) == len(part.arrays))...)
	}
	return all, nil
}

// toMerge chooses the arrays that are merged with a partition's changes, and says how many pairs they have.
func (part *partition) toMerge() (merged []array, pairs int) {
	total := len(part.changes)
	for _, a := range part.arrays {
		total += a.pairs
	}
	if total <= fewPairs || total > maxPairs {
		return part.arrays, total - len(part.changes)
	}
	for {
		var like []array
		size := 0
		for _, a := range part.arrays {
			if class(a.pairs) <= class(len(part.changes)+pairs) {
				like = append(like, a)
				size += a.pairs
			}
		}
		if len(like) < mergeAt-1 || len(like) == len(merged) {
			return merged, pairs
		}
		merged, pairs = like, size
	}
}

// split writes pairs as one array of a partition, or, where they are all of its and too many, as those of several.
func split(part *partition, pairs []pair, all bool) (entries []entry) {
	for all && len(pairs) > maxPairs {
		cut := maxPairs / 2
		for cut < len(pairs) && pairs[cut].hash == pairs[cut-1].hash {
			cut++
		}
		if cut == len(pairs) {
			break
		}
		entries = append(entries, entry{arrayKey(pairs[cut-1].hash, 0), pairBytes(pairs[:cut])})
		pairs = pairs[cut:]
	}
	if len(pairs) > 0 {
		entries = append(entries, entry{arrayKey(part.high, part.last+1), pairBytes(pairs)})
	}
	return entries
}

func (t tables) read(high, id uint32) (pairs []pair, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, arrayKey(high, id), func(v []byte) error {
		pairs = make([]pair, 0, len(v)/pairSize)
		for ; len(v) >= pairSize; v = v[pairSize:] {
			pairs = append(pairs, pair{binary.LittleEndian.Uint32(v), number(binary.LittleEndian.Uint32(v[4:]))})
		}
		return nil
	})
	return pairs, err
}

func pairBytes(pairs []pair) []byte {
	raw := make([]byte, 0, pairSize*len(pairs))
	for _, p := range pairs {
		raw = binary.LittleEndian.AppendUint32(raw, p.hash)
		raw = binary.LittleEndian.AppendUint32(raw, uint32(p.set))
	}
	return raw
}
