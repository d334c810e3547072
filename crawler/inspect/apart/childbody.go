package apart

import (
	"encoding/binary"
	"io"
)

// Bytes are a body in a child: in memory, a file, or blocks that the server is asked for.
type Bytes struct {
	size   int64
	held   []byte // the whole body, or nil
	file   descriptor
	isFile bool

	c      *child // asks for blocks
	number byte
	blocks []cachedBlock // the last used one at the end
}

type cachedBlock struct {
	at int64
	b  []byte
}

// maxBlocks is how many blocks of a body stay in a child.
const maxBlocks = 16

// Size returns the number of bytes.
func (b *Bytes) Size() int64 { return b.size }

// Head returns the first n bytes, or all of a shorter body. The caller must not change them.
func (b *Bytes) Head(n int) ([]byte, error) {
	n = int(min(int64(max(n, 0)), b.size))
	if b.c == nil && !b.isFile {
		return b.held[:n], nil
	}
	head := make([]byte, n)
	if _, err := b.ReadAt(head, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return head, nil
}

// ReadAt implements io.ReaderAt.
func (b *Bytes) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 || at >= b.size {
		return 0, io.EOF
	}
	if left := b.size - at; int64(len(p)) > left {
		p, err = p[:left], io.EOF
	}
	switch {
	case b.isFile:
		var reading error
		if n, reading = b.file.readAt(p, at); reading != nil {
			err = reading
		}
		return n, err
	case b.c == nil:
		return copy(p, b.held[at:]), err
	}
	for n < len(p) {
		block, reading := b.block((at + int64(n)) / blockSize * blockSize)
		if reading != nil {
			return n, reading
		}
		n += copy(p[n:], block[(at+int64(n))%blockSize:])
	}
	return n, err
}

// block returns the block at an offset.
func (b *Bytes) block(at int64) ([]byte, error) {
	b.c.turn.Lock()
	for i, have := range b.blocks {
		if have.at == at {
			copy(b.blocks[i:], b.blocks[i+1:])
			b.blocks[len(b.blocks)-1] = have
			b.c.turn.Unlock()
			return have.b, nil
		}
	}
	b.c.turn.Unlock()
	want := min(blockSize, b.size-at)
	question := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64([]byte{b.number}, uint64(at)), uint32(want))
	got := b.c.exchange(frameRead, question, frameBlock)
	if int64(len(got)) != want {
		return nil, io.ErrUnexpectedEOF // the server has said why in its log
	}
	b.c.turn.Lock()
	defer b.c.turn.Unlock()
	if len(b.blocks) == maxBlocks {
		b.blocks = b.blocks[:copy(b.blocks, b.blocks[1:])]
	}
	b.blocks = append(b.blocks, cachedBlock{at, got})
	return got, nil
}

func (b *Bytes) close() {
	if b != nil && b.isFile {
		b.file.close()
	}
}
