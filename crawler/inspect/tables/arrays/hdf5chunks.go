package arrays

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"slices"

	"odarchive/crawler/inspect/tables/source"
)

// piece is a chunk in the file.
type piece struct {
	first int64 // its first element
	addr  uint64
	size  int
	mask  int // filters that were not used
}

// elements returns a function that returns the elements of a data set one by one.
func (h *h5) elements(d *dataset) (func() ([]byte, error), error) {
	size := int64(d.typ.size)
	fill := make([]byte, size)
	if len(d.fill) == int(size) {
		copy(fill, d.fill)
	}
	at := int64(0)
	switch {
	case d.chunk > 0:
		pieces, err := h.chunks(d)
		if err != nil {
			return nil, err
		}
		var b []byte
		var from int64 // of b, in elements
		return func() ([]byte, error) {
			if at >= d.length {
				return nil, io.EOF
			}
			for len(pieces) > 0 && at >= pieces[0].first {
				p := pieces[0]
				pieces = pieces[1:]
				if at >= p.first+d.chunk {
					continue
				}
				if b, err = h.unfilter(d, p); err != nil {
					return nil, err
				}
				from = p.first
			}
			at++
			if i := at - 1 - from; b != nil && i >= 0 && i < d.chunk {
				return b[i*size:][:size], nil
			}
			return fill, nil
		}, nil
	case d.inline != nil:
		return func() ([]byte, error) {
			if at++; at > d.length {
				return nil, io.EOF
			}
			return d.inline[(at-1)*size:][:size], nil
		}, nil
	}
	w := &window{r: h.r, size: h.size}
	return func() ([]byte, error) {
		if at++; at > d.length {
			return nil, io.EOF
		}
		if d.addr == undefined {
			return fill, nil
		}
		return w.at(h.base+int64(d.addr)+(at-1)*size, size, size)
	}, nil
}

// maxPieces bounds the chunks of a data set.
const maxPieces = 1 << 20

// chunks returns the chunks of a data set in order.
func (h *h5) chunks(d *dataset) (all []piece, err error) {
	if d.addr == undefined {
		return nil, nil
	}
	if d.single > 0 {
		return []piece{{addr: d.addr, size: int(min(d.single, maxChunk+1)), mask: d.mask}}, nil
	}
	err = h.tree(d.addr, 8+16, 0, func(key []byte, child uint64) error {
		c := &cursor{b: key}
		p := piece{size: c.u32(), mask: c.u32(), addr: child}
		first := c.uint(8)
		if len(all) >= maxPieces || first > uint64(d.length) {
			return errHDF5
		}
		p.first = int64(first)
		all = append(all, p)
		return nil
	})
	slices.SortFunc(all, func(a, b piece) int { return int(max(-1, min(1, a.first-b.first))) })
	return all, err
}

// unfilter reads a chunk.
func (h *h5) unfilter(d *dataset, p piece) ([]byte, error) {
	want := int(d.chunk) * d.typ.size
	if p.size > 2*maxChunk || p.size > 2*want+1<<20 {
		return nil, errHDF5
	}
	h.left += p.size // values are not metadata
	b, err := h.at(p.addr, p.size)
	if err != nil {
		return nil, err
	}
	for i := len(d.filters) - 1; i >= 0; i-- {
		if i < 32 && p.mask>>i&1 == 1 {
			continue
		}
		switch f := d.filters[i]; f.id {
		case deflate:
			z, err := zlib.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, fmt.Errorf("%w: a chunk is damaged: %v", source.ErrFormat, err)
			}
			var out bytes.Buffer
			out.Grow(want + 16)
			if _, err := io.Copy(&out, io.LimitReader(z, int64(want)+16)); err != nil {
				return nil, fmt.Errorf("%w: a chunk is damaged: %v", source.ErrFormat, err)
			}
			b = out.Bytes()
		case shuffle:
			size := d.typ.size
			if len(f.values) > 0 && f.values[0] > 0 {
				size = f.values[0]
			}
			b = unshuffle(b, size)
		case fletcher:
			b = b[:max(len(b)-4, 0)]
		}
	}
	if len(b) < want {
		return nil, fmt.Errorf("%w: a chunk has %d bytes, not %d", source.ErrFormat, len(b), want)
	}
	return b[:want], nil
}

// unshuffle puts the bytes of each element together again.
func unshuffle(b []byte, size int) []byte {
	n := len(b) / size
	if size < 2 || n < 2 {
		return b
	}
	out := make([]byte, len(b))
	for i := range n {
		for j := range size {
			out[i*size+j] = b[j*n+i]
		}
	}
	copy(out[n*size:], b[n*size:])
	return out
}
