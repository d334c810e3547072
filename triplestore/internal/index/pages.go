package index

import (
	"slices"

	"odarchive/triplestore/kv"
)

// differs returns where a block's first row differs from the last row of the block before it.
func (m *levelMerge) differs(first Tuple) int {
	if n := len(m.new.fences); n > 0 {
		return differAt(m.new.fences[n-1].last, first)
	}
	return 0
}

func (m *levelMerge) append(f fence, own counts, origin int32) {
	f.before = m.new.total
	m.new.total = m.new.total.plus(own)
	m.new.fences = append(m.new.fences, f)
	m.own = append(m.own, own)
	m.origin = append(m.origin, origin)
}

// retain moves all old blocks before k to the new level. The buffer must be empty.
func (m *levelMerge) retain(k int) {
	if m.i < k {
		m.new.fences = slices.Grow(m.new.fences, k-m.i)
	}
	for ; m.i < k; m.i++ {
		f := m.old.fences[m.i]
		own := m.old.in(m.i)
		was := 0
		if m.i > 0 {
			was = differAt(m.old.fences[m.i-1].last, f.first)
		}
		origin := int32(m.i)
		if is := m.differs(f.first); is != was {
			for d := range own.starts {
				if was <= d {
					own.starts[d]--
				}
				if is <= d {
					own.starts[d]++
				}
			}
			origin = -1 // the block is the same, but its fence changes
		}
		m.append(f, own, origin)
	}
}

// paginate writes the fences. It keeps old pages whose fences are all unchanged.
func (m *levelMerge) paginate() error {
	starts := make(map[int32]page, len(m.old.pages)) // by the first fence
	at := int32(0)
	for _, p := range m.old.pages {
		starts[at] = p
		at += int32(p.n)
	}
	kept := map[uint64]bool{}
	from := 0 // fences from here on need a page
	for i := 0; i < len(m.origin); {
		p, ok := starts[m.origin[i]]
		if m.origin[i] < 0 || !ok || !m.whole(i, p) || i > from && i-from < pageFences/4 {
			i++
			continue
		}
		if err := m.writePages(from, i); err != nil {
			return err
		}
		m.new.pages = append(m.new.pages, p)
		kept[p.id] = true
		i += p.n
		from = i
	}
	if err := m.writePages(from, len(m.origin)); err != nil {
		return err
	}
	for _, p := range m.old.pages {
		if !kept[p.id] {
			m.obsolete = append(m.obsolete, pageKey(p.id))
		}
	}
	return nil
}

// whole reports whether the fences from i on are exactly those of old page p.
func (m *levelMerge) whole(i int, p page) bool {
	if i+p.n > len(m.origin) {
		return false
	}
	for k := range p.n {
		if m.origin[i+k] != m.origin[i]+int32(k) {
			return false
		}
	}
	return true
}

func (m *levelMerge) writePages(from, to int) error {
	for from < to {
		pages := (to - from + pageFences - 1) / pageFences
		n := (to - from + pages - 1) / pages
		id := m.m.NextID.Add(1)
		if err := m.batch.Set(kv.SpaceTripleIndex, pageKey(id),
			encodePage(m.l, id, m.new.fences[from:from+n], m.own[from:from+n])); err != nil {
			return err
		}
		m.fresh = append(m.fresh, pageKey(id))
		m.new.pages = append(m.new.pages, page{id, n})
		from += n
	}
	return nil
}
