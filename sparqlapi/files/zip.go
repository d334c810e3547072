package files

import (
	"encoding/binary"
	"math"
	"time"
)

// The zip format, after APPNOTE.TXT 6.3.10. Its sections are in brackets.
const (
	localHead   = 0x04034b50 // [4.3.7]
	centralHead = 0x02014b50 // [4.3.12]
	end64       = 0x06064b50 // [4.3.14]
	locator64   = 0x07064b50 // [4.3.15]
	endHead     = 0x06054b50 // [4.3.16]

	methodStore   = 0
	methodDeflate = 8
	flagUTF8      = 1 << 11 // [appendix D]
	extraZip64    = 0x0001  // [4.5.3]
	extraTime     = 0x5455  // extended timestamp, seconds since 1970 in UTC
	version20     = 20
	version45     = 45 // supports zip64
	madeOnUnix    = 3 << 8
	regularFile   = 0o100644 << 16
)

const (
	max32 = math.MaxUint32
	max16 = math.MaxUint16
)

// file is an entry as the zip's structures describe it.
type file struct {
	name     string
	method   uint16
	crc      uint32
	size     int64 // uncompressed
	packed   int64 // in the zip
	offset   int64 // of the local header
	modified time.Time
}

func (f *file) big() bool { return f.size >= max32 || f.packed >= max32 }

func (f *file) flags() uint16 {
	for i := range len(f.name) {
		if f.name[i] >= 0x80 {
			return flagUTF8
		}
	}
	return 0
}

// end returns the offset after the entry's data.
func (f *file) end() int64 { return f.offset + f.localSize() + f.packed }

func clip32(n int64) uint32 { return uint32(min(n, max32)) }

// localSize returns the length of appendLocal's output.
func (f *file) localSize() int64 {
	n := 30 + int64(len(f.name)) + 9
	if f.big() {
		n += 20
	}
	return n
}

func appendLocal(b []byte, f *file) []byte {
	le := binary.LittleEndian
	need, extra := uint16(version20), 9
	if f.big() {
		need, extra = version45, 29
	}
	date, clock := dosTime(f.modified)
	b = le.AppendUint32(b, localHead)
	b = le.AppendUint16(b, need)
	b = le.AppendUint16(b, f.flags())
	b = le.AppendUint16(b, f.method)
	b = le.AppendUint16(b, clock)
	b = le.AppendUint16(b, date)
	b = le.AppendUint32(b, f.crc)
	if f.big() { // both sizes are in the extra field then [4.5.3]
		b = le.AppendUint32(b, max32)
		b = le.AppendUint32(b, max32)
	} else {
		b = le.AppendUint32(b, uint32(f.packed))
		b = le.AppendUint32(b, uint32(f.size))
	}
	b = le.AppendUint16(b, uint16(len(f.name)))
	b = le.AppendUint16(b, uint16(extra))
	b = append(b, f.name...)
	if f.big() {
		b = le.AppendUint16(b, extraZip64)
		b = le.AppendUint16(b, 16)
		b = le.AppendUint64(b, uint64(f.size))
		b = le.AppendUint64(b, uint64(f.packed))
	}
	return appendTime(b, f.modified)
}

func appendTime(b []byte, t time.Time) []byte {
	b = binary.LittleEndian.AppendUint16(b, extraTime)
	b = binary.LittleEndian.AppendUint16(b, 5)
	b = append(b, 1) // modification time only
	return binary.LittleEndian.AppendUint32(b, uint32(min(t.Unix(), math.MaxInt32)))
}

// centralExtra appends the zip64 field of the central directory. It has only the numbers that do not fit elsewhere, in
// this order [4.5.3].
func centralExtra(b []byte, f *file) []byte {
	var big []uint64
	for _, n := range []int64{f.size, f.packed, f.offset} {
		if n >= max32 {
			big = append(big, uint64(n))
		}
	}
	if len(big) == 0 {
		return b
	}
	b = binary.LittleEndian.AppendUint16(b, extraZip64)
	b = binary.LittleEndian.AppendUint16(b, uint16(8*len(big)))
	for _, n := range big {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// centralSize returns the length of appendCentral's output.
func (f *file) centralSize() int64 {
	var buf [32]byte
	return 46 + int64(len(f.name)) + 9 + int64(len(centralExtra(buf[:0], f)))
}

func appendCentral(b []byte, f *file) []byte {
	le := binary.LittleEndian
	var buf [32]byte
	zip64 := centralExtra(buf[:0], f)
	need := uint16(version20)
	if len(zip64) > 0 {
		need = version45
	}
	date, clock := dosTime(f.modified)
	b = le.AppendUint32(b, centralHead)
	b = le.AppendUint16(b, madeOnUnix|version45)
	b = le.AppendUint16(b, need)
	b = le.AppendUint16(b, f.flags())
	b = le.AppendUint16(b, f.method)
	b = le.AppendUint16(b, clock)
	b = le.AppendUint16(b, date)
	b = le.AppendUint32(b, f.crc)
	b = le.AppendUint32(b, clip32(f.packed))
	b = le.AppendUint32(b, clip32(f.size))
	b = le.AppendUint16(b, uint16(len(f.name)))
	b = le.AppendUint16(b, uint16(len(zip64)+9))
	b = le.AppendUint16(b, 0) // comment
	b = le.AppendUint16(b, 0) // disk
	b = le.AppendUint16(b, 0) // internal attributes
	b = le.AppendUint32(b, regularFile)
	b = le.AppendUint32(b, clip32(f.offset))
	b = append(b, f.name...)
	b = append(b, zip64...)
	return appendTime(b, f.modified)
}

// appendEnd appends the end of a zip with count entries, and a central directory of the given size and offset.
func appendEnd(b []byte, count int, size, offset int64) []byte {
	le := binary.LittleEndian
	if count >= max16 || size >= max32 || offset >= max32 {
		b = le.AppendUint32(b, end64)
		b = le.AppendUint64(b, 44) // length of the rest of this record
		b = le.AppendUint16(b, madeOnUnix|version45)
		b = le.AppendUint16(b, version45)
		b = le.AppendUint32(b, 0) // number of this disk
		b = le.AppendUint32(b, 0) // disk with the directory
		b = le.AppendUint64(b, uint64(count))
		b = le.AppendUint64(b, uint64(count))
		b = le.AppendUint64(b, uint64(size))
		b = le.AppendUint64(b, uint64(offset))
		b = le.AppendUint32(b, locator64)
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, uint64(offset+size))
		b = le.AppendUint32(b, 1) // disks
	}
	b = le.AppendUint32(b, endHead)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint16(b, uint16(min(count, max16)))
	b = le.AppendUint16(b, uint16(min(count, max16)))
	b = le.AppendUint32(b, clip32(size))
	b = le.AppendUint32(b, clip32(offset))
	return le.AppendUint16(b, 0) // comment
}

// dosTime returns a time in DOS format, in UTC and in steps of two seconds [4.4.6].
func dosTime(t time.Time) (date, clock uint16) {
	if t.Year() > 2107 {
		t = time.Date(2107, 12, 31, 23, 59, 58, 0, time.UTC)
	}
	date = uint16(t.Day() + int(t.Month())<<5 + (t.Year()-1980)<<9)
	clock = uint16(t.Second()/2 + t.Minute()<<5 + t.Hour()<<11)
	return date, clock
}
