package rdfio

import (
	"hash/maphash"

	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
)

// terms makes the keys of one document's terms.
type terms struct {
	blank blanks
	keys  keyCache
	buf   []byte
}

func newTerms(o Options) terms {
	return terms{blank: blanks{prefix: o.BlankPrefix}, keys: keyCache{seed: maphash.MakeSeed(), slots: make([]term.Key, smallCache)}}
}

// label returns the blank node that the document labels so.
func (t *terms) label(label []byte) term.Key {
	t.buf = t.blank.appendLabelled(t.buf[:0], label)
	return t.keys.key(t.buf)
}

// resolve returns the IRI that ref means under base, and checks its characters.
func (t *terms) resolve(base *iri.Base, ref []byte) (term.Key, error) {
	t.buf = append(append(t.buf[:0], '<'), ref...)
	if k, _ := t.keys.find(t.buf); k != "" {
		return k, nil
	}
	if err := iri.CheckChars(ref); err != nil {
		return "", err
	}
	abs, err := base.Resolve(string(ref))
	if err != nil {
		return "", err
	}
	t.buf = append(append(t.buf[:0], '<'), abs...)
	return t.keys.key(t.buf), nil
}

// literal returns the literal with the lexical form lex. Without a language it has the datatype, xsd:string if that is
// empty too.
func (t *terms) literal(lex []byte, lang, datatype string) term.Key {
	t.buf = append(append(t.buf[:0], '"'), lex...)
	n := len(t.buf)
	switch {
	case lang != "":
		t.buf = appendLang(t.buf, lang)
	case datatype != "" && datatype != term.XSDString:
		t.buf = appendTyped(t.buf, datatype)
	default:
		n = 0
	}
	return t.keys.key(t.buf[n:])
}

// appendLang appends to lex, a lexical form after a quote, the key of the literal with that form and the language tag.
// The key begins at the old length of lex.
func appendLang[T string | []byte](lex []byte, tag T) []byte {
	b := append(lex, '@')
	for i := range len(tag) {
		c := tag[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		b = append(b, c)
	}
	b = append(b, 0)
	return append(b, lex[1:]...)
}

// appendTyped is appendLang for a datatype.
func appendTyped(lex []byte, datatype string) []byte {
	b := append(lex, '^')
	b = append(b, datatype...)
	b = append(b, 0)
	return append(b, lex[1:]...)
}

// keyCache turns bytes into keys without allocating a key that was made recently. Predicates, classes, datatypes and
// most subjects of real files are repeated. Keys in the cache have been checked.
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

// find returns the cached key that consists of b, or "" and the slot to put it into. The slot is nil if b is too long.
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

// key returns the key that consists of b.
func (c *keyCache) key(b []byte) term.Key {
	k, slot := c.find(b)
	if k != "" {
		return k
	}
	return put(slot, b)
}

// put makes the key that consists of b and caches it in slot, which may be nil.
func put(slot *term.Key, b []byte) term.Key {
	k := term.Key(b)
	if slot != nil {
		*slot = k
	}
	return k
}

// queue hands out statements that a decoder makes several at a time.
type queue struct {
	out  []term.Quad
	next int // index in out
}

// read returns the next statement, and calls step, which appends to out, while there is none.
func (q *queue) read(step func() error) (term.Quad, error) {
	for q.next == len(q.out) {
		q.out, q.next = q.out[:0], 0
		if err := step(); err != nil {
			return term.Quad{}, err
		}
	}
	q.next++
	return q.out[q.next-1], nil
}
