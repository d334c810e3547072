package spatial

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

const (
	listVersion = 1
	name        = "spatial index"
	letters     = "bh"

	cacheBytes = 32 << 20
	tailMax    = 512     // entries of the tail, which are searched one by one
	growMax    = 300_000 // entries in memory from which on Add returns full
	fanout     = 3       // a segment is merged with the one before it if that has less than this many times its entries
)

// Index finds literals by their boxes. Searches may run concurrently with each other and with all other methods. Only
// one goroutine at a time may call Add, Flush and Reset.
type Index struct {
	db     *kv.DB
	keep   bool // segments are stored in db; otherwise they stay in memory
	values *segments.Values

	mu     sync.RWMutex     // guards what follows
	segs   []*segment       // made by Flush, older and larger ones first
	next   uint64           // number of the next stored segment
	frozen []*segment       // in memory, about to be stored by Flush
	grow   []*segment       // in memory, added since Flush began
	tail   []Entry          // added after grow, unsorted; elements are only appended, never changed, since Views share it
	known  map[term.ID]bool // ids that were added since the last Flush
}

// NewIndex returns an empty index. If keep is set, Flush stores segments in db; otherwise they stay in memory.
func NewIndex(db *kv.DB, keep bool) *Index {
	values := segments.Open(db, kv.SpaceSpatial, name, letters, keep, cacheBytes)
	return &Index{db: db, keep: keep, values: values, next: 1, known: map[term.ID]bool{}}
}

// Has reports whether a literal was added since the last Flush. A literal for which it returns false may be indexed
// nevertheless; adding it again does no harm.
func (x *Index) Has(id term.ID) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.known[id]
}

// Add indexes literals. full reports that it is time for Flush.
func (x *Index) Add(list []Entry) (full bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, e := range list {
		if x.known[e.ID] {
			continue
		}
		x.known[e.ID] = true
		if x.tail = append(x.tail, e); len(x.tail) >= tailMax {
			x.sortTail()
		}
	}
	return len(x.known) >= growMax
}

// sortTail makes a segment of the tail, and merges it with others of similar size. The caller holds mu.
func (x *Index) sortTail() {
	if len(x.tail) == 0 {
		return
	}
	list := x.tail
	for n := len(x.grow); n > 0 && x.grow[n-1].entries < fanout*len(list); n-- {
		list = append(slices.Clip(list), x.grow[n-1].mem...)
		x.grow = slices.Clip(x.grow[:n-1])
	}
	x.grow, x.tail = append(x.grow, inMemory(list)), nil
}

// Growing returns the number of literals that are only in memory.
func (x *Index) Growing() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.known)
}

// all returns the segments. The caller holds mu.
func (x *Index) all() []*segment { return slices.Concat(x.segs, x.frozen, x.grow) }

// Entries returns the number of entries. A literal may have several entries, in different segments.
func (x *Index) Entries() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := len(x.tail)
	for _, s := range x.all() {
		n += s.entries
	}
	return n
}

// Count estimates how many literals are in a region, without reading anything.
func (x *Index) Count(r Region) float64 {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := 0.0
	for _, s := range x.all() {
		n += s.count(r)
	}
	for _, e := range x.tail {
		if r.Has(e) {
			n++
		}
	}
	return n
}

// View is the index at one moment. It may be used concurrently, until Close.
type View struct {
	segs []*segment
	tail []Entry
	snap *kv.Snapshot
	read segments.Reader
}

// View returns the index as it is now. The caller must Close it.
func (x *Index) View() *View {
	x.mu.RLock()
	defer x.mu.RUnlock()
	v := &View{segs: x.all(), tail: x.tail, snap: x.db.Snapshot()} // the snapshot has all segments in the list
	v.read = x.values.Reader(v.snap)
	return v
}

// Close releases the view.
func (v *View) Close() { v.snap.Close() }

// Search implements Finder.
func (v *View) Search(r Region, out []term.ID) ([]term.ID, error) {
	from := len(out)
	if r.Empty() {
		return out, nil
	}
	var err error
	for _, s := range v.segs {
		if out, err = s.search(v.read, r, out); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	for i := range v.tail {
		if e := &v.tail[i]; r.Has(*e) {
			out = append(out, e.ID)
		}
	}
	slices.Sort(out[from:])
	return out[:from+len(slices.Compact(out[from:]))], nil
}

// Load opens the stored index and returns the mark of its last Flush. ok is false if there is none, or if an older
// version of this package stored it: then the index is empty and must be built. The same is true after an error, except
// segments.ErrNewer.
func (x *Index) Load() (mark []byte, ok bool, err error) {
	snap := x.db.Snapshot()
	defer snap.Close()
	body, ok, err := x.values.List(snap)
	if err != nil || !ok {
		return nil, false, err
	}
	r := fields.Reader{B: body}
	version := r.Byte()
	if version > listVersion {
		return nil, false, segments.ErrNewer
	}
	mark = slices.Clone(r.Bytes(r.Count(1)))
	next := r.Uvarint()
	var segs []*segment
	for range r.Count(2) {
		number, size := r.Uvarint(), r.Uvarint()
		if r.Bad() {
			break
		}
		s, err := openSegment(x.values.Reader(snap), number, size)
		if err != nil {
			return nil, false, err
		}
		segs = append(segs, s)
	}
	if r.End() != nil {
		return nil, false, fmt.Errorf("%w: %s: list of segments", segments.ErrDamaged, name)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.next = segs, next
	return mark, true, nil
}

// Mark returns the mark of the index that is stored in db. ok is false if there is none.
func Mark(db *kv.DB) (mark []byte, ok bool, err error) {
	return segments.Mark(db, kv.SpaceSpatial, name, listVersion)
}

// Reset empties the index. Stored segments stay in the database until the next Flush.
func (x *Index) Reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.segs, x.frozen, x.grow, x.tail, x.known = nil, nil, nil, nil, map[term.ID]bool{}
}

// Flush stores the entries in memory, merged with segments of similar size, and mark, by which the caller knows which
// quads the index covers.
func (x *Index) Flush(ctx context.Context, mark []byte) error {
	if err := x.flush(ctx, mark); err != nil {
		return fmt.Errorf("%s: store: %w", name, err)
	}
	return nil
}

func (x *Index) flush(ctx context.Context, mark []byte) error {
	x.mu.Lock()
	x.sortTail()
	x.frozen, x.grow = append(x.frozen, x.grow...), nil // frozen is not empty if an earlier Flush failed
	frozen, list, number := x.frozen, slices.Clone(x.segs), x.next
	x.next++
	x.mu.Unlock()
	if len(frozen) > 0 {
		sources := slices.Clone(frozen)
		size := 0
		for _, s := range frozen {
			size += s.entries
		}
		for len(list) > 0 && list[len(list)-1].entries < fanout*size {
			last := list[len(list)-1]
			size += last.entries
			sources = append(sources, last)
			list = list[:len(list)-1]
		}
		snap := x.db.Snapshot()
		defer snap.Close()
		w := &segmentWriter{s: &segment{mem: []Entry{}}}
		if x.keep {
			w = &segmentWriter{s: &segment{number: number}, to: x.values.Write()}
		}
		if err := merge(ctx, x.values.Reader(snap), sources, w); err != nil {
			return err
		}
		if x.keep {
			if err := w.to.Flush(); err != nil {
				return err
			}
		}
		list = append(list, w.s)
	}
	if err := x.values.SetList(ctx, encodeList(mark, number+1, list)); err != nil {
		return err
	}
	keep := map[uint64]bool{}
	for _, s := range list {
		keep[s.number] = true
	}
	x.mu.Lock()
	x.segs, x.frozen = list, nil
	clear(x.known) // nothing was added meanwhile, since Add and Flush are not called concurrently
	x.mu.Unlock()
	return x.values.DeleteOthers(keep) // older Views still read the deleted segments in their snapshots
}

func encodeList(mark []byte, next uint64, list []*segment) []byte {
	b := []byte{listVersion}
	b = fields.AppendText(b, string(mark))
	b = binary.AppendUvarint(b, next)
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = binary.AppendUvarint(b, s.number)
		b = binary.AppendUvarint(b, uint64(len(s.head())))
	}
	return b
}

// Verify reads all segments. It compares the checksums of stored values, the boxes of the fences, and the order of the
// entries.
func (x *Index) Verify(ctx context.Context) error {
	v := x.View()
	defer v.Close()
	var list []Entry
	for _, s := range v.segs {
		last := placed{}
		for i, f := range s.fences {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			if list, err = s.load(v.read, i, list[:0]); err != nil {
				return err
			}
			box := nothing
			for _, e := range list {
				p := placed{orderOf(&e), e}
				if comparePlaced(last, p) > 0 {
					return s.damaged("the order of its entries")
				}
				last, box = p, box.or(e.Box)
			}
			if box != f.box {
				return s.damaged("the box of a block")
			}
		}
	}
	return nil
}
