package statistical

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// spssFile is a system file of SPSS (PSPP's developers' guide, "System File Format").
type spssFile struct {
	in          source.Input
	order       binary.ByteOrder
	compression int
	bias        float64
	sysmis      float64
	texts       texts
	charset     string
	codePage    int

	variables []*spssVariable // in their order
	slots     []*spssVariable // by 8-byte element of a row; nil continues a string
	sets      []spssLabels
	long      []byte // list of long names, still encoded
	veryLong  []byte // list of lengths of very long strings
	sample    []byte // texts to recognise the encoding by
}

// spssVariable is a variable as the dictionary has it.
type spssVariable struct {
	short   []byte
	label   []byte
	width   int // 0: a number, else bytes of a string
	parts   int // variables that together hold a very long string, this one among them
	format  byte
	missing [][]byte // raw values that mean no value
	low     float64  // and a range of such numbers, from low to high
	high    float64
	ranged  bool
}

// spssLabels are labels of values and the elements of the variables that have them.
type spssLabels struct {
	values [][2][]byte
	slots  []int
}

// spss reads a system file, compressed or not.
func spss(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &spssFile{in: in, sysmis: -math.MaxFloat64}
	r := open(in, binary.LittleEndian)
	if err := f.header(r); err != nil {
		return nil, err
	}
	if err := f.dictionary(r); err != nil {
		return nil, err
	}
	if r.Err() != nil {
		return nil, malformed("its dictionary ends too early: %v", r.Err())
	}
	columns := f.columns()
	data, err := f.open(r)
	if err != nil {
		return nil, err
	}
	return one(profiled(ctx, "", columns, (&spssRows{spssFile: f, data: data}).next, o.Reading(0)))
}

// header reads the file's first 176 bytes.
func (f *spssFile) header(r *source.Cursor) error {
	r.Skip(64)
	layout := r.Peek(4)
	if len(layout) < 4 {
		return malformed("its header ends too early")
	}
	if n := binary.BigEndian.Uint32(layout); n == 2 || n == 3 {
		r.Order = binary.BigEndian
	}
	f.order = r.Order
	r.Skip(8)
	f.compression = r.I32()
	r.Skip(8) // weight, number of rows: the rows say themselves where they end
	f.bias = r.F64()
	r.Skip(84)
	if f.compression < 0 || f.compression > 2 {
		return malformed("an unknown compression (%d)", f.compression)
	}
	return nil
}

// dictionary reads the records before the data.
func (f *spssFile) dictionary(r *source.Cursor) error {
	for r.Err() == nil {
		switch kind := r.I32(); kind {
		case 2:
			f.variable(r)
		case 3:
			f.labels(r)
		case 6:
			r.Skip(80 * int64(r.U32()))
		case 7:
			f.extension(r)
		case 999:
			r.Skip(4)
			return nil
		default:
			return malformed("a record of unknown type %d in the dictionary", kind)
		}
		if len(f.slots) > maxVariables*64 {
			return malformed("more than %d elements in a row", maxVariables*64)
		}
	}
	return nil
}

func (f *spssFile) variable(r *source.Cursor) {
	width, labelled, missing := r.I32(), r.I32(), r.I32()
	format := r.U32()
	r.Skip(4)
	v := &spssVariable{width: width, parts: 1, format: byte(format >> 16), short: bytes.Clone(bytes.TrimRight(r.Bytes(8), " \x00"))}
	if labelled == 1 {
		n := int64(r.U32())
		v.label = bytes.Clone(r.Block(min(n, 4096)))
		r.Skip(max(0, n-4096) + (4-n%4)%4)
	}
	if missing < -3 || missing > 3 {
		r.Fail("%d missing values", missing)
		return
	}
	if missing < 0 {
		v.ranged, v.low, v.high = true, r.F64(), r.F64()
		missing = -missing - 2
	}
	for range missing {
		v.missing = append(v.missing, bytes.Clone(r.Bytes(8)))
	}
	if width < 0 || r.Err() != nil { // continues a string
		f.slots = append(f.slots, nil)
		return
	}
	if width > 255 {
		r.Fail("a string of %d bytes", width)
		return
	}
	f.slots = append(f.slots, v)
	f.variables = append(f.variables, v)
	f.learn(v.label)
}

// learn keeps a text to recognise the encoding by.
func (f *spssFile) learn(text []byte) {
	if len(f.sample) < 64<<10 {
		f.sample = append(append(f.sample, text...), '\n')
	}
}

// labels reads labels of values, and the variables that they are for.
func (f *spssFile) labels(r *source.Cursor) {
	var set spssLabels
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		value := bytes.Clone(r.Bytes(8))
		length := int(r.U8())
		text := bytes.Clone(r.Bytes((length+8)/8*8 - 1))
		if len(set.values) < maxLabels {
			set.values = append(set.values, [2][]byte{value, text[:length]})
			f.learn(text)
		}
	}
	if r.I32() != 4 {
		r.Fail("labels of values without variables")
		return
	}
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		if at := r.I32(); len(set.slots) <= maxVariables {
			set.slots = append(set.slots, at-1)
		}
	}
	if len(f.sets) < maxLabelSets {
		f.sets = append(f.sets, set)
	}
}

// extension reads a record of type 7.
func (f *spssFile) extension(r *source.Cursor) {
	subtype, size, count := r.I32(), int64(r.U32()), int64(r.U32())
	if size*count > f.in.Size {
		r.Fail("a record of %d bytes", size*count)
		return
	}
	switch subtype {
	case 3, 4, 13, 14, 20:
		b := r.Block(size * count)
		switch {
		case r.Err() != nil:
		case subtype == 3 && len(b) >= 32:
			f.codePage = int(f.order.Uint32(b[28:]))
		case subtype == 4 && len(b) >= 8:
			f.sysmis = math.Float64frombits(f.order.Uint64(b))
		case subtype == 13:
			f.long = bytes.Clone(b)
		case subtype == 14:
			f.veryLong = bytes.Clone(b)
		case subtype == 20:
			f.charset = strings.TrimSpace(string(b))
		}
	default:
		r.Skip(size * count)
	}
}

// columns resolves names, encodings, very long strings and labels of the variables.
func (f *spssFile) columns() []variable {
	declared := f.charset
	if declared == "" && f.codePage > 437 {
		declared = spssCharset(f.codePage)
	}
	f.texts = textsIn(declared, f.sample)
	names := f.pairs(f.long)
	lengths := f.pairs(f.veryLong)
	var kept []*spssVariable
	for i := 0; i < len(f.variables); i++ {
		v := f.variables[i]
		if n, _ := strconv.Atoi(lengths[strings.ToUpper(f.texts.text(v.short))]); n > 255 && v.width == 255 {
			if parts := (n + 251) / 252; parts <= len(f.variables)-i {
				v.width, v.parts = n, parts
				i += parts - 1
			}
		}
		kept = append(kept, v)
	}
	f.variables = kept
	labels := map[*spssVariable]spssLabels{}
	for _, set := range f.sets {
		for _, at := range set.slots {
			if at >= 0 && at < len(f.slots) && f.slots[at] != nil {
				labels[f.slots[at]] = set
			}
		}
	}
	columns := make([]variable, len(f.variables))
	for i, v := range f.variables {
		name := f.texts.text(v.short)
		if long := names[strings.ToUpper(name)]; long != "" {
			name = long
		}
		columns[i] = variable{name: name, label: f.texts.text(v.label)}
		for _, pair := range labels[v].values {
			if value := f.cell(v, pair[0]); value != "" {
				columns[i].values = append(columns[i].values, labelled(value, f.texts.text(pair[1])))
			}
		}
	}
	return columns
}

// spssCharset returns the name of a code page.
func spssCharset(codePage int) string {
	switch {
	case codePage == 65001:
		return "utf-8"
	case codePage >= 1250 && codePage <= 1258:
		return "windows-" + strconv.Itoa(codePage)
	case codePage >= 28591 && codePage <= 28605:
		return "iso-8859-" + strconv.Itoa(codePage-28590)
	}
	return "cp" + strconv.Itoa(codePage)
}

// pairs parses a list of KEY=value between tabs. Keys are in upper case.
func (f *spssFile) pairs(list []byte) map[string]string {
	m := map[string]string{}
	for _, pair := range bytes.Split(list, []byte{'\t'}) {
		if key, value, ok := bytes.Cut(bytes.Trim(pair, "\x00"), []byte{'='}); ok {
			m[strings.ToUpper(f.texts.text(key))] = f.texts.text(value)
		}
	}
	return m
}
