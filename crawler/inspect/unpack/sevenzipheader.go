package unpack

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"odarchive/crawler/inspect/budget"
)

// Ids of the parts of a 7z header (7zFormat.txt of the LZMA SDK).
const (
	sevenEnd           = 0x00
	sevenHeader        = 0x01
	sevenMainStreams   = 0x04
	sevenFiles         = 0x05
	sevenPackInfo      = 0x06
	sevenUnpackInfo    = 0x07
	sevenSubStreams    = 0x08
	sevenSize          = 0x09
	sevenCRC           = 0x0A
	sevenFolder        = 0x0B
	sevenCodersSize    = 0x0C
	sevenUnpackStreams = 0x0D
	sevenEmptyStream   = 0x0E
	sevenEmptyFile     = 0x0F
	sevenNames         = 0x11
	sevenCTime         = 0x12
	sevenATime         = 0x13
	sevenMTime         = 0x14
	sevenAttributes    = 0x15
	sevenEncoded       = 0x17
	sevenDummy         = 0x19
)

// maxCoders is the maximum number of coders of a folder, and of streams in and out of them, as 7-Zip has it.
const maxCoders = 32

// sevenFolderInfo is a stream of compressed data with one or more files.
type sevenFolderInfo struct {
	files  uint64
	memory uint64 // that its decoders allocate
	size   uint64 // of what it unpacks to, as it says
	outs   uint64 // sizes that are stated
}

// sevenScan reads a header as the decoder does, and counts the memory that the decoder will take for it: the decoder
// allocates all that the counts say, and they have a valid checksum in a hostile file. What the decoder would not read,
// the scan refuses.
type sevenScan struct {
	rest    []byte
	memory  *budget.Budget
	err     error
	folders []sevenFolderInfo
	digest  uint32 // the first one of the folders, 0 if there is none
}

func newSevenScan(header []byte) *sevenScan {
	return &sevenScan{rest: header, memory: budget.New("the header of a 7z file", budget.Decoding)}
}

func (s *sevenScan) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: the header "+format, append([]any{ErrFormat}, args...)...)
	}
	s.rest = nil
}

func (s *sevenScan) spend(count, size uint64) {
	if err := s.memory.Spend(count, size); err != nil && s.err == nil {
		s.err, s.rest = err, nil
	}
}

// skip passes over n bytes and returns them.
func (s *sevenScan) skip(n uint64) []byte {
	if n > uint64(len(s.rest)) {
		s.fail("ends too early")
		return nil
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b
}

func (s *sevenScan) byte() byte {
	if b := s.skip(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (s *sevenScan) expect(id byte) {
	if got := s.byte(); got != id {
		s.fail("has part %#x in the place of %#x", got, id)
	}
}

// number reads a number of one to nine bytes: the leading ones of the first are the number of those that follow.
func (s *sevenScan) number() (n uint64) {
	first := s.byte()
	more := bits.LeadingZeros8(^first)
	if more < 7 {
		n = uint64(first&(1<<(8-more)-1)) << (8 * more)
	}
	for i, b := range s.skip(uint64(more)) {
		n |= uint64(b) << (8 * i)
	}
	return n
}

// numbers reads n numbers, for which the decoder allocates.
func (s *sevenScan) numbers(n uint64) {
	for s.spend(n, 8); n > 0 && s.err == nil; n-- {
		s.number()
	}
}

// bits reads n bits, for each of which the decoder allocates a byte, and counts those that are set.
func (s *sevenScan) bits(n uint64) (set uint64) {
	s.spend(n, 1)
	b := s.skip(n/8 + min(n%8, 1))
	for i, v := range b {
		if left := n - 8*uint64(i); left < 8 {
			v &= 0xFF << (8 - left)
		}
		set += uint64(bits.OnesCount8(v))
	}
	return set
}

// defined reads which of n things have a value.
func (s *sevenScan) defined(n uint64) uint64 {
	if s.byte() == 0 {
		return s.bits(n)
	}
	s.spend(n, 1)
	return n
}

// values reads optional values of some bytes for n things. outside tells that they may be elsewhere, which the decoder
// does not know.
func (s *sevenScan) values(n, size uint64, outside bool) []byte {
	set := s.defined(n)
	if outside {
		s.expect(0)
	}
	s.spend(n, 2*size)
	if s.err != nil {
		return nil
	}
	return s.skip(set * size)
}

// header reads the parts of a header behind its first byte.
func (s *sevenScan) header() {
	id := s.byte()
	if id == sevenMainStreams {
		s.streams()
		id = s.byte()
	}
	if id == sevenFiles {
		s.files()
		id = s.byte()
	}
	if id != sevenEnd {
		s.fail("has part %#x", id)
	}
}

// streams reads what there is of streams of compressed data.
func (s *sevenScan) streams() {
	id := s.byte()
	if id == sevenPackInfo {
		s.number()
		packed := s.number()
		if id = s.byte(); id == sevenSize {
			s.numbers(packed)
			id = s.byte()
		}
		if id == sevenCRC {
			s.values(packed, 4, false)
			id = s.byte()
		}
		if id != sevenEnd {
			s.fail("has part %#x in that of packed streams", id)
		}
		id = s.byte()
	}
	if id == sevenUnpackInfo {
		s.unpackInfo()
		id = s.byte()
	}
	if id == sevenSubStreams {
		s.subStreams()
		id = s.byte()
	}
	if id != sevenEnd {
		s.fail("has part %#x in that of streams", id)
	}
}

func (s *sevenScan) unpackInfo() {
	s.expect(sevenFolder)
	n := s.number()
	s.expect(0)
	for s.spend(n, 300); n > 0 && s.err == nil; n-- {
		s.folders = append(s.folders, s.folder())
	}
	s.expect(sevenCodersSize)
	for i := range s.folders {
		f := &s.folders[i]
		s.spend(f.outs, 8)
		for range f.outs {
			f.size = max(f.size, s.number())
		}
	}
	id := s.byte()
	if id == sevenCRC {
		if crc := s.values(uint64(len(s.folders)), 4, false); len(crc) >= 4 {
			s.digest = binary.LittleEndian.Uint32(crc)
		}
		id = s.byte()
	}
	if id != sevenEnd {
		s.fail("has part %#x in that of folders", id)
	}
}

func (s *sevenScan) folder() (f sevenFolderInfo) {
	f.files = 1
	coders := s.number()
	if coders == 0 || coders > maxCoders {
		s.fail("has a folder of %d coders", coders)
	}
	ins := uint64(0)
	for range coders {
		if s.err != nil {
			return f
		}
		s.spend(1, 200)
		flags := s.byte()
		id := s.skip(uint64(flags & 0xF))
		in, out := uint64(1), uint64(1)
		if flags&0x10 != 0 {
			in, out = s.number(), s.number()
		}
		if in > maxCoders || out > maxCoders || ins+in > maxCoders || f.outs+out > maxCoders {
			s.fail("has a coder of %d streams in and %d out", in, out)
		}
		ins, f.outs = ins+in, f.outs+out
		if flags&0x20 != 0 {
			f.memory += coderMemory(string(id), s.skip(s.number()))
		}
	}
	if ins < f.outs || f.outs == 0 {
		s.fail("has a folder of %d streams in and %d out", ins, f.outs)
		return f
	}
	s.numbers(2 * (f.outs - 1))
	if packed := ins - (f.outs - 1); packed > 1 {
		s.numbers(packed)
	}
	return f
}

// coderMemory returns the memory that a decoder allocates because its properties say so.
func coderMemory(id string, properties []byte) uint64 {
	switch {
	case (id == "\x03\x01\x01" || id == "\x03\x04\x01") && len(properties) >= 5: // LZMA, PPMd
		return uint64(binary.LittleEndian.Uint32(properties[1:]))
	case id == "\x21" && len(properties) > 0: // LZMA2
		return (2 | uint64(properties[0]&1)) << (min(properties[0], 42)/2 + 11)
	}
	return 0
}

func (s *sevenScan) subStreams() {
	id := s.byte()
	s.spend(uint64(len(s.folders)), 8)
	if id == sevenUnpackStreams {
		for i := range s.folders {
			s.folders[i].files = s.number()
		}
		id = s.byte()
	}
	files := uint64(0)
	for _, f := range s.folders {
		s.spend(f.files, 0x10)
		files += f.files
	}
	if id == sevenSize {
		for _, f := range s.folders {
			if f.files > 0 {
				s.numbers(f.files - 1)
			}
		}
		id = s.byte()
	}
	if id == sevenCRC {
		s.values(files, 4, false)
		id = s.byte()
	}
	if id != sevenEnd {
		s.fail("has part %#x in that of streams in folders", id)
	}
}

// files reads the properties of the files.
func (s *sevenScan) files() {
	files := s.number()
	s.spend(files, 400)
	// The decoder looks for the folder of each file from the first one on.
	if n := uint64(len(s.folders)); s.err == nil && files*n > 1<<30 {
		s.fail("has %d files in %d folders", files, n)
	}
	empty := uint64(0)
	for s.err == nil {
		id := s.byte()
		if id == sevenEnd {
			return
		}
		length := s.number()
		switch id {
		case sevenEmptyStream:
			empty += s.bits(files)
		case sevenEmptyFile:
			s.bits(empty)
		case sevenCTime, sevenATime, sevenMTime:
			s.values(files, 8, true)
		case sevenAttributes:
			s.values(files, 4, true)
		case sevenNames:
			s.expect(0)
			s.spend(files, 16)
			s.spend(length, 2)
			s.skip(length - 1)
		case sevenDummy:
			s.skip(length)
		default:
			s.fail("has part %#x in that of files", id)
		}
	}
}
