package content

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/klauspost/reedsolomon"
)

// guarded reads a closed pack and reconstructs blocks that differ from their checksums from the other blocks of their
// row. It must not be used concurrently.
type guarded struct {
	pack   *tolerant
	parity *parityFile
	enc    reedsolomon.Encoder
	end    int64 // of the bytes that are there: less than the pack had if it was truncated
	buf    []byte
	row    [][]byte     // buffers of all shards
	beyond map[int]bool // rows with too many damaged blocks
	healed int          // blocks that were reconstructed
	lost   int          // blocks that could not be; they are read as they are
	strict bool         // return errBeyond for a block that cannot be reconstructed
}

// guard returns a guarded reader of a pack. The caller closes it.
func (s *Store) guard(name string, pack io.ReaderAt) (*guarded, error) {
	p, err := openParity(s.fs, filepath.Join(s.dir, parityName(name)))
	if err != nil {
		return nil, err
	}
	return newGuarded(pack, p, s.parity.enc), nil
}

func newGuarded(pack io.ReaderAt, p *parityFile, enc reedsolomon.Encoder) *guarded {
	return &guarded{pack: &tolerant{r: pack}, parity: p, enc: enc, end: p.pack.size, beyond: map[int]bool{}}
}

// Close closes the parity file.
func (g *guarded) Close() error { return g.parity.Close() }

// ReadAt implements io.ReaderAt over the pack as it was when it was closed.
func (g *guarded) ReadAt(b []byte, at int64) (n int, err error) {
	size := g.parity.pack.size
	for n < len(b) && at < size {
		from := at - at%parityBlock
		to := min(at+int64(len(b)-n)+parityBlock-1, from+guardedRead, size)
		part, err := g.blocks(from, to)
		if err != nil {
			return n, err
		}
		c := copy(b[n:], part[at-from:])
		n, at = n+c, at+int64(c)
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// guardedRead is the number of bytes that are read at once.
const guardedRead = 64 * parityBlock

// blocks returns the bytes between two offsets, the first of which is the start of a block. They are valid until the
// next call.
func (g *guarded) blocks(from, to int64) ([]byte, error) {
	if to < g.parity.pack.size {
		to -= to % parityBlock
	}
	if g.buf == nil {
		g.buf = make([]byte, guardedRead)
	}
	b := g.buf[:to-from]
	n, _ := g.read(b, from)
	if err := g.failed(); err != nil {
		return nil, err
	}
	clear(b[n:])
	for at := 0; at < len(b); at += parityBlock {
		block := b[at:min(at+parityBlock, len(b))]
		k := int(from/parityBlock) + at/parityBlock
		if at+len(block) <= n && blockSum(block) == g.parity.pack.blocks[k] {
			continue
		}
		if err := g.heal(k, block); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// failed returns why bytes could not be read at the time, if that has happened.
func (g *guarded) failed() error {
	if g.pack.failed != nil {
		return g.pack.failed
	}
	return g.parity.r.failed
}

// heal reconstructs block k in b, or leaves b as it was read.
func (g *guarded) heal(k int, b []byte) error {
	whole := make([]byte, len(b))
	switch err := g.reconstruct(k, whole); {
	case err == nil:
		g.healed++
		copy(b, whole)
	case g.strict || !errors.Is(err, errBeyond):
		return err
	default:
		g.lost++
	}
	return nil
}

// sound reads block k and reports whether it matches its checksum.
func (g *guarded) sound(k int, b []byte) bool {
	_, err := g.read(b, int64(k)*parityBlock)
	return err == nil && blockSum(b) == g.parity.pack.blocks[k]
}

// read reads bytes of the pack as readFull does. Where a truncated pack has ended, it does not look again: each block
// behind the end would ask for all blocks of its row.
func (g *guarded) read(b []byte, at int64) (int, error) {
	if at >= g.end {
		return 0, io.EOF
	}
	n, err := readFull(g.pack, b, at)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		g.end = at + int64(n)
	}
	return n, err
}

// reconstruct computes block k from the others of its row. The error is errBeyond if too many are damaged. That is
// remembered, since the row's other blocks would read as much.
func (g *guarded) reconstruct(k int, b []byte) error {
	size := g.parity.pack.size
	rows := rowsOf(size)
	row, missing := k%rows, 0
	if g.beyond[row] {
		return errBeyond
	}
	if g.row == nil {
		g.row = make([][]byte, dataShards+parityShards)
		for i := range g.row {
			g.row[i] = make([]byte, parityBlock)
		}
	}
	shards := make([][]byte, len(g.row))
	for i := range shards {
		buf, ok := g.row[i][:parityBlock], true
		clear(buf)
		switch other := i*rows + row; {
		case i >= dataShards:
			ok = g.parity.block(i-dataShards, row, buf)
		case other < blocksOf(size): // blocks after the end of the pack are zeros
			ok = other != k && g.sound(other, buf[:min(parityBlock, size-int64(other)*parityBlock)])
		}
		if err := g.failed(); err != nil {
			return err
		}
		if shards[i] = buf; !ok {
			shards[i] = buf[:0]
			if missing++; missing > parityShards {
				g.beyond[row] = true
				return errBeyond
			}
		}
	}
	if err := g.enc.ReconstructData(shards); err != nil {
		return fmt.Errorf("parity: %w", err)
	}
	copy(b, shards[k/rows])
	if blockSum(b) != g.parity.pack.blocks[k] {
		return errBeyond
	}
	return nil
}

// soundReader returns a reader of a pack that heals what it reads if the pack has parity, and reads bad sectors as
// zeros.
func (s *Store) soundReader(num uint64, h *handle) (r io.ReaderAt, free func()) {
	if name := s.packs.nameOf(num); isClosed(name) {
		if g, err := s.guard(name, h.f); err == nil {
			return g, func() { g.Close() }
		}
	}
	return &tolerant{r: h.f}, func() {}
}
