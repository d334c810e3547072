package dict

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
)

// run leads from terms to numbers. It has the upper 40 bits of each term's hash and the term's number, sorted, in
// blocks. Different terms may have the same hash, so lookups compare the term of each number found.
type run struct {
	id      uint64
	entries uint64
	firsts  []uint64 // hash of each block's first entry
}

const (
	hashBits    = 40
	runBlock    = 512 // entries in a block
	fenceBlocks = 64 << 10
)

func runBlockKey(id uint64, block int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{'h'}, id), uint32(block))
}

func runFenceKey(id uint64, part int) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64([]byte{'r'}, id), uint32(part))
}

func blockID(run uint64, block int) uint64 { return run<<24 ^ uint64(block) }

// writeRun writes the entries that next returns in order, and returns the run and the keys written.
func writeRun(b *kv.Batch, id uint64, next func() (entry, bool, error)) (*run, [][]byte, error) {
	r := &run{id: id}
	var keys [][]byte
	block := make([]entry, 0, runBlock)
	write := func() error {
		if len(block) == 0 {
			return nil
		}
		key := runBlockKey(id, len(r.firsts))
		keys = append(keys, key)
		if err := b.Set(kv.SpaceDict, key, encodeEntries(blockID(id, len(r.firsts)), block)); err != nil {
			return err
		}
		r.firsts = append(r.firsts, block[0].hash)
		r.entries += uint64(len(block))
		block = block[:0]
		return nil
	}
	for {
		e, ok, err := next()
		if err == nil && ok {
			block = append(block, e)
			if len(block) < runBlock {
				continue
			}
		}
		if err == nil {
			err = write()
		}
		if err != nil {
			return nil, keys, err
		}
		if !ok {
			break
		}
	}
	for part := 0; part*fenceBlocks < len(r.firsts); part++ {
		key := runFenceKey(id, part)
		keys = append(keys, key)
		if err := b.Set(kv.SpaceDict, key, r.encodeFences(part)); err != nil {
			return nil, keys, err
		}
	}
	return r, keys, nil
}

func (r *run) encodeFences(part int) []byte {
	b := []byte{blockVersion}
	prev := uint64(0)
	for _, h := range r.firsts[part*fenceBlocks : min(len(r.firsts), (part+1)*fenceBlocks)] {
		b = binary.AppendUvarint(b, h-prev)
		prev = h
	}
	return segments.AppendSeal(b, blockID(r.id, part))
}

// openRun reads the fences of a run with the given number of entries.
func openRun(r Reader, id, entries uint64) (*run, error) {
	out := &run{id: id, entries: entries}
	blocks := int((entries + runBlock - 1) / runBlock)
	for part := 0; part*fenceBlocks < blocks; part++ {
		ok, err := r.Read(kv.SpaceDict, runFenceKey(id, part), func(v []byte) error {
			body, err := segments.OpenSeal(v, blockID(id, part))
			if err != nil {
				return err
			}
			rd := fields.Reader{B: body[1:]}
			prev := uint64(0)
			for len(rd.B) > 0 {
				prev += rd.Uvarint()
				out.firsts = append(out.firsts, prev)
			}
			return nil
		})
		if err == nil && !ok {
			err = errors.New("missing")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: fences of run %d: %w", segments.ErrDamaged, id, err)
		}
	}
	if len(out.firsts) != blocks {
		return nil, fmt.Errorf("%w: run %d has %d blocks instead of %d", segments.ErrDamaged, id, len(out.firsts), blocks)
	}
	return out, nil
}

// keys returns all keys of the run.
func (r *run) keys() (keys [][]byte) {
	for i := range r.firsts {
		keys = append(keys, runBlockKey(r.id, i))
	}
	for part := 0; part*fenceBlocks < len(r.firsts); part++ {
		keys = append(keys, runFenceKey(r.id, part))
	}
	return keys
}

// find calls f with the numbers of terms that have a hash, until f returns false.
func (r *run) find(rd Reader, c *Cache, hash uint64, f func(number uint64) (bool, error)) error {
	// The last block that begins with a smaller hash may end with this one.
	i := max(0, searchSpread(len(r.firsts), 0, 1<<hashBits, hash, func(i int) uint64 { return r.firsts[i] })-1)
	for ; i < len(r.firsts) && r.firsts[i] <= hash; i++ {
		b, err := r.block(rd, c, i)
		if err != nil {
			return err
		}
		var inner error
		more, err := b.find(hash, func(number uint64) (more bool) {
			more, inner = f(number)
			return more && inner == nil
		})
		if err == nil {
			err = inner
		}
		if err != nil {
			return fmt.Errorf("%w: block %d of run %d: %w", segments.ErrDamaged, i, r.id, err)
		}
		if !more {
			return nil
		}
	}
	return nil
}

// searchSpread returns the first of n ascending hashes, which at returns, that is not less than want. It begins where
// the hash should be if they are spread evenly over the hashes from low up to high, so that it reads few of them, which
// are close together.
func searchSpread(n int, low, high, want uint64, at func(int) uint64) int {
	i := n
	if want < high {
		i = int((max(want, low) - low) >> spreadShift * uint64(n) / max((high-low)>>spreadShift, 1))
	}
	lo, hi := 0, n // the result is in [lo, hi]
	if i < n && at(i) < want {
		for step := 1; i < n && at(i) < want; step *= 2 {
			lo = i + 1
			i += step
		}
		hi = min(i, n)
	} else {
		hi = min(i, n)
		for step := 1; i > 0; step *= 2 {
			i = max(i-step, 0)
			if at(i) < want {
				lo = i + 1
				break
			}
			hi = i
		}
	}
	return lo + sort.Search(hi-lo, func(k int) bool { return at(lo+k) >= want })
}

// spreadShift removes so many bits of a hash that its product with a number of blocks fits into 64 bits.
const spreadShift = hashBits - 32

// block returns a block of the run, from the cache if possible.
func (r *run) block(rd Reader, c *Cache, i int) (b *indexedBlock, err error) {
	key := 1<<63 | blockID(r.id, i)
	if v, ok := c.lru.Get(key); ok {
		return v.hashes, nil
	}
	ok, err := rd.Read(kv.SpaceDict, runBlockKey(r.id, i), func(v []byte) (err error) {
		b, err = indexBlock(slices.Clone(v), blockID(r.id, i))
		return err
	})
	if err == nil && !ok {
		err = errors.New("missing")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: block %d of run %d: %w", segments.ErrDamaged, i, r.id, err)
	}
	c.lru.Put(key, cached{hashes: b}, int64(len(b.rest)+16*len(b.marks)+128))
	return b, nil
}
