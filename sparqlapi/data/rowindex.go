package data

import (
	"sort"
	"sync"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/csvprofile"
)

// rowIndex remembers where groups of rows begin in the files of tables, about one for each megabyte, as far as somebody
// has read them. A page far from the beginning is then read from the group that it is in. The index has nothing of what
// the files contain, and is lost with the process: the next reader makes it again. Its methods may be called
// concurrently.
type rowIndex struct {
	mu    sync.Mutex // guards what follows
	list  map[indexKey]*rowGroups
	clock int64 // of uses
}

// indexKey is a table, and how it is read.
type indexKey struct {
	tableKey
	dialect csvprofile.Dialect
	rows    int64
}

// rowGroups are the groups of a table, in order.
type rowGroups struct {
	marks []csvprofile.Mark
	apart int // marks that are found for each that is kept
	seen  int // marks found since the last that is kept
	used  int64
}

// Limits of the index: at most 6 MB.
const (
	maxIndexed = 250  // tables
	maxGroups  = 1000 // of a table; a larger table has larger groups
)

func indexKeyOf(v catalog.Version, t archive.Table) indexKey {
	return indexKey{keyOf(v, t), t.Profile.Dialect, t.Profile.Rows}
}

// before returns the last known group that begins at a row or before it, nil if there is none.
func (x *rowIndex) before(v catalog.Version, t archive.Table, row int64) *csvprofile.Mark {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.list[indexKeyOf(v, t)]
	if g == nil {
		return nil
	}
	x.clock++
	g.used = x.clock
	i := sort.Search(len(g.marks), func(i int) bool { return g.marks[i].Row > row })
	if i == 0 {
		return nil
	}
	m := g.marks[i-1]
	return &m
}

// teller returns a function that adds the groups which a reader finds.
func (x *rowIndex) teller(v catalog.Version, t archive.Table) func(csvprofile.Mark) {
	key := indexKeyOf(v, t)
	return func(m csvprofile.Mark) { x.add(key, m) }
}

func (x *rowIndex) add(key indexKey, m csvprofile.Mark) {
	x.mu.Lock()
	defer x.mu.Unlock()
	g := x.list[key]
	if g == nil {
		if x.list == nil {
			x.list = map[indexKey]*rowGroups{}
		}
		if len(x.list) >= maxIndexed {
			x.drop()
		}
		x.clock++
		g = &rowGroups{apart: 1, used: x.clock}
		x.list[key] = g
	}
	if n := len(g.marks); n > 0 && m.Row <= g.marks[n-1].Row {
		return // known from an earlier reader
	}
	if g.seen++; g.seen < g.apart {
		return
	}
	g.seen = 0
	if g.marks = append(g.marks, m); len(g.marks) < maxGroups {
		return
	}
	kept := g.marks[:0]
	for i := 1; i < len(g.marks); i += 2 {
		kept = append(kept, g.marks[i])
	}
	g.marks, g.apart = kept, g.apart*2
}

// drop removes the table that was not used for longest.
func (x *rowIndex) drop() {
	var oldest indexKey
	first := true
	for key, g := range x.list {
		if first || g.used < x.list[oldest].used {
			oldest, first = key, false
		}
	}
	delete(x.list, oldest)
}
