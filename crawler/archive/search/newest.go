package search

import "hash/maphash"

// Newest remembers the postings of the chunk of the newest documents, so that registering many new documents does not
// look for postings that cannot exist. It may take a posting for present that is not, never the reverse. The zero value
// remembers nothing. It is used by one writer at a time.
type Newest struct {
	tracked bool
	chunk   uint32
	seed    maphash.Seed
	present map[uint64]struct{} // hashes of field and word
}

// maxPresent bounds the memory of Newest to about 5 MB. A chunk with more words is not remembered.
const maxPresent = 1 << 17

// Add must be called for every document when it is numbered, in the order of numbers. Documents numbered by a
// transaction that fails are numbered again.
func (n *Newest) Add(doc uint32) {
	if doc%chunkDocs == 0 {
		*n = Newest{tracked: true, chunk: doc >> chunkBits, seed: maphash.MakeSeed(), present: map[uint64]struct{}{}}
	}
}

// note reports whether the database may have a posting with a key, and remembers that it will.
func (n *Newest) note(key string) (may bool) {
	if n == nil || !n.tracked || chunkOf(key) != n.chunk {
		return true
	}
	word := maphash.String(n.seed, key)
	if _, may = n.present[word]; !may {
		n.present[word] = struct{}{}
	}
	if len(n.present) > maxPresent {
		*n = Newest{}
	}
	return may
}
