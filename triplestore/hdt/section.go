package hdt

import (
	"bytes"
	"fmt"

	"odarchive/triplestore/rdfio"
)

// section is one section of the dictionary: a sorted list of strings with front coding. The strings are in blocks. The
// first string of a block is stored as a whole; the others are stored as the number of bytes they share with the string
// before, and the rest. Each string ends with NUL.
type section struct {
	what      string   // name of the section, for errors
	strings   uint64   // number of strings
	length    uint64   // bytes of the text
	blockSize uint64   // strings in a block
	blocks    sequence // offsets of the blocks in the text
	offset    int64    // of the text in the file

	// The string that was read last.
	at   uint64 // number of the string, from 1; 0 if none was read
	next uint64 // offset in the text of the next string
	cur  []byte // the string
}

// typeFrontCoded is the type of a section with plain front coding.
const typeFrontCoded = 2

// maxBlock is the maximum number of strings in a block. Finding a string decodes half a block on average; common
// writers make blocks of 16 strings.
const maxBlock = 4096

// section reads the head of a section.
func (in *input) section(what string) (*section, error) {
	s := &section{what: what}
	kind, _, err := in.head(what, false, &s.strings, &s.length, &s.blockSize)
	if err != nil {
		return nil, err
	}
	if kind != typeFrontCoded {
		return nil, unsupported("the %s have the coding %d; only plain front coding (%d) is read", what, kind, typeFrontCoded)
	}
	if s.blockSize == 0 && s.strings > 0 || s.strings > maxEntries || s.strings > s.length {
		return nil, damaged("%d %s in %d bytes and blocks of %d", s.strings, what, s.length, s.blockSize)
	}
	if s.blockSize > maxBlock {
		return nil, unsupported("blocks of %d %s; at most %d are read", s.blockSize, what, maxBlock)
	}
	if s.blocks, err = in.sequence("offsets of the " + what); err != nil {
		return nil, err
	}
	if s.strings > 0 && s.blocks.entries < (s.strings-1)/s.blockSize+1 {
		return nil, damaged("%d offsets for %d %s", s.blocks.entries, s.strings, what)
	}
	s.offset, err = in.data("text of the "+what, s.length)
	return s, err
}

// decoder reads strings of sections and bounds their total length.
type decoder struct {
	pages  *pages
	max    int   // maximum length of a string
	budget int64 // bytes of strings that may still be decoded
}

// get returns string n of a section, counted from 1. It is valid until the next call for the same section.
func (d *decoder) get(s *section, n uint64) ([]byte, error) {
	if n == 0 || n > s.strings {
		return nil, damaged("a triple has number %d of %d %s", n, s.strings, s.what)
	}
	n--
	if block := n / s.blockSize; s.at == 0 || n < s.at-1 || block != (s.at-1)/s.blockSize {
		offset, err := d.pages.number(s.blocks, block)
		if err != nil {
			return nil, err
		}
		s.at, s.next, s.cur = block*s.blockSize, offset, s.cur[:0]
	}
	for s.at <= n {
		if err := d.step(s); err != nil {
			return nil, err
		}
	}
	return s.cur, nil
}

// step reads the string at s.next into s.cur.
func (d *decoder) step(s *section) error {
	keep := uint64(0)
	if s.at%s.blockSize != 0 {
		for shift := 0; ; shift += 7 {
			b, err := d.text(s)
			if err != nil {
				return err
			}
			if shift > 35 {
				return damaged("a number in the text of the %s is too large", s.what)
			}
			keep |= uint64(b[0]&127) << shift
			s.next++
			if b[0]&0x80 != 0 {
				break
			}
		}
		if keep > uint64(len(s.cur)) {
			return damaged("string %d of the %s shares %d bytes with one of %d", s.at+1, s.what, keep, len(s.cur))
		}
	}
	s.cur = s.cur[:keep]
	for {
		b, err := d.text(s)
		if err != nil {
			return err
		}
		end := bytes.IndexByte(b, 0)
		if end >= 0 {
			b = b[:end]
		}
		if len(s.cur)+len(b) > d.max {
			return fmt.Errorf("hdt: string %d of the %s: %w: more than %d bytes", s.at+1, s.what, rdfio.ErrLimit, d.max)
		}
		s.cur = append(s.cur, b...)
		s.next += uint64(len(b))
		if end >= 0 {
			break
		}
	}
	s.next++
	s.at++
	if d.budget -= int64(len(s.cur)) - int64(keep); d.budget < 0 {
		return fmt.Errorf("hdt: %w: the terms are too long for a file of this size", rdfio.ErrLimit)
	}
	return nil
}

// text returns bytes of a section's text from s.next on, up to the end of the page, but at least one byte.
func (d *decoder) text(s *section) ([]byte, error) {
	if s.next >= s.length {
		return nil, damaged("the text of the %s ends within a string", s.what)
	}
	b, err := d.pages.from(s.offset + int64(s.next))
	if err != nil {
		return nil, err
	}
	return b[:min(uint64(len(b)), s.length-s.next)], nil
}
