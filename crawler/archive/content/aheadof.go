package content

import (
	"cmp"
	"slices"
	"sync"
)

// Sizes of what Ahead fetches.
const (
	aheadWindow   = 16 << 20 // deflated bytes of the files of one step
	aheadFiles    = 512      // files of one step
	aheadRequests = 4        // at the same time
	aheadGap      = 64 << 10 // bytes between two files that are fetched with them, as long as they are not too many
	aheadWaste    = 8        // one of these many bytes at most
	aheadMinCache = 4 * aheadWindow
)

// Ahead fetches files that are going to be read in a certain order, and are only in the bucket, some MB before they are
// read, several at the same time. It must not be used concurrently, and must be closed.
type Ahead struct {
	s    *Store
	n    int
	file func(i int) (sha [32]byte, layout uint64, ok bool)
	to   int // files before this are fetched, or being fetched
	mark int
	next *fetching
	wait sync.WaitGroup
	stop chan struct{}
}

// fetching is a step under way.
type fetching struct {
	to   int
	done chan struct{}
}

// Ahead returns what fetches n files in their order; file returns the i-th, and whether it is one of the store. It is
// nil, and may be used, if there is nothing to fetch them from.
func (s *Store) Ahead(n int, file func(i int) (sha [32]byte, layout uint64, ok bool)) *Ahead {
	if s.tier == nil || n < 2 || s.tier.Stats().Cache < aheadMinCache {
		return nil
	}
	return &Ahead{s: s, n: n, file: file, stop: make(chan struct{})}
}

// At waits until file i has been fetched, as far as that was possible, and begins to fetch those after it.
func (a *Ahead) At(i int) {
	if a == nil {
		return
	}
	for i >= a.mark {
		if a.next == nil {
			a.next = a.begin(max(i, a.to))
		}
		<-a.next.done
		a.mark = a.next.to
		a.next = nil
		if a.mark < a.n {
			a.next = a.begin(a.mark)
		}
		if a.mark >= a.n {
			return
		}
	}
}

// Close ends fetching.
func (a *Ahead) Close() {
	if a != nil {
		close(a.stop)
		a.wait.Wait()
	}
}

// begin fetches a step of files from i on.
func (a *Ahead) begin(i int) *fetching {
	pieces, to := a.step(i)
	f := &fetching{to: to, done: make(chan struct{})}
	a.to = to
	a.wait.Go(func() {
		defer close(f.done)
		work := make(chan piece)
		var group sync.WaitGroup
		for range min(aheadRequests, len(pieces)) {
			group.Go(func() {
				for p := range work {
					if a.s.tier.Fetch(a.s.packs.nameOf(p.pack), p.from, p.to) != nil { // whoever reads it meets the same error
						continue
					}
				}
			})
		}
		for _, p := range pieces {
			select {
			case work <- p:
				continue
			case <-a.stop:
			}
			break
		}
		close(work)
		group.Wait()
	})
	return f
}

// piece is a range of a pack.
type piece struct {
	pack     uint64
	from, to int64
}

// step returns the ranges of the files from i on, and the end of the step. Files whose records cannot be read are left
// to their readers.
func (a *Ahead) step(i int) (pieces []piece, to int) {
	size := int64(0)
	for to = i; to < a.n && to < i+aheadFiles && size < aheadWindow; to++ {
		sha, layout, ok := a.file(to)
		if !ok {
			continue
		}
		l, err := a.s.layoutOf(sha, layout)
		if err != nil {
			continue
		}
		for k := range l.leaves {
			g := &l.leaves[k]
			end := g.offset + segmentHead + int64(g.deflated)
			if last := len(pieces) - 1; last >= 0 && pieces[last].pack == g.pack && pieces[last].to == g.offset {
				pieces[last].to = end
			} else if g.pack != 0 && a.s.cold(a.s.packs.nameOf(g.pack)) {
				pieces = append(pieces, piece{g.pack, g.offset, end})
			}
			size += int64(g.deflated)
		}
	}
	return join(pieces), max(to, i+1)
}

// join joins ranges with little between them, and splits long ones.
func join(pieces []piece) (joined []piece) {
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.from, b.from)) })
	var needed, waste int64
	for _, p := range pieces {
		needed += p.to - p.from
		if n := len(joined); n > 0 && joined[n-1].pack == p.pack {
			last := &joined[n-1]
			gap := p.from - last.to
			if gap <= 0 || gap <= aheadGap && (waste+gap)*aheadWaste <= needed {
				waste += max(gap, 0)
				last.to = max(last.to, p.to)
				continue
			}
		}
		joined = append(joined, p)
	}
	for i := 0; i < len(joined); i++ {
		if p := &joined[i]; p.to-p.from > aheadBytes {
			rest := piece{p.pack, p.from + aheadBytes, p.to}
			p.to = rest.from
			joined = slices.Insert(joined, i+1, rest)
		}
	}
	return joined
}

// Ready returns the error of reading the first bytes, if they are to be read from a bucket: so that a server can say
// that it is away, before it has sent anything.
func (d *Deflated) Ready() error {
	if d.s.tier == nil || d.Size() == 0 {
		return nil
	}
	_, err := d.next()
	return err
}

// Ready does the same for a Reader.
func (r *Reader) Ready() error {
	if r.s.tier == nil || r.size == 0 {
		return nil
	}
	_, err := r.ReadAt(make([]byte, 1), 0)
	return err
}
