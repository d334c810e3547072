package disktest

import "math/rand/v2"

const pageSize = 4096 // size of a kernel's atomic write

// change is a write to a file or a truncation.
type change struct {
	off  int64
	data []byte // nil: truncate to size off
}

// contents are the bytes of a file: as programs see them, as they are on disk, and the changes in between.
type contents struct {
	now, durable []byte
	pending      []change
}

func (c *contents) write(off int64, p []byte) {
	if len(p) == 0 {
		return
	}
	change := change{off, append([]byte(nil), p...)}
	c.now = apply(c.now, change)
	c.pending = append(c.pending, change)
}

func (c *contents) truncate(size int64) {
	c.now = resize(c.now, size)
	c.pending = append(c.pending, change{off: size})
}

// sync makes the changes durable. Bytes lost by a failed sync stay lost: the kernel considers them written.
func (c *contents) sync() {
	for _, change := range c.pending {
		c.durable = apply(c.durable, change)
	}
	c.durable = resize(c.durable, int64(len(c.now)))
	c.pending = nil
}

// syncFailed drops the changes, except some pages that reached the disk before the error.
func (c *contents) syncFailed(r *rand.Rand) {
	c.durable = somePages(r, c.durable, c.pending, int64(len(c.now)))
	c.pending = nil
}

// crashed returns what a power failure leaves: the durable bytes and, of the later changes, none, all, the first ones,
// or random pages.
func (c *contents) crashed(r *rand.Rand) []byte {
	left := append([]byte(nil), c.durable...)
	switch r.IntN(4) {
	case 0:
		return left
	case 1:
		for _, change := range c.pending {
			left = apply(left, change)
		}
		return left
	case 2:
		return firstBytes(r, left, c.pending)
	default:
		return somePages(r, left, c.pending, int64(len(c.now)))
	}
}

// firstBytes applies the changes up to a random byte of their data.
func firstBytes(r *rand.Rand, b []byte, pending []change) []byte {
	total := 0
	for _, change := range pending {
		total += len(change.data) + 1 // a truncation counts as a byte
	}
	rest := r.IntN(total + 1)
	for _, change := range pending {
		if n := len(change.data) + 1; n <= rest {
			b, rest = apply(b, change), rest-n
			continue
		}
		if rest > 0 {
			change.data = change.data[:min(rest, len(change.data))]
			b = apply(b, change)
		}
		break
	}
	return b
}

// somePages applies random pages of the changes. The file may still reach size, with zeros in between.
func somePages(r *rand.Rand, b []byte, pending []change, size int64) []byte {
	written := map[int64]bool{} // a page is written with all its changes or with none
	chosen := func(page int64) bool {
		yes, ok := written[page]
		if !ok {
			yes = r.IntN(2) == 0
			written[page] = yes
		}
		return yes
	}
	const sizes = -1
	for _, c := range pending {
		if c.data == nil {
			if chosen(sizes) {
				b = apply(b, c)
			}
			continue
		}
		for len(c.data) > 0 {
			n := min(int64(len(c.data)), pageSize-c.off%pageSize)
			if chosen(c.off / pageSize) {
				b = apply(b, change{c.off, c.data[:n]})
			}
			c.off, c.data = c.off+n, c.data[n:]
		}
	}
	if int64(len(b)) < size && r.IntN(2) == 0 {
		b = resize(b, size)
	}
	return b
}

func apply(b []byte, c change) []byte {
	if c.data == nil {
		return resize(b, c.off)
	}
	if end := c.off + int64(len(c.data)); end > int64(len(b)) {
		b = resize(b, end)
	}
	copy(b[c.off:], c.data)
	return b
}

// resize truncates b or pads it with zeros.
func resize(b []byte, size int64) []byte {
	old := int64(len(b))
	if size <= old {
		clear(b[size:]) // zeros in case it grows again
		return b[:size]
	}
	if size <= int64(cap(b)) {
		return b[:size]
	}
	grown := make([]byte, size, max(size, 2*old))
	copy(grown, b)
	return grown
}
