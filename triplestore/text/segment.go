package text

import (
	"fmt"
	"iter"
	"sort"
	"strings"

	"odarchive/triplestore/fields"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/term"
)

// source is a segment, in memory or stored.
type source interface {
	documents() *docs
	postings(r segments.Reader, term string) (postingList, error)
	each(r segments.Reader, prefix string) iter.Seq2[termEntry, error]
}

// postingList is the postings of one term in one segment.
type postingList struct {
	b    []byte
	docs int
}

type termEntry struct {
	term string
	list postingList
}

// segment is a stored segment. Its documents are in the order of their ids.
type segment struct {
	number uint64
	docs   docs
	firsts []string // first term of each block
	langs  []string // languages of which it has stems
}

// Sizes of stored values.
const (
	blockBytes = 8 << 10 // a block of terms ends after this many bytes
	inlineMax  = 4 << 10 // longer postings are stored in parts
)

const segmentVersion = 1

var errPostings = fmt.Errorf("%w: text: malformed postings", segments.ErrDamaged)

func (s *segment) documents() *docs { return &s.docs }

// has reports whether a document is in the segment.
func (s *segment) has(id term.ID) bool {
	i := sort.Search(len(s.docs.ids), func(i int) bool { return s.docs.ids[i] >= id })
	return i < len(s.docs.ids) && s.docs.ids[i] == id
}

func (s *segment) damaged(what string) error {
	return fmt.Errorf("%w: text segment %d: %s", segments.ErrDamaged, s.number, what)
}

// block returns the index of the last block whose first term is at most term, or -1.
func (s *segment) block(term string) int {
	return sort.Search(len(s.firsts), func(i int) bool { return s.firsts[i] > term }) - 1
}

func (s *segment) postings(r segments.Reader, term string) (list postingList, err error) {
	i := s.block(term)
	if i < 0 {
		return postingList{}, nil
	}
	err = s.readBlock(r, i, func(e blockEntry) (bool, error) {
		if e.term < term {
			return true, nil
		}
		if e.term == term {
			list, err = s.load(r, e)
		}
		return false, err
	})
	return list, err
}

func (s *segment) each(r segments.Reader, prefix string) iter.Seq2[termEntry, error] {
	return func(yield func(termEntry, error) bool) {
		for i := max(0, s.block(prefix)); i < len(s.firsts); i++ {
			more := true
			err := s.readBlock(r, i, func(e blockEntry) (bool, error) {
				if !strings.HasPrefix(e.term, prefix) {
					more = e.term < prefix
					return more, nil
				}
				list, err := s.load(r, e)
				if err != nil {
					return false, err
				}
				more = yield(termEntry{e.term, list}, nil)
				return more, nil
			})
			if err != nil {
				yield(termEntry{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// blockEntry is a term of a block: its postings, or the number of their first piece and their length.
type blockEntry struct {
	term   string
	docs   int
	inline []byte
	piece  uint64
	length uint64 // 0: inline
}

// readBlock calls f with the entries of a block until f returns false.
func (s *segment) readBlock(r segments.Reader, i int, f func(blockEntry) (bool, error)) error {
	raw, err := r(segments.Key('w', s.number, uint64(i)))
	if err != nil {
		return err
	}
	in := fields.Reader{B: raw}
	if in.Byte() != segmentVersion {
		return s.damaged("version of a block")
	}
	prev := ""
	for len(in.B) > 0 {
		shared, size := in.Uvarint(), in.Uvarint()
		if shared > uint64(len(prev)) || size > uint64(len(in.B)) {
			return s.damaged("a term")
		}
		e := blockEntry{term: prev[:shared] + string(in.Bytes(int(size))), docs: int(in.Max(int64(len(s.docs.ids))))}
		prev = e.term
		if e.length = in.Uvarint(); e.length > 0 {
			e.piece = in.Uvarint()
		} else {
			e.inline = in.Bytes(in.Count(1))
		}
		if in.Bad() {
			return s.damaged("a block of terms")
		}
		if more, err := f(e); err != nil || !more {
			return err
		}
	}
	return nil
}

// load returns the postings of an entry.
func (s *segment) load(r segments.Reader, e blockEntry) (postingList, error) {
	if e.length == 0 {
		return postingList{e.inline, e.docs}, nil
	}
	b, err := segments.Parts(r, 'p', s.number, e.piece, e.length)
	if err != nil {
		return postingList{}, err
	}
	return postingList{b, e.docs}, nil
}
