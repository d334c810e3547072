package joins

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"math/bits"
	"slices"

	"odarchive/triplestore/kv"
)

// Postings are the sets that are filed under a hash. They are stored as pairs of a hash and a set's number, in arrays
// sorted by both; one entry for each pair would cost fifty times as much to write. Hashes are divided into ranges. The
// pairs of a range, a partition, are in several arrays, of which the newer are the smaller: an update appends an array
// to every partition that it changes, and merges some of similar size, as log-structured trees do. Removing a set adds
// its pair again, with a mark that cancels the first one; merging drops both. A partition that grew is split.
const (
	setSize     = 100 // bytes of a set with one column, about
	maxPairSize = 10  // maximum number of bytes of a pair

	maxPairs  = 16_384 // about as many in a partition
	fewPairs  = 256    // a partition with fewer is one array
	mergeAt   = 8      // arrays of a size or smaller that are merged
	mergeFor  = 4      // maximum number of pairs merged for each pair that is filed, more than merging needs
	mergeFree = 8192   // pairs that every update may merge besides

	removed number = 1 << 31 // a bit in the number of a pair: the set is no longer filed there
)

type pair struct {
	hash uint32
	set  number
}

// comparePairs orders pairs so that a mark follows the pair that it cancels.
func comparePairs(a, b pair) int {
	if a.hash != b.hash {
		return cmp.Compare(a.hash, b.hash)
	}
	return compareSets(a.set, b.set)
}

func compareSets(a, b number) int {
	return cmp.Compare(uint64(a&^removed)<<1|uint64(a>>31), uint64(b&^removed)<<1|uint64(b>>31))
}

// cancelPairs drops sorted pairs that cancel each other. If all is set, no mark can cancel anything else, and marks are
// dropped too.
func cancelPairs(pairs []pair, all bool) []pair {
	kept := pairs[:0]
	for i := 0; i < len(pairs); i++ {
		if i+1 < len(pairs) && pairs[i+1] == (pair{pairs[i].hash, pairs[i].set | removed}) {
			i++
			continue
		}
		if !all || pairs[i].set&removed == 0 {
			kept = append(kept, pairs[i])
		}
	}
	return kept
}

// merge merges two sorted lists.
func merge(a, b []pair) []pair {
	all := make([]pair, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if comparePairs(a[0], b[0]) <= 0 {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// partition has the hashes up to high and above the next lower partition.
type partition struct {
	high    uint32
	arrays  []array
	last    uint32 // the greatest id of an array
	changes []pair
	hashes  []uint32 // those whose postings were read

	written bool         // an update changes the partition as the next two say
	after   []array      // its arrays then
	split   []*partition // partitions, in ascending order, that the lower part of it becomes then
}

type array struct {
	id    uint32
	pairs int
}

// class returns the same number for arrays of similar size.
func class(pairs int) int { return bits.Len(uint(pairs)) / 3 }

// posting is the sets filed under one hash, in the order in which they were filed.
type posting struct {
	list []number
	part *partition
}

// postings are postings that were read, with all changes since then.
type postings struct {
	tables
	cursor *kv.Cursor
	lists  map[uint32]*posting
	parts  map[uint32]*partition // by high
	room   []posting             // memory for lists
}

func newPostings() postings {
	return postings{lists: map[uint32]*posting{}, parts: map[uint32]*partition{}}
}

func arrayKey(high, id uint32) []byte {
	return binary.BigEndian.AppendUint32(nkey(tablePosting, high), id)
}

// posting returns the posting of a hash.
func (p *postings) posting(hash uint32) (*posting, error) {
	if l := p.lists[hash]; l != nil {
		return l, nil
	}
	err := p.load([]uint32{hash})
	return p.lists[hash], err
}

// load reads the postings of some hashes, in ascending order.
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

// loadPartition reads the postings of the hashes that are in the partition of the first, and returns their number.
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
		part.hashes = append(part.hashes, hashes[:n]...)
	}
	for key := nkey(tablePosting, hashes[0]); !done; {
		found, err := p.cursor.Seek(key, func(k, v []byte) error {
			if k[0] != tablePosting || part != nil && binary.BigEndian.Uint32(k[1:]) != part.high {
				done = true
				return nil
			}
			if len(k) != 9 {
				return errDamaged
			}
			if part == nil {
				enter(binary.BigEndian.Uint32(k[1:]))
			}
			id := binary.BigEndian.Uint32(k[5:])
			pairs, err := p.gather(hashes[:n], v)
			if !known {
				part.arrays, part.last = append(part.arrays, array{id, pairs}), id
			}
			key = arrayKey(part.high, id+1)
			return err
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
		p.lists[h].cancel()
	}
	return n, nil
}

// gather adds the pairs of an array to the lists of some hashes, in ascending order, and returns the number of all its
// pairs.
func (p *postings) gather(hashes []uint32, v []byte) (int, error) {
	r, pairs, err := readPairs(v)
	if err != nil {
		return 0, err
	}
	if len(hashes) > 0 {
		r.among(hashes, func(x pair) {
			l := p.lists[x.hash]
			l.list = append(l.list, x.set)
		})
	}
	return pairs, r.err
}

// cancel drops sets that were removed.
func (l *posting) cancel() {
	if len(l.list) < 2 {
		return
	}
	slices.SortFunc(l.list, compareSets)
	kept := l.list[:0]
	for _, n := range l.list {
		if n&removed == 0 {
			kept = append(kept, n)
		} else if last := len(kept) - 1; last >= 0 && kept[last] == n&^removed {
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
		l.part.changes = append(l.part.changes, pair{hash, n | removed})
	}
}

// entry is a change of the database. Without a value, the key is deleted.
type entry struct{ key, val []byte }

// entries returns the changes of the database, with merges.
func (p *postings) entries() (all []entry, err error) {
	var changed []*partition
	budget := mergeFree
	for _, part := range p.parts {
		slices.SortFunc(part.changes, comparePairs)
		if part.changes = cancelPairs(part.changes, len(part.arrays) == 0); len(part.changes) > 0 {
			changed = append(changed, part)
			budget += mergeFor * len(part.changes)
		}
	}
	slices.SortFunc(changed, func(a, b *partition) int { // those that need merging most first
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
			pairs = cancelPairs(pairs, len(merged) == len(part.arrays))
		}
		all = append(all, part.write(pairs, merged)...)
	}
	return all, nil
}

// settle makes the partitions what the entries, which are committed now, have made of them. It reports false if a
// partition has become empty, and so part of the next: then nothing of the postings may be used any more.
func (p *postings) settle() bool {
	for high, part := range p.parts {
		part.changes = part.changes[:0]
		if !part.written {
			continue
		}
		if len(part.after) == 0 && high != math.MaxUint32 {
			return false
		}
	}
	for _, part := range slices.Collect(maps.Values(p.parts)) {
		if !part.written {
			continue
		}
		for _, low := range part.split {
			p.parts[low.high] = low
			part.hashes = slices.DeleteFunc(part.hashes, func(hash uint32) bool {
				if hash > low.high {
					return false
				}
				low.hashes = append(low.hashes, hash)
				p.lists[hash].part = low
				return true
			})
		}
		part.arrays, part.after, part.split, part.written = part.after, nil, nil, false
		for _, a := range part.arrays {
			part.last = max(part.last, a.id)
		}
	}
	return true
}

// toMerge returns the arrays to be merged with a partition's changes, and the number of their pairs.
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

// write returns the entries for pairs that replace some of a partition's arrays: one array, or, if they are all of its
// pairs and too many, arrays of several partitions. It notes what becomes of the partition.
func (part *partition) write(pairs []pair, replaced []array) (entries []entry) {
	part.written = true
	part.after = slices.DeleteFunc(slices.Clone(part.arrays), func(a array) bool { return slices.Contains(replaced, a) })
	for len(part.after) == 0 && len(pairs) > maxPairs {
		cut := maxPairs / 2
		for cut < len(pairs) && pairs[cut].hash == pairs[cut-1].hash {
			cut++
		}
		if cut == len(pairs) {
			break
		}
		high := pairs[cut-1].hash
		entries = append(entries, entry{arrayKey(high, 0), appendPairs(nil, pairs[:cut])})
		part.split = append(part.split, &partition{high: high, arrays: []array{{0, cut}}})
		pairs = pairs[cut:]
	}
	if len(pairs) > 0 {
		entries = append(entries, entry{arrayKey(part.high, part.last+1), appendPairs(nil, pairs)})
		part.after = append(part.after, array{part.last + 1, len(pairs)})
	}
	return entries
}

func (t tables) read(high, id uint32) (pairs []pair, err error) {
	_, err = t.txn.Read(kv.SpaceJoins, arrayKey(high, id), func(v []byte) error {
		r, n, err := readPairs(v)
		if err != nil {
			return err
		}
		pairs = make([]pair, 0, n)
		for x := range r.each {
			pairs = append(pairs, x)
		}
		return r.err
	})
	return pairs, err
}
