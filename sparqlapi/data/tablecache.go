package data

import (
	"slices"
	"sync"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
)

// tableKey identifies a table by the digest of its file, so that what is remembered of it is never another's.
type tableKey struct {
	sha    [32]byte
	member string
	index  int
}

func keyOf(v catalog.Version, t archive.Table) tableKey {
	return tableKey{v.Digests.SHA256, t.Member, t.Index}
}

// oddColumns remembers columns that have values which are not of the datatype of the profile, for the files that cannot
// hold those. Its methods may be called concurrently.
type oddColumns struct {
	mu   sync.Mutex // guards list
	list map[tableKey][]int
}

const maxOddTables = 1000

func (o *oddColumns) of(v catalog.Version, t archive.Table) []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list[keyOf(v, t)])
}

func (o *oddColumns) add(v catalog.Version, t archive.Table, column int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil || len(o.list) >= maxOddTables {
		o.list = map[tableKey][]int{}
	}
	if k := keyOf(v, t); !slices.Contains(o.list[k], column) {
		o.list[k] = append(o.list[k], column)
	}
}
