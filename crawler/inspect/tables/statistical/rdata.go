package statistical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odarchive/crawler/inspect/charset"
)

// rFile is a file of R's save or saveRDS, unpacked ("R Internals", 1.8, "Serialization Formats"). Its values are read
// lazily: vectors stay bytes.
type rFile struct {
	data   []byte
	at     int
	order  binary.ByteOrder
	native func([]byte) string // decodes texts without a mark of their encoding
	latin  func([]byte) string
	refs   []string // names of symbols; "" for what is not one
	nodes  int
	err    error
}

// rValue is a value of R.
type rValue struct {
	kind  byte
	n     int
	at    int      // of a vector's first element
	texts []uint32 // where the elements of a vector of texts are
	items []*rValue
	tags  []string // of a pairlist
	seq   [2]float64
	isSeq bool // n numbers from seq[0] on by steps of seq[1]
	attrs map[string]*rValue
}

// Kinds of values, with R's numbers.
const (
	rSymbol      = 1
	rPairs       = 2
	rClosure     = 3
	rEnvironment = 4
	rPromise     = 5
	rCall        = 6
	rSpecial     = 7
	rBuiltin     = 8
	rChars       = 9
	rLogical     = 10
	rInteger     = 13
	rReal        = 14
	rComplex     = 15
	rTexts       = 16
	rDots        = 17
	rList        = 19
	rExpressions = 20
	rPointer     = 22
	rWeak        = 23
	rRaw         = 24
	rS4          = 25
	rAltrep      = 238
	rPersistent  = 248
	rPackage     = 250
	rNamespace   = 249
	rReference   = 255
)

// Limits of a file of R.
const (
	rMaxNodes = 1_000_000 // values
	rMaxDepth = 200       // of values within values

	rMaxWindow = 64 << 20 // bytes that a decompressor may look back: those of xz -9, the largest that R writes
)

var errR = errors.New("its values are damaged")

// integer reads an integer of four bytes.
func (f *rFile) integer() int {
	if f.err == nil && len(f.data)-f.at < 4 {
		f.err = io.ErrUnexpectedEOF
	}
	if f.err != nil {
		return 0
	}
	f.at += 4
	return int(int32(f.order.Uint32(f.data[f.at-4:])))
}

// length reads the length of a vector whose elements have at least size bytes each.
func (f *rFile) length(size int) int {
	n := f.integer()
	if n == -1 {
		high, low := f.integer(), f.integer()
		n = high<<32 | low&0xffffffff
	}
	if f.err == nil && (n < 0 || n > (len(f.data)-f.at)/size) {
		f.err = io.ErrUnexpectedEOF
	}
	if f.err != nil {
		return 0
	}
	return n
}

// header reads what stands before the first value.
func (f *rFile) header() error {
	switch {
	case len(f.data) < 16 || f.data[1] != '\n':
		return malformed("not a file of R")
	case f.data[0] == 'X':
		f.order = binary.BigEndian
	case f.data[0] == 'B':
		f.order = binary.LittleEndian
	case f.data[0] == 'A':
		return fmt.Errorf("the ASCII format of R is not read")
	default:
		return malformed("not a file of R")
	}
	f.at = 2
	version := f.integer()
	f.integer()
	f.integer()
	f.latin = charset.Decoder("windows-1252")
	f.native = f.latin
	switch version {
	case 2:
	case 3:
		n := f.length(1)
		if f.err == nil {
			if d := charset.Decoder(string(f.data[f.at : f.at+n])); d != nil {
				f.native = d
			}
			f.at += n
		}
	default:
		return malformed("version %d of R's format", version)
	}
	return f.err
}

// value reads a value.
func (f *rFile) value(depth int) *rValue {
	if f.nodes++; f.nodes > rMaxNodes || depth > rMaxDepth {
		f.fail(errors.New("it has too many values, or too deep ones"))
	}
	flags := f.integer()
	v := &rValue{kind: byte(flags)}
	if f.err != nil {
		return v
	}
	hasAttrs := flags&0x200 != 0
	switch v.kind {
	case 254, 253, 252, 251, 247, 242, 241: // nil, environments and marks without contents
		return v
	case rReference:
		i := flags >> 8
		if i == 0 {
			i = f.integer()
		}
		v.kind = rSymbol
		if i > 0 && i <= len(f.refs) {
			v.tags = []string{f.refs[i-1]}
		}
		return v
	case rSymbol:
		name := f.text(f.chars())
		f.refs = append(f.refs, name)
		v.tags = []string{name}
		return v
	case rNamespace, rPackage, rPersistent:
		f.integer()
		for n := f.length(4); n > 0 && f.err == nil; n-- {
			f.chars()
		}
		f.refs = append(f.refs, "")
		return v
	case rEnvironment:
		f.refs = append(f.refs, "")
		f.integer()
		for range 4 {
			f.value(depth + 1)
		}
		return v
	case rPairs, rCall, rClosure, rPromise, rDots:
		f.pairs(v, flags, depth)
		return v
	case rSpecial, rBuiltin:
		f.at += f.length(1)
	case rChars:
		f.at -= 4
		v.at = f.chars()
	case rLogical, rInteger:
		f.vector(v, 4)
	case rReal:
		f.vector(v, 8)
	case rComplex:
		f.vector(v, 16)
	case rRaw:
		f.vector(v, 1)
	case rTexts:
		v.n = f.length(4)
		for range v.n {
			at := f.chars()
			if f.err != nil {
				v.n = len(v.texts)
				return v
			}
			v.texts = append(v.texts, uint32(at))
		}
	case rList, rExpressions:
		v.n = f.length(4)
		for range v.n {
			v.items = append(v.items, f.value(depth+1))
			if f.err != nil {
				v.n = len(v.items)
				return v
			}
		}
	case rPointer:
		f.refs = append(f.refs, "")
		f.value(depth + 1)
		f.value(depth + 1)
	case rWeak:
		f.refs = append(f.refs, "")
	case rS4:
	case rAltrep:
		info, state, attrs := f.value(depth+1), f.value(depth+1), f.value(depth+1)
		return f.alternative(info, state, attrs)
	default:
		f.fail(fmt.Errorf("a value of R's type %d", v.kind))
	}
	if hasAttrs {
		f.attributes(v, f.value(depth+1))
	}
	return v
}

func (f *rFile) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// vector passes over the elements of a vector.
func (f *rFile) vector(v *rValue, size int) {
	v.n = f.length(size)
	v.at = f.at
	f.at += v.n * size
}

// pairs reads a pairlist, whose flags have been read.
func (f *rFile) pairs(v *rValue, flags, depth int) {
	for f.err == nil {
		if flags&0x200 != 0 {
			attrs := f.value(depth + 1)
			if len(v.items) == 0 {
				f.attributes(v, attrs)
			}
		}
		tag := ""
		if flags&0x400 != 0 {
			if s := f.value(depth + 1); len(s.tags) == 1 {
				tag = s.tags[0]
			}
		}
		v.items, v.tags = append(v.items, f.value(depth+1)), append(v.tags, tag)
		if len(f.data)-f.at < 4 {
			f.fail(io.ErrUnexpectedEOF)
			return
		}
		next := int(int32(f.order.Uint32(f.data[f.at:])))
		if byte(next) != rPairs && byte(next) != rCall {
			f.value(depth + 1) // the end
			return
		}
		f.at += 4
		flags = next
	}
}

// attributes sets the attributes of a value from a pairlist.
func (f *rFile) attributes(v, list *rValue) {
	if list.kind != rPairs {
		return
	}
	v.attrs = map[string]*rValue{}
	for i, tag := range list.tags {
		v.attrs[tag] = list.items[i]
	}
}

// alternative returns the value that a compact form stands for.
func (f *rFile) alternative(info, state, attrs *rValue) *rValue {
	class := ""
	if len(info.items) > 0 && len(info.items[0].tags) > 0 {
		class = info.items[0].tags[0]
	}
	v := &rValue{}
	switch {
	case class == "compact_intseq" || class == "compact_realseq":
		if state.kind != rReal || state.n != 3 {
			f.fail(errR)
			return v
		}
		n := f.real(state, 0)
		if !(n >= 0 && n <= 1<<40) {
			f.fail(errR)
			return v
		}
		v = &rValue{kind: rReal, n: int(n), isSeq: true, seq: [2]float64{f.real(state, 1), f.real(state, 2)}}
		if class == "compact_intseq" {
			v.kind = rInteger
		}
	case strings.HasPrefix(class, "wrap_") && len(state.items) > 0:
		copied := *state.items[0]
		v = &copied
	case class == "deferred_string" && len(state.items) > 0:
		copied := *state.items[0]
		v = &copied
	default:
		f.fail(fmt.Errorf("a compact form of R that is not known (%s)", class))
		return v
	}
	if attrs.kind == rPairs {
		f.attributes(v, attrs)
	}
	return v
}

// chars passes over a text and returns where it is.
func (f *rFile) chars() int {
	at := f.at
	flags, n := f.integer(), f.integer()
	switch {
	case f.err != nil:
	case byte(flags) != rChars:
		f.fail(errR)
	case n < -1 || n > len(f.data)-f.at:
		f.fail(io.ErrUnexpectedEOF)
	default:
		f.at += max(n, 0)
	}
	return at
}

// text returns the text at a place that chars returned; "" if it is missing.
func (f *rFile) text(at int) string {
	if at+8 > len(f.data) {
		return ""
	}
	flags, n := f.order.Uint32(f.data[at:]), int(int32(f.order.Uint32(f.data[at+4:])))
	if n <= 0 || n > len(f.data)-at-8 {
		return ""
	}
	b := f.data[at+8 : at+8+n]
	switch levels := flags >> 12; {
	case levels&(1<<3|1<<6) != 0: // UTF-8, ASCII
		return strings.ToValidUTF8(string(b), "\ufffd")
	case levels&(1<<2) != 0:
		return f.latin(b)
	}
	return f.native(b)
}

// real returns an element of a vector of numbers, NaN if it is missing.
func (f *rFile) real(v *rValue, i int) float64 {
	switch {
	case i >= v.n:
		return math.NaN()
	case v.isSeq:
		return v.seq[0] + float64(i)*v.seq[1]
	case v.kind == rReal:
		return math.Float64frombits(f.order.Uint64(f.data[v.at+8*i:]))
	case v.kind == rInteger || v.kind == rLogical:
		n := int32(f.order.Uint32(f.data[v.at+4*i:]))
		if n == math.MinInt32 {
			return math.NaN()
		}
		return float64(n)
	}
	return math.NaN()
}

// strings returns the elements of a vector of texts, at most maxVariables.
func (f *rFile) strings(v *rValue) []string {
	var out []string
	if v != nil {
		for _, at := range v.texts[:min(len(v.texts), maxVariables)] {
			out = append(out, f.text(int(at)))
		}
	}
	return out
}
