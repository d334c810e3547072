package compression

import (
	"bufio"
	"fmt"
	"io"
)

// lzw decodes the format of compress(1): LZW with codes of 9 to 16 bits, least significant bit first, in groups of
// eight codes. In block mode, code 256 clears the table.
type lzw struct {
	r       *bufio.Reader
	block   bool
	maxBits uint
	bits    uint // width of the next code
	next    int  // next free entry
	prev    int  // previous code, -1 at the start
	first   byte // first byte of prev's text
	prefix  []uint16
	suffix  []byte
	stack   []byte // decoded text, last byte first
	group   []byte // current group of eight codes, bits bytes long
	bitPos  uint
	err     error
}

func newLZW(src io.Reader) (*lzw, error) {
	r := bufio.NewReader(src)
	var head [3]byte
	if _, err := io.ReadFull(r, head[:]); err != nil || head[0] != 0x1f || head[1] != 0x9d {
		return nil, fmt.Errorf("compress: bad header: %w", ErrFormat)
	}
	z := &lzw{r: r, block: head[2]&0x80 != 0, maxBits: uint(head[2] & 0x1f), bits: 9, prev: -1}
	if z.maxBits < 9 || z.maxBits > 16 {
		return nil, fmt.Errorf("compress: codes of %d bits: %w", z.maxBits, ErrFormat)
	}
	z.prefix = make([]uint16, 1<<z.maxBits)
	z.suffix = make([]byte, 1<<z.maxBits)
	z.reset()
	return z, nil
}

// reset clears the table.
func (z *lzw) reset() {
	z.next = 256
	if z.block {
		z.next = 257
	}
}

// code reads the next code. ok is false at the end.
func (z *lzw) code() (code int, ok bool) {
	if z.bitPos+z.bits > uint(len(z.group))*8 {
		z.group = make([]byte, z.bits)
		n, err := io.ReadFull(z.r, z.group)
		z.group, z.bitPos = z.group[:n], 0
		if uint(n)*8 < z.bits {
			if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
				z.err = err
			}
			return 0, false
		}
	}
	for i := range z.bits {
		p := z.bitPos + i
		code |= int(z.group[p/8]>>(p%8)&1) << i
	}
	z.bitPos += z.bits
	return code, true
}

// widen starts a group of wider codes.
func (z *lzw) widen(bits uint) {
	z.bits = bits
	z.group, z.bitPos = nil, 0
}

func (z *lzw) Read(p []byte) (int, error) {
	for len(z.stack) == 0 {
		if z.err != nil {
			return 0, z.err
		}
		z.step()
	}
	n := 0
	for n < len(p) && len(z.stack) > 0 {
		p[n] = z.stack[len(z.stack)-1]
		z.stack = z.stack[:len(z.stack)-1]
		n++
	}
	return n, nil
}

// step decodes one code and pushes its text onto the stack.
func (z *lzw) step() {
	code, ok := z.code()
	if !ok {
		if z.err == nil {
			z.err = io.EOF
		}
		return
	}
	if code == 256 && z.block {
		z.reset()
		z.prev = -1
		z.widen(9)
		return
	}
	if z.prev < 0 {
		if code > 255 {
			z.err = fmt.Errorf("compress: first code %d: %w", code, ErrFormat)
			return
		}
		z.prev, z.first = code, byte(code)
		z.stack = append(z.stack, byte(code))
		return
	}
	if code > z.next || code == z.next && z.next >= 1<<z.maxBits {
		z.err = fmt.Errorf("compress: code %d is not yet defined: %w", code, ErrFormat)
		return
	}
	at := code
	if code == z.next { // the text being defined: prev and its own first byte
		z.stack = append(z.stack, z.first)
		at = z.prev
	}
	for at > 255 {
		z.stack = append(z.stack, z.suffix[at])
		at = int(z.prefix[at])
	}
	z.first = byte(at)
	z.stack = append(z.stack, z.first)
	if z.next < 1<<z.maxBits {
		z.prefix[z.next], z.suffix[z.next] = uint16(z.prev), z.first
		z.next++
		if z.next == 1<<z.bits && z.bits < z.maxBits {
			z.widen(z.bits + 1)
		}
	}
	z.prev = code
}
