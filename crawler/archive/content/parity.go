package content

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"odarchive/triplestore/disk"
)

// The parity of a closed pack has two shards for 32 (Reed-Solomon), 6.25 % of the pack. Data shard i is the i-th 32nd
// of the pack, so up to two lost stretches of a 32nd each, two whole megabytes of 64, can be recovered. Shards are
// checked in blocks of 4 KiB, a sector of most disks, and block k of all shards is a row that is corrected by itself:
// scattered bad sectors can be recovered as long as no three of them are in one row of 34. Ten of them in 64 MiB hit a
// row three times once in 2,000 cases; with blocks of 64 KiB, once in nine. The checksums of all blocks take 0.1 %.
const (
	parityMagic  = "ODPARIT1"
	dataShards   = 32
	parityShards = 2
	parityBlock  = 4096
	parityFixed  = len(parityMagic) + 8 + 8 + 32 + 2 + 2 + 4 // bytes of a parity head without checksums
)

// errBeyond reports that more is damaged than parity can recover.
var errBeyond = errors.New("more is damaged than its parity can recover")

// blocksOf returns the number of blocks in size bytes.
func blocksOf(size int64) int { return int((size + parityBlock - 1) / parityBlock) }

// rowsOf returns the number of rows of a pack, which is the number of blocks of a shard.
func rowsOf(size int64) int { return (blocksOf(size) + dataShards - 1) / dataShards }

// blockSum returns the checksum of a block, a CRC-32C.
func blockSum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// parityHead describes a pack and its parity. Both ends of a parity file have one.
type parityHead struct {
	num    uint64
	pack   packSums
	parity []uint32 // CRC-32C of the blocks of the first parity shard, then of the second
}

func (h *parityHead) encode() []byte {
	b := append(make([]byte, 0, parityHeadLen(h.pack.size)), parityMagic...)
	b = binary.BigEndian.AppendUint64(b, h.num)
	b = binary.BigEndian.AppendUint64(b, uint64(h.pack.size))
	b = append(b, h.pack.whole[:]...)
	b = binary.BigEndian.AppendUint16(b, dataShards)
	b = binary.BigEndian.AppendUint16(b, parityShards)
	b = binary.BigEndian.AppendUint32(b, parityBlock)
	for _, sums := range [][]uint32{h.pack.blocks, h.parity} {
		for _, sum := range sums {
			b = binary.BigEndian.AppendUint32(b, sum)
		}
	}
	return binary.BigEndian.AppendUint32(b, blockSum(b))
}

func parityHeadLen(size int64) int64 {
	return int64(parityFixed) + 4*int64(blocksOf(size)+parityShards*rowsOf(size)) + 4
}

// parityLen returns the length of the parity file of a pack.
func parityLen(size int64) int64 {
	return 2*parityHeadLen(size) + int64(parityShards*rowsOf(size))*parityBlock + 4
}

// maxPackSize bounds the size in a parity head; a larger number is damage.
const maxPackSize = 1 << 40

func decodeParityHead(b []byte) (*parityHead, error) {
	if len(b) < parityFixed+4 || string(b[:len(parityMagic)]) != parityMagic {
		return nil, errRecord
	}
	at := len(parityMagic)
	h := &parityHead{num: binary.BigEndian.Uint64(b[at:])}
	h.pack.size = int64(binary.BigEndian.Uint64(b[at+8:]))
	copy(h.pack.whole[:], b[at+16:])
	if h.pack.size < 0 || h.pack.size > maxPackSize || int64(len(b)) < parityHeadLen(h.pack.size) {
		return nil, errRecord
	}
	b = b[:parityHeadLen(h.pack.size)]
	end := len(b) - 4
	shape := b[at+48:]
	if blockSum(b[:end]) != binary.BigEndian.Uint32(b[end:]) || binary.BigEndian.Uint16(shape) != dataShards ||
		binary.BigEndian.Uint16(shape[2:]) != parityShards || binary.BigEndian.Uint32(shape[4:]) != parityBlock {
		return nil, errRecord
	}
	sums := make([]uint32, (end-parityFixed)/4)
	for i := range sums {
		sums[i] = binary.BigEndian.Uint32(b[parityFixed+4*i:])
	}
	n := blocksOf(h.pack.size)
	h.pack.blocks, h.parity = sums[:n], sums[n:]
	return h, nil
}

// parityFile is an open parity file.
type parityFile struct {
	*parityHead
	r       *tolerant
	f       disk.File
	damaged bool // one of its heads is damaged
}

// openParity opens a parity file, which needs one sound head.
func openParity(fsys disk.FS, path string) (*parityFile, error) {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	p := &parityFile{f: f, r: &tolerant{r: f}}
	if err := p.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *parityFile) read() error {
	info, err := p.f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	first, err1 := p.firstHead(size)
	second, err2 := p.lastHead(size)
	switch {
	case err1 != nil && err2 != nil:
		return fmt.Errorf("both heads of the parity are damaged: %w", err1)
	case err1 != nil:
		p.parityHead, p.damaged = second, true
	default:
		p.parityHead, p.damaged = first, err2 != nil || !bytes.Equal(first.encode(), second.encode()) || size != parityLen(first.pack.size)
	}
	return nil
}

func (p *parityFile) firstHead(size int64) (*parityHead, error) {
	fixed := make([]byte, parityFixed)
	if _, err := readFull(p.r, fixed, 0); err != nil {
		return nil, err
	}
	packSize := int64(binary.BigEndian.Uint64(fixed[len(parityMagic)+8:]))
	if packSize < 0 || packSize > maxPackSize || parityHeadLen(packSize) > size {
		return nil, errRecord
	}
	return p.headAt(0, parityHeadLen(packSize))
}

// lastHead reads the head at the end, which its length follows.
func (p *parityFile) lastHead(size int64) (*parityHead, error) {
	var length [4]byte
	if size < int64(parityFixed) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := readFull(p.r, length[:], size-4); err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(length[:]))
	if n > size-4 {
		return nil, errRecord
	}
	return p.headAt(size-4-n, n)
}

func (p *parityFile) headAt(at, n int64) (*parityHead, error) {
	b := make([]byte, n)
	if _, err := readFull(p.r, b, at); err != nil {
		return nil, err
	}
	return decodeParityHead(b)
}

// block reads a block of a parity shard, and reports whether it matches its checksum.
func (p *parityFile) block(shard, row int, b []byte) bool {
	rows := rowsOf(p.pack.size)
	at := parityHeadLen(p.pack.size) + int64(shard*rows+row)*parityBlock
	_, err := readFull(p.r, b, at)
	return err == nil && blockSum(b) == p.parity[shard*rows+row]
}

// damagedBlocks counts the blocks of the parity shards that differ from their checksums.
func (p *parityFile) damagedBlocks() (n int) {
	b := make([]byte, parityBlock)
	for shard := range parityShards {
		for row := range rowsOf(p.pack.size) {
			if !p.block(shard, row, b) {
				n++
			}
		}
	}
	return n
}

// Close closes the file.
func (p *parityFile) Close() error { return p.f.Close() }
