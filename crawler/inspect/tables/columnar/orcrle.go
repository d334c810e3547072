package columnar

import (
	"bufio"
	"errors"
	"io"
)

// orcInts reads integers of one of the two encodings of runs.
type orcInts struct {
	r      *bufio.Reader
	second bool // version 2
	signed bool
	buf    []int64
	at     int
}

var errRun = errors.New("a run of numbers is damaged")

// early returns an error of a stream that ended although more was to come.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// next returns the next integer.
func (d *orcInts) next() (int64, error) {
	if d.at >= len(d.buf) {
		d.buf, d.at = d.buf[:0], 0
		read := d.first
		if d.second {
			read = d.run
		}
		if err := read(); err != nil {
			return 0, err
		}
		if len(d.buf) == 0 {
			return 0, errRun
		}
	}
	d.at++
	return d.buf[d.at-1], nil
}

// varint reads a number in variable length.
func (d *orcInts) varint(signed bool) (int64, error) {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		c, err := d.r.ReadByte()
		if err != nil {
			return 0, early(err)
		}
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 {
			break
		}
	}
	if signed {
		return zigzag(v), nil
	}
	return int64(v), nil
}

func zigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// first reads a run of version 1.
func (d *orcInts) first() error {
	c, err := d.r.ReadByte()
	if err != nil {
		return early(err)
	}
	if c < 128 {
		delta, err := d.r.ReadByte()
		if err != nil {
			return early(err)
		}
		base, err := d.varint(d.signed)
		if err != nil {
			return err
		}
		for i := range int64(c) + 3 {
			d.buf = append(d.buf, base+i*int64(int8(delta)))
		}
		return nil
	}
	for range 256 - int(c) {
		v, err := d.varint(d.signed)
		if err != nil {
			return err
		}
		d.buf = append(d.buf, v)
	}
	return nil
}

// widthOf returns the number of bits that a code of five bits stands for.
func widthOf(code byte) int {
	if code < 24 {
		return int(code) + 1
	}
	return []int{26, 28, 30, 32, 40, 48, 56, 64}[code-24]
}

// closest returns the smallest width with a code that is not less than n.
func closest(n int) int {
	for code := range byte(32) {
		if w := widthOf(code); w >= n {
			return w
		}
	}
	return 64
}

// run reads a run of version 2.
func (d *orcInts) run() error {
	c, err := d.r.ReadByte()
	if err != nil {
		return early(err)
	}
	if c>>6 == 0 { // one value several times
		v, err := d.big(int(c>>3&7) + 1)
		if err != nil {
			return err
		}
		value := int64(v)
		if d.signed {
			value = zigzag(v)
		}
		for range int(c&7) + 3 {
			d.buf = append(d.buf, value)
		}
		return nil
	}
	low, err := d.r.ReadByte()
	if err != nil {
		return early(err)
	}
	code, n := c>>1&31, int(c&1)<<8|int(low)+1
	if c&1 != 0 {
		n = 256 + int(low) + 1
	}
	switch c >> 6 {
	case 1:
		values, err := d.packed(n, widthOf(code))
		for _, v := range values {
			if d.signed {
				d.buf = append(d.buf, zigzag(v))
			} else {
				d.buf = append(d.buf, int64(v))
			}
		}
		return err
	case 2:
		return d.patched(n, widthOf(code))
	}
	return d.deltas(n, code)
}

// big reads an integer of n bytes.
func (d *orcInts) big(n int) (uint64, error) {
	var v uint64
	for range n {
		c, err := d.r.ReadByte()
		if err != nil {
			return 0, early(err)
		}
		v = v<<8 | uint64(c)
	}
	return v, nil
}

// packed reads n integers of some bits each, and what fills up the last byte.
func (d *orcInts) packed(n, width int) ([]uint64, error) {
	out := make([]uint64, n)
	var current byte
	left := 0
	for i := range out {
		var v uint64
		for need := width; need > 0; {
			if left == 0 {
				c, err := d.r.ReadByte()
				if err != nil {
					return nil, early(err)
				}
				current, left = c, 8
			}
			take := min(need, left)
			v = v<<take | uint64(current>>(left-take))&(1<<take-1)
			left -= take
			need -= take
		}
		out[i] = v
	}
	return out, nil
}

// patched reads integers above a base, of which some have more bits than the others.
func (d *orcInts) patched(n, width int) error {
	b, err := d.big(2)
	if err != nil {
		return err
	}
	baseWidth, patchWidth := int(b>>13&7)+1, widthOf(byte(b>>8&31))
	gapWidth, patches := int(b>>5&7)+1, int(b&31)
	raw, err := d.big(baseWidth)
	if err != nil {
		return err
	}
	sign := uint64(1) << (8*baseWidth - 1)
	base := int64(raw &^ sign)
	if raw&sign != 0 {
		base = -base
	}
	values, err := d.packed(n, width)
	if err != nil {
		return err
	}
	if patchWidth+gapWidth > 64 {
		return errRun
	}
	list, err := d.packed(patches, closest(patchWidth+gapWidth))
	if err != nil {
		return err
	}
	at := 0
	for _, p := range list {
		at += int(p >> patchWidth)
		patch := p & (1<<patchWidth - 1)
		if patch == 0 { // only a gap
			continue
		}
		if at >= n {
			return errRun
		}
		values[at] |= patch << width
	}
	for _, v := range values {
		d.buf = append(d.buf, base+int64(v))
	}
	return nil
}

// deltas reads integers by their differences.
func (d *orcInts) deltas(n int, code byte) error {
	base, err := d.varint(d.signed)
	if err != nil {
		return err
	}
	delta, err := d.varint(true)
	if err != nil {
		return err
	}
	d.buf = append(d.buf, base)
	if n > 1 {
		base += delta
		d.buf = append(d.buf, base)
	}
	if code == 0 {
		for range n - 2 {
			base += delta
			d.buf = append(d.buf, base)
		}
		return nil
	}
	if n < 2 {
		return nil
	}
	values, err := d.packed(n-2, widthOf(code))
	for _, v := range values {
		if delta < 0 {
			base -= int64(v)
		} else {
			base += int64(v)
		}
		d.buf = append(d.buf, base)
	}
	return err
}

// orcBytes reads bytes in runs.
type orcBytes struct {
	r      *bufio.Reader
	left   int
	repeat bool
	value  byte
}

func (d *orcBytes) next() (byte, error) {
	if d.left == 0 {
		c, err := d.r.ReadByte()
		if err != nil {
			return 0, early(err)
		}
		if d.repeat = c < 128; d.repeat {
			d.left = int(c) + 3
			if d.value, err = d.r.ReadByte(); err != nil {
				return 0, early(err)
			}
		} else {
			d.left = 256 - int(c)
		}
	}
	d.left--
	if d.repeat {
		return d.value, nil
	}
	c, err := d.r.ReadByte()
	if err != nil {
		return 0, early(err)
	}
	return c, nil
}

// orcBits reads bits, eight of them in each byte of runs of bytes.
type orcBits struct {
	bytes orcBytes
	value byte
	left  int
}

func (d *orcBits) next() (bool, error) {
	if d.left == 0 {
		var err error
		if d.value, err = d.bytes.next(); err != nil {
			return false, err
		}
		d.left = 8
	}
	d.left--
	return d.value>>d.left&1 != 0, nil
}
