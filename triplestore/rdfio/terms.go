package rdfio

import (
	"hash/maphash"

	"odarchive/triplestore/term"
)

// keyCache turns bytes of a key into a Key without allocating where the same key was made lately. Predicates, classes,
// datatypes and most subjects come back again and again in every real file. What is found in the cache was valid when
// it was put there and need not be checked again.
type keyCache struct {
	seed   maphash.Seed
	slots  []term.Key
	misses int
}

const (
	smallCache  = 64 // slots for a small document
	largeCache  = 4096
	cacheLength = 256 // longer keys are rarely repeated and are not worth the memory
)

func newKeyCache() *keyCache {
	return &keyCache{seed: maphash.MakeSeed(), slots: make([]term.Key, smallCache)}
}

// find returns the key that consists of b, if it is there, and its slot otherwise.
func (c *keyCache) find(b []byte) (term.Key, *term.Key) {
	if len(b) > cacheLength {
		return "", nil
	}
	hash := maphash.Bytes(c.seed, b)
	slot := &c.slots[hash&uint64(len(c.slots)-1)]
	if string(*slot) == string(b) {
		return *slot, slot
	}
	if c.misses++; c.misses == 2*smallCache {
		c.slots = make([]term.Key, largeCache)
		slot = &c.slots[hash&(largeCache-1)]
	}
	return "", slot
}

// key makes or finds the key.
func (c *keyCache) key(b []byte) term.Key {
	k, slot := c.find(b)
	if k != "" {
		return k
	}
	return put(slot, b)
}

func put(slot *term.Key, b []byte) term.Key {
	k := term.Key(b)
	if slot != nil {
		*slot = k
	}
	return k
}
