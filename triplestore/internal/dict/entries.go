package dict

import (
	"encoding/binary"
	"sort"

	"odarchive/triplestore/term"

	"github.com/cespare/xxhash/v2"
)

type entry struct{ hash, number uint64 }

func compareEntries(a, b entry) int {
	switch {
	case a.hash < b.hash || a.hash == b.hash && a.number < b.number:
		return -1
	case a == b:
		return 0
	}
	return 1
}

func hashOf(k term.Key) uint64 { return xxhash.Sum64String(string(k)) >> (64 - hashBits) }

func encodeEntries(id uint64, es []entry) []byte {
	b := binary.AppendUvarint([]byte{blockVersion}, uint64(len(es)))
	prev := uint64(0)
	for _, e := range es {
		b = binary.AppendUvarint(b, e.hash-prev)
		b = binary.AppendUvarint(b, e.number)
		prev = e.hash
	}
	return appendSum(b, id)
}

// decodeEntries calls f with each entry until it returns false.
func decodeEntries(b []byte, id uint64, f func(entry) bool) error {
	r, n, err := openEntries(b, id)
	if err != nil {
		return err
	}
	more, err := r.entries(entry{}, n, f)
	if err == nil && more && len(r.b) != 0 {
		err = errBlock
	}
	return err
}

// openEntries gives a reader at a block's first entry, and how many there are.
func openEntries(b []byte, id uint64) (r reader, n uint64, err error) {
	body, err := checked(b, id)
	if err != nil {
		return r, 0, err
	}
	if body[0] != blockVersion {
		return r, 0, errBlock
	}
	r = reader{body[1:]}
	if n = r.uvarint(); n == 0 || n > uint64(len(body)) {
		return r, 0, errBlock
	}
	return r, n, nil
}

// entries calls f with the next n entries, which follow on e, until it returns false; more says that it never did.
func (r *reader) entries(e entry, n uint64, f func(entry) bool) (more bool, err error) {
	for range n {
		e.hash += r.uvarint()
		e.number = r.uvarint()
		if r.b == nil {
			return false, errBlock
		}
		if !f(e) {
			return false, nil
		}
	}
	return true, nil
}

// indexedBlock is a block whose checksum was compared, with every markEvery-th entry marked, so that one is found without
// reading all before it.
type indexedBlock struct {
	rest  []byte // from the first entry on
	n     uint64
	marks []mark
}

// mark says where an entry begins, and the hash of the one before it.
type mark struct {
	before uint64
	at     uint32
}

const markEvery = 4

func indexBlock(b []byte, id uint64) (*indexedBlock, error) {
	r, n, err := openEntries(b, id)
	if err != nil {
		return nil, err
	}
	x := &indexedBlock{rest: r.b, n: n}
	var e entry
	for i := range n {
		if i%markEvery == 0 {
			x.marks = append(x.marks, mark{e.hash, uint32(len(x.rest) - len(r.b))})
		}
		if _, err := r.entries(e, 1, func(next entry) bool { e = next; return true }); err != nil {
			return nil, err
		}
	}
	if len(r.b) != 0 {
		return nil, errBlock
	}
	return x, nil
}

// find calls f with the numbers of a hash until it returns false; more says that it never did.
func (x *indexedBlock) find(hash uint64, f func(number uint64) bool) (more bool, err error) {
	// The last mark before which every hash is smaller.
	i := max(0, sort.Search(len(x.marks), func(i int) bool { return x.marks[i].before >= hash })-1)
	r := reader{x.rest[x.marks[i].at:]}
	at := x.marks[i].before
	for range x.n - uint64(i*markEvery) {
		at += r.uvarint()
		number := r.uvarint()
		switch {
		case r.b == nil:
			return false, errBlock
		case at > hash:
			return true, nil
		case at == hash && !f(number):
			return false, nil
		}
	}
	return true, nil
}
