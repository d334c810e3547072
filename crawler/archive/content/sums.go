package content

import (
	"crypto/sha256"
	"io"
)

// packSums are the checksums of a pack: of the whole, and of each block.
type packSums struct {
	size   int64
	whole  [sha256.Size]byte
	blocks []uint32 // CRC-32C
}

// sumPack computes the checksums of the first end bytes of a pack.
func sumPack(r io.ReaderAt, end int64) (sums packSums, err error) {
	whole, buf := sha256.New(), make([]byte, walkBlock)
	sums.size, sums.blocks = end, make([]uint32, 0, blocksOf(end))
	for at := int64(0); at < end; at += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), end-at)]
		if _, err := readFull(r, buf, at); err != nil {
			return sums, err
		}
		whole.Write(buf)
		for rest := buf; len(rest) > 0; {
			n := min(parityBlock, len(rest))
			sums.blocks = append(sums.blocks, blockSum(rest[:n]))
			rest = rest[n:]
		}
	}
	whole.Sum(sums.whole[:0])
	return sums, nil
}

// readFull calls ReadAt and drops the io.EOF that may come with the last byte.
func readFull(r io.ReaderAt, b []byte, at int64) (int, error) {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return n, nil
	}
	if err == io.EOF && n > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
