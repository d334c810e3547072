package dict

import (
	"cmp"
	"encoding/binary"
	"slices"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"

	"github.com/cespare/xxhash/v2"
)

// entry leads from the hash of a term to its number.
type entry struct{ hash, number uint64 }

func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.hash, b.hash); c != 0 {
		return c
	}
	return cmp.Compare(a.number, b.number)
}

func hashOf(k term.Key) uint64 { return xxhash.Sum64String(string(k)) >> (64 - hashBits) }

// sortByHash sorts entries whose numbers ascend.
func sortByHash(es []entry) {
	if len(es) > maxPlaces {
		slices.SortFunc(es, compareEntries)
		return
	}
	places := make([]place, len(es))
	for i, e := range es {
		places[i] = placeOf(e.hash, i)
	}
	sorted := make([]entry, len(es))
	for i, p := range sortPlaces(places) {
		sorted[i] = es[p.index()]
	}
	copy(es, sorted)
}

// place is a hash and, in the low bits, an index of a list.
type place uint64

const (
	placeBits = 64 - hashBits
	maxPlaces = 1 << placeBits // number of indexes of a place
)

func placeOf(hash uint64, i int) place { return place(hash<<placeBits | uint64(i)) }
func (p place) hash() uint64           { return uint64(p >> placeBits) }
func (p place) index() int             { return int(p & (maxPlaces - 1)) }

// sortPlaces sorts places of ascending indexes by hash, and those of one hash by index. It overwrites its argument.
func sortPlaces(places []place) []place { return segments.RadixSort(places, placeBits, 64) }

func encodeEntries(id uint64, es []entry) []byte {
	b := binary.AppendUvarint([]byte{blockVersion}, uint64(len(es)))
	prev := uint64(0)
	for _, e := range es {
		b = binary.AppendUvarint(b, e.hash-prev)
		b = binary.AppendUvarint(b, e.number)
		prev = e.hash
	}
	return segments.AppendSeal(b, id)
}

// decodeEntries calls f with each entry until f returns false.
func decodeEntries(b []byte, id uint64, f func(entry) bool) error {
	r, n, err := openEntries(b, id)
	if err != nil {
		return err
	}
	more, err := readEntries(&r, entry{}, n, f)
	if err == nil && more && len(r.B) != 0 {
		err = errBlock
	}
	return err
}

// openEntries returns a reader at the first entry of a block, and the number of entries.
func openEntries(b []byte, id uint64) (r fields.Reader, n uint64, err error) {
	body, err := segments.OpenSeal(b, id)
	if err != nil {
		return r, 0, err
	}
	if body[0] != blockVersion {
		return r, 0, errBlock
	}
	r = fields.Reader{B: body[1:]}
	if n = r.Uvarint(); n == 0 || n > uint64(len(body)) {
		return r, 0, errBlock
	}
	return r, n, nil
}

// readEntries calls f with the next n entries, the first of which follows e, until f returns false. more reports that f
// never returned false.
func readEntries(r *fields.Reader, e entry, n uint64, f func(entry) bool) (more bool, err error) {
	for range n {
		e.hash += r.Uvarint()
		e.number = r.Uvarint()
		if r.Bad() {
			return false, errBlock
		}
		if !f(e) {
			return false, nil
		}
	}
	return true, nil
}

// indexedBlock is a block with a verified checksum. Every markEvery-th entry is marked, so that an entry is found
// without decoding all before it.
type indexedBlock struct {
	rest  []byte // from the first entry on
	n     uint64
	marks []mark
}

// mark is the offset of an entry and the hash of the entry before it.
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
	x := &indexedBlock{rest: r.B, n: n}
	var e entry
	for i := range n {
		if i%markEvery == 0 {
			x.marks = append(x.marks, mark{e.hash, uint32(len(x.rest) - len(r.B))})
		}
		if _, err := readEntries(&r, e, 1, func(next entry) bool { e = next; return true }); err != nil {
			return nil, err
		}
	}
	if len(r.B) != 0 {
		return nil, errBlock
	}
	return x, nil
}

// find calls f with the numbers of a hash until f returns false. more reports that f never returned false.
func (x *indexedBlock) find(hash uint64, f func(number uint64) bool) (more bool, err error) {
	// The last mark with only smaller hashes before it. That of the first mark is 0, far from the others.
	n := len(x.marks) - 1
	i := 0
	if n > 0 {
		i = searchSpread(n, x.marks[1].before, x.marks[n].before, hash, func(i int) uint64 { return x.marks[i+1].before })
	}
	r := fields.Reader{B: x.rest[x.marks[i].at:]}
	at := x.marks[i].before
	for range x.n - uint64(i*markEvery) {
		at += r.Uvarint()
		number := r.Uvarint()
		switch {
		case r.Bad():
			return false, errBlock
		case at > hash:
			return true, nil
		case at == hash && !f(number):
			return false, nil
		}
	}
	return true, nil
}
