package index

import (
	"sync"

	"odarchive/triplestore/internal/lru"
	"odarchive/triplestore/term"
)

// Cache keeps decoded blocks. One cache serves all states of a store: a block's number is never used again for other
// rows. It is safe for concurrent use.
type Cache struct {
	blocks *lru.Cache[[]term.IDQuad]
	codecs sync.Pool
}

const rowBytes = 32

// NewCache makes a cache of about so many bytes.
func NewCache(bytes int64) *Cache {
	return &Cache{blocks: lru.New[[]term.IDQuad](bytes), codecs: sync.Pool{New: func() any { return new(codec) }}}
}
