package statistical

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// stataFile is a data set of Stata (its manual, "dta"; releases 104 to 119).
type stataFile struct {
	release int
	order   binary.ByteOrder
	size    int64
	rows    int64
	at      int64 // of the first row
	labels  int64 // where the labels of values are; 0: behind the rows
	strings int64 // where the long strings are; 0: there are none
	texts   texts
	types   []stataType
	formats []string
	sets    []string // name of the labels of each variable's values
	columns []variable
}

// stataType is the type of a variable.
type stataType struct {
	kind  byte // b, i, l, f, d: numbers as in Stata's commands; s: string; L: reference to a long string
	width int
}

// stataWidths are the lengths of names and labels in a release.
type stataWidths struct{ name, format, set, label, title int }

func widthsOf(release int) stataWidths {
	w := stataWidths{name: 33, format: 49, set: 33, label: 81, title: 81}
	switch {
	case release >= 118:
		w = stataWidths{name: 129, format: 57, set: 129, label: 321}
	case release < 105:
		w.format = 7
	case release < 114:
		w.format = 12
	}
	if release < 110 {
		w.name, w.set = 9, 9
	}
	if release < 108 {
		w.label, w.title = 32, 32
	}
	return w
}

// stata reads a data set of Stata.
func stata(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &stataFile{size: in.Size}
	r := open(in, binary.LittleEndian)
	var err error
	if string(r.Peek(11)) == "<stata_dta>" {
		err = f.tagged(r, in.Body)
	} else {
		err = f.legacy(r)
	}
	if err != nil {
		return nil, err
	}
	if r.Err() != nil {
		return nil, malformed("its description ends too early: %v", r.Err())
	}
	if o.Each == nil {
		f.readLabels(in)
	}
	data := source.NewCursor(io.NewSectionReader(in.Body, f.at, max(0, in.Size-f.at)), f.order)
	rows := &stataRows{stataFile: f, data: data, long: f.longStrings(in)}
	for _, t := range f.types {
		rows.width += int64(t.width)
	}
	if rows.width == 0 {
		return nil, nil
	}
	p, err := profiled(ctx, "", f.columns, rows.next, o.Reading(0))
	return one(p, err)
}

// describe reads names, formats and labels of the variables, in the order in which all releases have them. part is
// called before each part, and after it with end.
func (f *stataFile) describe(r *source.Cursor, sortWidth int, part func(name string, end bool)) {
	w := widthsOf(f.release)
	raw := map[string][][]byte{}
	var sample []byte
	for _, list := range []struct {
		name  string
		width int
	}{{"varnames", w.name}, {"sortlist", sortWidth}, {"formats", w.format}, {"value_label_names", w.set}, {"variable_labels", w.label}} {
		part(list.name, false)
		n := len(f.types)
		if list.name == "sortlist" {
			r.Skip(int64(n+1) * int64(list.width))
		} else {
			for range n {
				text := bytes.Clone(ended(r.Bytes(list.width)))
				raw[list.name] = append(raw[list.name], text)
				if len(sample) < 64<<10 {
					sample = append(append(sample, text...), '\n')
				}
				if r.Err() != nil {
					return
				}
			}
		}
		part(list.name, true)
	}
	f.texts = textsIn("", sample)
	for i := range f.types {
		f.columns = append(f.columns, variable{name: f.texts.text(raw["varnames"][i]), label: f.texts.text(raw["variable_labels"][i])})
		f.formats = append(f.formats, string(raw["formats"][i]))
		f.sets = append(f.sets, f.texts.text(raw["value_label_names"][i]))
	}
}

// legacy reads the description in releases before 117.
func (f *stataFile) legacy(r *source.Cursor) error {
	f.release = int(r.U8())
	if f.release < 104 || f.release > 116 {
		return malformed("release %d of Stata's format", f.release)
	}
	r.Order = binary.BigEndian
	if r.U8() == 2 {
		r.Order = binary.LittleEndian
	}
	f.order = r.Order
	r.Skip(2)
	n := int(r.U16())
	f.rows = int64(r.U32())
	r.Skip(int64(widthsOf(f.release).title))
	if f.release >= 105 {
		r.Skip(18) // when it was written
	}
	if int64(n) > f.size {
		return malformed("%d variables in %d bytes", n, f.size)
	}
	for range n {
		t, ok := oldType(r.U8(), f.release)
		if r.Err() != nil {
			return nil
		}
		if !ok {
			return malformed("an unknown type of a variable")
		}
		f.types = append(f.types, t)
	}
	f.describe(r, 2, func(string, bool) {})
	for f.release >= 105 { // characteristics
		kind, length := r.U8(), int64(0)
		if f.release < 110 {
			length = int64(r.U16())
		} else {
			length = int64(r.U32())
		}
		r.Skip(length)
		if kind == 0 || r.Err() != nil {
			break
		}
	}
	f.at = r.Pos()
	return nil
}

// oldType returns a type by its code before release 117.
func oldType(code byte, release int) (stataType, bool) {
	if release < 111 {
		switch code {
		case 'b', 'i', 'l', 'f', 'd':
			return stataType{code, stataWidth(code)}, true
		}
		return stataType{'s', int(code) - 0x7f}, code > 0x7f
	}
	if code > 250 {
		kind := "bilfd"[code-251]
		return stataType{kind, stataWidth(kind)}, true
	}
	return stataType{'s', int(code)}, code > 0
}

// stataWidth returns the number of bytes of a number.
func stataWidth(kind byte) int {
	switch kind {
	case 'b':
		return 1
	case 'i':
		return 2
	case 'l', 'f':
		return 4
	}
	return 8
}

// tagged reads the description in releases from 117 on, whose parts stand between tags.
func (f *stataFile) tagged(r *source.Cursor, body io.ReaderAt) error {
	head := string(r.Peek(70))
	if _, err := fmt.Sscanf(head, "<stata_dta><header><release>%d</release>", &f.release); err != nil || f.release < 117 ||
		f.release > 119 {
		return malformed("an unknown release of Stata's format")
	}
	r.Skip(int64(len("<stata_dta><header><release>117</release><byteorder>")))
	if r.Order = binary.ByteOrder(binary.LittleEndian); string(r.Bytes(3)) == "MSF" {
		r.Order = binary.BigEndian
	}
	f.order = r.Order
	r.Skip(int64(len("</byteorder><K>")))
	n, sortWidth := 0, 2
	if f.release == 119 {
		n, sortWidth = int(r.U32()), 4
	} else {
		n = int(r.U16())
	}
	r.Skip(int64(len("</K><N>")))
	if f.release == 117 {
		f.rows = int64(r.U32())
	} else {
		f.rows = int64(min(r.U64(), math.MaxInt64))
	}
	r.Skip(int64(len("</N><label>")))
	if f.release == 117 {
		r.Skip(int64(r.U8()))
	} else {
		r.Skip(int64(r.U16()))
	}
	r.Skip(int64(len("</label><timestamp>")))
	r.Skip(int64(r.U8()))
	r.Skip(int64(len("</timestamp></header><map>")))
	var at [14]int64
	for i := range at {
		at[i] = int64(r.U64())
	}
	r.Skip(int64(len("</map><variable_types>")))
	if int64(n) > f.size/2 {
		return malformed("%d variables in %d bytes", n, f.size)
	}
	for range n {
		t, ok := newType(r.U16())
		if r.Err() != nil {
			return nil
		}
		if !ok {
			return malformed("an unknown type of a variable")
		}
		f.types = append(f.types, t)
	}
	r.Skip(int64(len("</variable_types>")))
	f.describe(r, sortWidth, func(name string, end bool) {
		if end {
			r.Skip(1)
		}
		r.Skip(int64(len(name) + 2))
	})
	if err := r.Err(); err != nil {
		return nil
	}
	for _, part := range []struct {
		tag   string
		at    int64
		start *int64
	}{{"<data>", at[9], &f.at}, {"<strls>", at[10], &f.strings}, {"<value_labels>", at[11], &f.labels}} {
		tag := make([]byte, len(part.tag))
		if part.at > 0 && part.at < f.size {
			_, _ = body.ReadAt(tag, part.at)
		}
		if string(tag) == part.tag {
			*part.start = part.at + int64(len(part.tag))
		}
	}
	if f.at == 0 {
		return malformed("its map does not say where the data are")
	}
	return nil
}

// newType returns a type by its code since release 117.
func newType(code uint16) (stataType, bool) {
	switch {
	case code >= 1 && code <= 2045:
		return stataType{'s', int(code)}, true
	case code == 32768:
		return stataType{'L', 8}, true
	case code >= 65526 && code <= 65530:
		kind := "dflib"[code-65526]
		return stataType{kind, stataWidth(kind)}, true
	}
	return stataType{}, false
}

// isDate reports whether a display format is one of dates, and returns its kind: d day, c and C milliseconds, w week,
// m month, q quarter, h half-year, y year, H milliseconds of which only the time of day is shown.
func isDate(format string) (byte, bool) {
	s := strings.TrimPrefix(strings.TrimPrefix(format, "%"), "-")
	switch {
	case strings.HasPrefix(s, "tc") && len(s) > 2 && strings.Trim(s[2:], "HhMS:.s") == "":
		return 'H', true
	case strings.HasPrefix(s, "d"):
		return 'd', true
	case len(s) > 1 && s[0] == 't' && strings.IndexByte("dcCwmqhy", s[1]) >= 0:
		return s[1], true
	}
	return 0, false
}
