package hdt

import (
	"io"
)

// pages reads a file at random and caches pages of it. A page is in the slot of its number modulo the number of slots.
type pages struct {
	ra    io.ReaderAt
	size  int64
	slots []page
}

type page struct {
	number int64 // number of the page plus 1; 0 means that the slot is empty
	data   []byte
}

const pageSize = 32 << 10

// newPages returns pages that cache at most memory bytes, or 1 MiB if memory is less.
func newPages(ra io.ReaderAt, size, memory int64) *pages {
	n := max(memory, 1<<20) / pageSize
	return &pages{ra: ra, size: size, slots: make([]page, min(n, size/pageSize+1))}
}

// from returns the bytes from an offset to the end of its page. They are valid until the next call.
func (p *pages) from(offset int64) ([]byte, error) {
	if offset < 0 || offset >= p.size {
		return nil, io.ErrUnexpectedEOF
	}
	number := offset / pageSize
	slot := &p.slots[number%int64(len(p.slots))]
	if slot.number != number+1 {
		n := min(pageSize, p.size-number*pageSize)
		if slot.data == nil {
			slot.data = make([]byte, pageSize)
		}
		slot.number, slot.data = 0, slot.data[:n]
		if m, err := p.ra.ReadAt(slot.data, number*pageSize); int64(m) < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		slot.number = number + 1
	}
	return slot.data[offset%pageSize:], nil
}

// number returns the i-th number of a sequence.
func (p *pages) number(s sequence, i uint64) (n uint64, err error) {
	bit := i * uint64(s.bits)
	at, shift := s.offset+int64(bit/8), uint(bit%8)
	for got := uint(0); got < s.bits+shift; {
		b, err := p.from(at)
		if err != nil {
			return 0, err
		}
		for len(b) > 0 && got < s.bits+shift {
			if got >= shift {
				n |= uint64(b[0]) << (got - shift)
			} else {
				n |= uint64(b[0]) >> (shift - got)
			}
			b = b[1:]
			at++
			got += 8
		}
	}
	return n & mask(s.bits), nil
}
