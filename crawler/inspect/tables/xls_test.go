package tables

import (
	"context"
	"encoding/binary"
	"math"
	"reflect"
	"testing"
)

// biff writes records of a workbook.
type biff []byte

func (b *biff) record(id uint16, fields ...any) {
	var data []byte
	for _, f := range fields {
		if s, ok := f.(string); ok {
			data = append(data, s...)
			continue
		}
		data, _ = binary.Append(data, binary.LittleEndian, f)
	}
	*b = binary.LittleEndian.AppendUint16(*b, id)
	*b = binary.LittleEndian.AppendUint16(*b, uint16(len(data)))
	*b = append(*b, data...)
}

// townsWorkbook has a sheet of strings, numbers in every form, dates and formulas.
func townsWorkbook() []byte {
	var b biff
	b.record(recBOF, uint16(0x600), uint16(5), uint64(0), uint32(0))
	b.record(recFormat, uint16(164), uint16(10), byte(0), `dd\\.mm\\.yy`)
	b.record(recFormat, uint16(165), uint16(8), byte(0), "#,##0.00")
	for _, format := range []uint16{0, 164, 165, 21} {
		b.record(recXF, uint16(0), format, uint64(0), uint64(0))
	}
	at := len(b) + 4
	b.record(recBoundSheet, uint32(0), byte(0), byte(0), byte(5), byte(0), "towns")
	b.record(recSST, uint32(5), uint32(5), uint16(4), byte(0), "town", uint16(5), byte(0), "since", uint16(4), byte(0), "Wi")
	b.record(recContinue, byte(1), []uint16{'e', 'n'}, uint16(4), byte(8), uint16(1), "Graz", uint32(7), uint16(6), byte(0), "people")
	b.record(recEOF)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)))
	b.record(recBOF, uint16(0x600), uint16(0x10), uint64(0), uint32(0))
	for col, s := range []uint32{0, 4, 1} {
		b.record(recLabelSST, uint16(0), uint16(col), uint16(0), s)
	}
	b.record(recLabelSST, uint16(1), uint16(0), uint16(0), uint32(2))
	b.record(recMulRk, uint16(1), uint16(1), uint16(2), uint32(191119000<<2|3), uint16(1), uint32(43831<<2|2), uint16(2))
	b.record(recBOF, uint16(0x600), uint16(0x20), uint64(0), uint32(0)) // a chart
	b.record(recNumber, uint16(9), uint16(9), uint16(0), 1.0)
	b.record(recEOF)
	b.record(recLabelSST, uint16(2), uint16(0), uint16(0), uint32(3))
	b.record(recFormula, uint16(2), uint16(1), uint16(2), 291072.5, uint16(0), uint32(0), uint16(0))
	b.record(recFormula, uint16(2), uint16(2), uint16(1), byte(0), [5]byte{}, uint16(0xFFFF), uint16(0), uint32(0), uint16(0))
	b.record(recString, uint16(10), byte(0), "2020-02-03")
	b.record(recEOF)
	return b
}

func TestWorkbooksOfOldExcelHaveNumbersDatesAndFormulas(t *testing.T) {
	t.Parallel()
	found, err := xlsSheets(context.Background(), townsWorkbook(), Options{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if got := summary(found); got != "towns: 2; town string, people decimal, since date" {
		t.Fatal(got)
	}
	var got []string
	for _, c := range found[0].Columns {
		got = append(got, c.Min, c.Max)
	}
	if want := []string{"Graz", "Wien", "291072.5", "1911190", "2020-01-01", "2020-02-03"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var locked biff
	locked.record(recBOF, uint16(0x600), uint16(5))
	locked.record(recFilePass, uint16(1))
	if _, err := xlsSheets(context.Background(), locked, Options{}); err != errEncrypted {
		t.Error(err)
	}
}

func TestNumbersOfOldExcelAreDatesWhereTheirFormatSaysSo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		format string
		x      float64
		want   string
	}{
		{"General", 0.1 + 0.2, "0.3"}, {"#,##0.00", -1234.5, "-1234.5"}, {"0.00E+00", 1e20, "100000000000000000000"},
		{"yyyy", 1, "1900-01-01"}, {"d/m/yy", 59, "1900-02-28"},
		{"d/m/yy", 61, "1900-03-01"}, {`[$-409]d\-mmm\-yy;@`, 43831, "2020-01-01"}, {"m/d/yy h:mm", 43831.5, "2020-01-01T12:00:00"},
		{"h:mm AM/PM", 0.75, "18:00:00"}, {"[h]:mm", 1.5, "36"},
		{`0 "days"`, 3, "3"}, {"Standard", 7, "7"}, {"mmm", 43831, "2020-01-01"}, {"[Red]0", 5, "5"}, {"mm:ss.0", 0.5, "12:00:00"},
		{"yyyy", -1, "-1"}, {"", math.Inf(1), ""},
	} {
		w := &xlsWorkbook{styles: []uint16{164}, formats: map[uint16]dateParts{164: datePartsOf(c.format)}}
		if got := w.number(c.x, 0); got != c.want {
			t.Errorf("%v as %q: %q, want %q", c.x, c.format, got, c.want)
		}
	}
	for v, want := range map[uint32]float64{5<<2 | 2: 5, 0xFFFFFFFC | 2: -1, 12345<<2 | 3: 123.45, 0x3FF00000: 1, 0x3FF00001: 0.01} {
		if got := rk(v); got != want {
			t.Errorf("%#x: %v, want %v", v, got, want)
		}
	}
}

func FuzzWorkbook(f *testing.F) {
	f.Add(townsWorkbook())
	f.Fuzz(func(t *testing.T, stream []byte) {
		xlsSheets(context.Background(), stream, Options{}.WithDefaults())
	})
}
