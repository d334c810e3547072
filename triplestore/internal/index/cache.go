package index

import (
	"encoding/binary"
	"sync"

	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// Cache holds decoded blocks. One cache serves all states of a store, since a block's number is never reused. It may be
// used concurrently.
type Cache struct {
	blocks *segments.Cache[[]term.IDQuad]
	codecs sync.Pool
}

const rowBytes = 32

// NewCache returns a cache of about the given number of bytes.
func NewCache(bytes int64) *Cache {
	return &Cache{blocks: segments.NewCache[[]term.IDQuad](bytes), codecs: sync.Pool{New: func() any { return new(codec) }}}
}

// Forget drops the blocks with the given keys, which a merge has made obsolete. Readers of older states load them
// again.
func (c *Cache) Forget(keys [][]byte) {
	for _, k := range keys {
		if len(k) == 9 && k[0] == 'b' {
			c.blocks.Delete(binary.BigEndian.Uint64(k[1:]))
		}
	}
}
