package columnar

import (
	"encoding/binary"
	"math"
)

// flat is a table of FlatBuffers, from bytes that may say anything: what is outside of them is zero or empty
// (flatbuffers.dev, "FlatBuffers Internals").
type flat struct {
	b  []byte
	at int // of the table; 0: there is none
}

// flatRoot returns the table of a message.
func flatRoot(b []byte) flat { return flat{b, int(word(b, 0))} }

func word(b []byte, at int) uint32 {
	if at < 0 || at > len(b)-4 {
		return 0
	}
	return binary.LittleEndian.Uint32(b[at:])
}

func long(b []byte, at int) int64 {
	if at < 0 || at > len(b)-8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(b[at:]))
}

func half(b []byte, at int) uint16 {
	if at < 0 || at > len(b)-2 {
		return 0
	}
	return binary.LittleEndian.Uint16(b[at:])
}

// field returns where a field is, 0 if the table does not have it.
func (f flat) field(n int) int {
	if f.at <= 0 || f.at > len(f.b)-4 {
		return 0
	}
	shape := f.at - int(int32(word(f.b, f.at)))
	if shape < 0 || shape > len(f.b)-4 || 4+2*n >= int(half(f.b, shape)) {
		return 0
	}
	offset := int(half(f.b, shape+4+2*n))
	if offset == 0 || offset > len(f.b)-f.at {
		return 0
	}
	return f.at + offset
}

// byte returns a field of one byte.
func (f flat) byte(n int) byte {
	at := f.field(n)
	if at == 0 || at >= len(f.b) {
		return 0
	}
	return f.b[at]
}

// short, word and long return a field, or a default.
func (f flat) short(n, otherwise int) int {
	if at := f.field(n); at > 0 {
		return int(int16(half(f.b, at)))
	}
	return otherwise
}

func (f flat) word(n, otherwise int) int {
	if at := f.field(n); at > 0 {
		return int(int32(word(f.b, at)))
	}
	return otherwise
}

func (f flat) long(n int) int64 {
	if at := f.field(n); at > 0 {
		return long(f.b, at)
	}
	return 0
}

// table returns a table that is a field.
func (f flat) table(n int) flat {
	at := f.field(n)
	if at == 0 {
		return flat{f.b, 0}
	}
	return flat{f.b, at + int(word(f.b, at))}
}

// vector returns where the elements of a vector are, and their number.
func (f flat) vector(n, size int) (at, count int) {
	field := f.field(n)
	if field == 0 {
		return 0, 0
	}
	start := field + int(word(f.b, field))
	count = int(word(f.b, start))
	if start < 0 || start > len(f.b)-4 || count > (len(f.b)-start-4)/size {
		return 0, 0
	}
	return start + 4, count
}

// tables returns the tables of a vector.
func (f flat) tables(n int) []flat {
	at, count := f.vector(n, 4)
	out := make([]flat, count)
	for i := range out {
		out[i] = flat{f.b, at + 4*i + int(word(f.b, at+4*i))}
	}
	return out
}

// text returns a string.
func (f flat) text(n int) string {
	at, count := f.vector(n, 1)
	return string(f.b[at : at+count])
}

// halfFloat decodes a floating-point number of two bytes (IEEE 754 binary16).
func halfFloat(v uint16) float64 {
	exponent, fraction := int(v>>10&31), float64(v&1023)/1024
	x := 0.0
	switch exponent {
	case 0:
		x = math.Ldexp(fraction, -14)
	case 31:
		if x = math.Inf(1); fraction != 0 {
			return math.NaN()
		}
	default:
		x = math.Ldexp(1+fraction, exponent-15)
	}
	if v&0x8000 != 0 {
		return -x
	}
	return x
}
