package hdt

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strconv"

	"odarchive/triplestore/term"
)

// Options configure a Reader. The zero value is useful.
type Options struct {
	// BlankPrefix is put before the label of every blank node (see rdfio.Options).
	BlankPrefix string
	// Memory is the approximate number of bytes of the file that a Reader caches; default 128 MiB. If the dictionary is
	// larger, parts of it are read several times.
	Memory int64
	// MaxTerm is the maximum length of a term in bytes; default 16 MiB.
	MaxTerm int
	// Ratio bounds the length of all terms together: 64 MiB, plus Ratio bytes per byte of the file; default 1,000.
	Ratio int64
}

// Reader returns the triples of a file, ordered by the file's numbers for subject, predicate and object. It is not
// safe for concurrent use and need not be read to the end.
type Reader struct {
	opts                                 Options
	dec                                  decoder
	shared, subjects, predicates, object *section
	bitsY, bitsZ, seqY, seqZ             *bitReader
	triples                              uint64 // in the file
	n                                    uint64 // read so far
	s, p                                 uint64
	lastY, lastZ                         bool // the last predicate and object ended their lists
	subject, predicate                   term.Key
	known                                []term.Key // predicates
	recent                               []recent
	err                                  error
}

// recent is a slot of the cache of objects. The cache pays because a few classes, flags and units are the objects of
// many triples.
type recent struct {
	id  uint64
	key term.Key
}

const (
	recentSlots = 1 << 13
	recentTerm  = 512     // longer terms are not cached
	maxKnown    = 1 << 16 // predicates that are cached
)

// Open opens an HDT file of size bytes and verifies all its checksums. Errors wrap ErrDamaged, ErrUnsupported or
// rdfio.ErrLimit, or come from ra or ctx.
func Open(ctx context.Context, ra io.ReaderAt, size int64, o Options) (*Reader, error) {
	o.Memory = cmp.Or(max(o.Memory, 0), 128<<20)
	o.MaxTerm = cmp.Or(max(o.MaxTerm, 0), 16<<20)
	o.Ratio = cmp.Or(max(o.Ratio, 0), 1000)
	r := &Reader{opts: o, lastY: true, lastZ: true}
	in := newInput(ctx, ra, size)
	if err := r.header(in); err != nil {
		return nil, err
	}
	if err := r.dictionary(in); err != nil {
		return nil, err
	}
	if err := r.bitmapTriples(in, ra); err != nil {
		return nil, err
	}
	budget := int64(64 << 20)
	if size < (1<<62)/o.Ratio {
		budget += size * o.Ratio
	}
	r.dec = decoder{pages: newPages(ra, size, o.Memory), max: o.MaxTerm, budget: budget}
	r.known = make([]term.Key, min(r.predicates.strings, maxKnown))
	return r, nil
}

// header skips the first two parts, whose content is not needed.
func (r *Reader) header(in *input) error {
	if _, err := in.control(controlGlobal, formatGlobal, "file"); err != nil {
		return err
	}
	c, err := in.control(controlHeader, formatHeader, "header")
	if err != nil {
		return err
	}
	length, err := c.number("length")
	if err != nil {
		return err
	}
	if length > uint64(in.size-in.at) {
		return damaged("the header has %d bytes and the file only %d", length, in.size-in.at)
	}
	in.at += int64(length)
	in.br.Reset(io.NewSectionReader(in.ra, in.at, in.size-in.at))
	return nil
}

func (r *Reader) dictionary(in *input) (err error) {
	if _, err = in.control(controlDictionary, formatDictionary, "dictionary"); err != nil {
		return err
	}
	for _, s := range []struct {
		to   **section
		what string
	}{{&r.shared, "shared terms"}, {&r.subjects, "subjects"}, {&r.predicates, "predicates"}, {&r.object, "objects"}} {
		if *s.to, err = in.section(s.what); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) bitmapTriples(in *input, ra io.ReaderAt) error {
	c, err := in.control(controlTriples, formatTriples, "list of triples")
	if err != nil {
		return err
	}
	if order := c.properties["order"]; order != "1" {
		return unsupported("the triples are in the order %s; only 1 (subject, predicate, object) is read", quoted(order))
	}
	bitsY, err := in.bitmap("bitmap of predicates")
	if err != nil {
		return err
	}
	bitsZ, err := in.bitmap("bitmap of objects")
	if err != nil {
		return err
	}
	seqY, err := in.sequence("list of predicates")
	if err != nil {
		return err
	}
	seqZ, err := in.sequence("list of objects")
	if err != nil {
		return err
	}
	if bitsY.entries != seqY.entries || bitsZ.entries != seqZ.entries {
		return damaged("bitmaps of %d and %d bits for %d predicates and %d objects", bitsY.entries, bitsZ.entries, seqY.entries,
			seqZ.entries)
	}
	r.triples = seqZ.entries
	r.recent = make([]recent, min(seqZ.entries+1, recentSlots))
	r.bitsY, r.bitsZ = newBitReader(ra, bitsY), newBitReader(ra, bitsZ)
	r.seqY, r.seqZ = newBitReader(ra, seqY), newBitReader(ra, seqZ)
	return nil
}

// Triples returns the number of triples in the file.
func (r *Reader) Triples() uint64 { return r.triples }

// Read returns the next triple, or io.EOF after the last. It repeats any other error until Skip.
func (r *Reader) Read() (term.Quad, error) {
	if r.err != nil {
		return term.Quad{}, r.err
	}
	q, err := r.read()
	if err != nil {
		if bad, ok := errors.AsType[*BadTermError](err); ok {
			bad.Triple = r.n
		}
		r.err = err
	}
	return q, err
}

// Skip skips the triple for which Read returned a *BadTermError. It returns false after any other error: then reading
// cannot continue.
func (r *Reader) Skip() bool {
	if _, ok := errors.AsType[*BadTermError](r.err); !ok {
		return false
	}
	r.err = nil
	return true
}

func (r *Reader) read() (q term.Quad, err error) {
	o, ok, err := r.step()
	if err != nil || !ok {
		return q, cmp.Or(err, io.EOF)
	}
	if r.subject == "" {
		if r.subject, err = r.node(r.subjects, r.s, false); err != nil {
			return q, err
		}
	}
	if r.predicate == "" {
		if r.predicate, err = r.property(r.p); err != nil {
			return q, err
		}
	}
	slot := &r.recent[o%uint64(len(r.recent))]
	if slot.id != o {
		k, err := r.node(r.object, o, true)
		if err != nil {
			return q, err
		}
		if len(k) > recentTerm {
			return term.Quad{S: r.subject, P: r.predicate, O: k}, nil
		}
		*slot = recent{o, k}
	}
	return term.Quad{S: r.subject, P: r.predicate, O: slot.key}, nil
}

// step moves to the next triple and returns the number of its object.
func (r *Reader) step() (o uint64, ok bool, err error) {
	if r.lastZ {
		if r.lastY {
			r.s++
			r.subject = ""
		}
		p, ok, err := r.seqY.next()
		if err != nil || !ok {
			if err == nil && (r.n != r.triples || !r.lastY) {
				err = damaged("%d of %d triples have a predicate", r.n, r.triples)
			}
			return 0, false, err
		}
		if p != r.p || r.lastY {
			r.p, r.predicate = p, ""
		}
		last, _, err := r.bitsY.next()
		if err != nil {
			return 0, false, err
		}
		r.lastY = last == 1
	}
	o, ok, err = r.seqZ.next()
	if err == nil && !ok {
		err = damaged("more predicates than the objects of %d triples", r.triples)
	}
	if err != nil {
		return 0, false, err
	}
	last, _, err := r.bitsZ.next()
	r.lastZ = last == 1
	r.n++
	if o == 0 && err == nil {
		err = damaged("triple %d has no object", r.n)
	}
	return o, true, err
}

// node returns the subject or object with number n. The shared terms have the lowest numbers; the others are in section
// s. literal reports whether a term of s may be a literal.
func (r *Reader) node(s *section, n uint64, literal bool) (term.Key, error) {
	if n <= r.shared.strings {
		s, literal = r.shared, false
	} else {
		n -= r.shared.strings
	}
	b, err := r.dec.get(s, n)
	if err != nil {
		return "", err
	}
	k, err := parse(b, r.opts.BlankPrefix)
	if err == nil && !literal && k.Kind() == term.KindLiteral {
		err = badTerm(b, "a literal is no subject")
	}
	return k, err
}

// property returns the predicate with number n.
func (r *Reader) property(n uint64) (term.Key, error) {
	if n == 0 || n > uint64(len(r.known)) || r.known[n-1] == "" {
		b, err := r.dec.get(r.predicates, n)
		if err != nil {
			return "", err
		}
		k, err := parse(b, "")
		if err == nil && k.Kind() != term.KindIRI {
			err = badTerm(b, "a predicate must be an IRI")
		}
		if err != nil || n > uint64(len(r.known)) {
			return k, err
		}
		r.known[n-1] = k
	}
	return r.known[n-1], nil
}

func utoa(n uint64) string { return strconv.FormatUint(n, 10) }
