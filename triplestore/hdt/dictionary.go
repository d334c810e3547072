package hdt

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"odarchive/triplestore/rdfio"
)

// blockStrings is the number of strings in a block of a dictionary section.
const blockStrings = 16

// sectionWriter writes one section of the dictionary.
type sectionWriter struct {
	text    spool
	offsets spool  // offsets of the blocks in text, 8 bytes each
	n       uint64 // strings
	last    []byte // the last string
	buf     []byte
}

// add appends a string, which must be greater than the last one, and returns its number, counted from 1.
func (w *sectionWriter) add(s []byte) uint64 {
	w.buf = w.buf[:0]
	keep := 0
	if w.n%blockStrings == 0 {
		w.offset()
	} else {
		keep = shared(w.last, s)
		w.buf = appendVByte(w.buf, uint64(keep))
	}
	w.buf = append(append(w.buf, s[keep:]...), 0)
	w.text.Write(w.buf)
	w.last = append(w.last[:keep], s[keep:]...)
	w.n++
	return w.n
}

// offset appends the offset of a block that begins at the end of the text.
func (w *sectionWriter) offset() {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(w.text.n))
	w.offsets.Write(b[:])
}

// copyTo writes the section to out.
func (w *sectionWriter) copyTo(out io.Writer) error {
	w.offset() // the format ends the list with the offset of the block that would follow
	head := []byte{typeFrontCoded}
	head = appendVByte(appendVByte(appendVByte(head, w.n), uint64(w.text.n)), blockStrings)
	if _, err := out.Write(append(head, crc8(head))); err != nil {
		return err
	}
	in, err := w.offsets.open()
	if err != nil {
		return err
	}
	packed := spool{dir: w.offsets.dir}
	defer packed.close()
	bits := bitWriter{out: &packed, bits: width(uint64(w.text.n))}
	r := bufio.NewReaderSize(in, readAhead)
	for {
		b, err := r.Peek(8)
		if len(b) < 8 {
			if err == io.EOF && len(b) == 0 {
				break
			}
			return err
		}
		bits.add(binary.LittleEndian.Uint64(b))
		r.Discard(8)
	}
	if err := bits.copyTo(out); err != nil {
		return err
	}
	return w.text.copyTo(out)
}

// copyTo writes the sequence to out.
func (w *bitWriter) copyTo(out io.Writer) error {
	w.end()
	head := appendVByte([]byte{typeSequence, byte(w.bits)}, w.n)
	if _, err := out.Write(append(head, crc8(head))); err != nil {
		return err
	}
	return w.out.copyTo(out)
}

// copyBitmapTo writes the numbers, which must have one bit each, to out as a bitmap.
func (w *bitWriter) copyBitmapTo(out io.Writer) error {
	w.end()
	if w.n == 0 {
		w.out.Write([]byte{0}) // hdt-cpp expects a byte of data in an empty bitmap
	}
	head := appendVByte([]byte{typeBitmap}, w.n)
	if _, err := out.Write(append(head, crc8(head))); err != nil {
		return err
	}
	return w.out.copyTo(out)
}

func (w *sectionWriter) close() {
	w.text.close()
	w.offsets.close()
}

// Sections of the dictionary, in the order of the file.
const (
	sectionShared = iota
	sectionSubjects
	sectionPredicates
	sectionObjects
	sections
)

// place is the place of a term in the dictionary. Numbers are counted from 1.
type place struct {
	node      uint32 // number in section; 0 if the term is neither a subject nor an object
	predicate uint32 // number among the predicates; 0 if the term is not a predicate
	section   byte   // of node
}

// merger merges the terms of all chunks into the sections.
type merger struct {
	sources  []termSource
	heads    [][]byte // the next term of each source; nil after the last one
	roles    []byte   // of the heads
	heap     []int    // heap of the sources with a head, ordered by head
	sections [sections]sectionWriter
}

// merge fills the sections. It calls placed with the place of each term of each chunk, in the order of the chunk's
// terms. check is called now and then, to find out whether to stop.
func (m *merger) merge(placed func(chunk int, p place) error, check func() error) error {
	m.heads, m.roles = make([][]byte, len(m.sources)), make([]byte, len(m.sources))
	for i := range m.sources {
		if err := m.advance(i); err != nil {
			return err
		}
		if m.heads[i] != nil {
			m.heap = append(m.heap, i)
			m.up(len(m.heap) - 1)
		}
	}
	var same []int
	for n := 0; len(m.heap) > 0; n++ {
		if n&0xFFFF == 0 {
			if err := check(); err != nil {
				return err
			}
		}
		// same gets all sources whose head is the smallest term. They advance only after the term is written.
		same = same[:0]
		roles := byte(0)
		for len(m.heap) > 0 && (len(same) == 0 || bytes.Equal(m.heads[m.heap[0]], m.heads[same[0]])) {
			i := m.heap[0]
			same = append(same, i)
			roles |= m.roles[i]
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
			m.down(0)
		}
		p, err := m.write(m.heads[same[0]], roles)
		if err != nil {
			return err
		}
		for _, i := range same {
			if err := placed(i, p); err != nil {
				return err
			}
			if err := m.advance(i); err != nil {
				return err
			}
			if m.heads[i] != nil {
				m.heap = append(m.heap, i)
				m.up(len(m.heap) - 1)
			}
		}
	}
	return nil
}

// write adds a term to its sections.
func (m *merger) write(s []byte, roles byte) (p place, err error) {
	var n uint64
	switch {
	case roles&(isSubject|isObject) == isSubject|isObject:
		p.section = sectionShared
	case roles&isSubject != 0:
		p.section = sectionSubjects
	case roles&isObject != 0:
		p.section = sectionObjects
	}
	if roles&(isSubject|isObject) != 0 {
		n = m.sections[p.section].add(s)
		p.node = uint32(n)
	}
	if roles&isPredicate != 0 {
		p.predicate = uint32(m.sections[sectionPredicates].add(s))
	}
	if n+m.sections[sectionShared].n > math.MaxUint32 {
		err = fmt.Errorf("hdt: %w: more than %d terms", rdfio.ErrLimit, uint32(math.MaxUint32))
	}
	return p, err
}

// advance reads the next term of a source.
func (m *merger) advance(i int) error {
	s, roles, err := m.sources[i].next()
	if errors.Is(err, io.EOF) {
		s, err = nil, nil
	}
	m.heads[i], m.roles[i] = s, roles
	return err
}

func (m *merger) less(i, j int) bool {
	return bytes.Compare(m.heads[m.heap[i]], m.heads[m.heap[j]]) < 0
}

func (m *merger) up(i int) {
	for i > 0 && m.less(i, (i-1)/2) {
		m.heap[i], m.heap[(i-1)/2] = m.heap[(i-1)/2], m.heap[i]
		i = (i - 1) / 2
	}
}

func (m *merger) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(m.heap) {
			return
		}
		if child+1 < len(m.heap) && m.less(child+1, child) {
			child++
		}
		if !m.less(child, i) {
			return
		}
		m.heap[i], m.heap[child] = m.heap[child], m.heap[i]
		i = child
	}
}

func (m *merger) close() {
	for i := range m.sections {
		m.sections[i].close()
	}
}
