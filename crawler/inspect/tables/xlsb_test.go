package tables

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

const xlsbType = "application/vnd.ms-excel.sheet.binary.macroenabled.12"

// xlsbRecord returns a record of a binary workbook.
func xlsbRecord(id int, parts ...[]byte) []byte {
	data := bytes.Join(parts, nil)
	b := []byte{byte(id)}
	if id > 0x7f {
		b = []byte{byte(id) | 0x80, byte(id >> 7)}
	}
	return append(append(b, byte(len(data))&0x7f|0x80, byte(len(data)>>7)), data...)
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

func wideText(s string) []byte {
	units := utf16.Encode([]rune(s))
	b := le32(uint32(len(units)))
	for _, u := range units {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func xlsbCell(id, column, style int, value []byte) []byte {
	return xlsbRecord(id, le32(uint32(column)), le32(uint32(style)), value)
}

func float(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }

// xlsbFile writes a workbook of two sheets.
func xlsbFile(t testing.TB) []byte {
	row := func(n int) []byte { return xlsbRecord(brtRowHdr, le32(uint32(n)), make([]byte, 13)) }
	begin, end := xlsbRecord(brtBeginSheet), xlsbRecord(brtEndSheetData)
	parts := map[string][]byte{
		"[Content_Types].xml": []byte(
			`<Types><Override PartName="/xl/workbook.bin" ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>`),
		"xl/_rels/workbook.bin.rels": []byte(
			`<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.bin"/><Relationship Id="rId2" ` +
				`Target="/xl/worksheets/sheet2.bin"/></Relationships>`),
		"xl/workbook.bin": slices.Concat(xlsbRecord(brtWbProp, make([]byte, 12)),
			xlsbRecord(brtBundleSh, make([]byte, 8), wideText("rId1"), wideText("Bäume")),
			xlsbRecord(brtBundleSh, make([]byte, 8), wideText("rId2"), wideText("second"))),
		"xl/sharedStrings.bin": slices.Concat(xlsbRecord(brtSSTItem, []byte{0}, wideText("name")),
			xlsbRecord(brtSSTItem, []byte{0}, wideText("Eiche 🌳")), xlsbRecord(brtSSTItem, []byte{0}, wideText("Linde"))),
		"xl/styles.bin": slices.Concat(xlsbRecord(brtFmt, []byte{200, 0}, wideText(`dd\.mm\.yyyy`)), xlsbRecord(brtXF, []byte{0, 0, 14, 0}),
			xlsbRecord(brtBeginCellXFs, le32(2)),
			xlsbRecord(brtXF, []byte{0, 0, 0, 0}), xlsbRecord(brtXF, []byte{0, 0, 200, 0}), xlsbRecord(brtEndCellXFs)),
		"xl/worksheets/sheet1.bin": slices.Concat(begin,
			row(0), xlsbCell(brtCellIsst, 0, 0, le32(0)), xlsbCell(brtCellSt, 1, 0, wideText("height")),
			xlsbCell(brtCellSt, 2, 0, wideText("planted")), xlsbCell(brtCellSt, 3, 0, wideText("felled")),
			row(1), xlsbCell(brtCellIsst, 0, 0, le32(1)), xlsbCell(brtCellReal, 1, 0, float(12.5)),
			xlsbCell(brtCellRk, 2, 1, le32(43890<<2|2)), xlsbCell(brtCellBool, 3, 0, []byte{1}),
			row(2), xlsbCell(brtCellIsst, 0, 0, le32(2)), xlsbCell(brtFmlaNum, 1, 0, append(float(7), 0, 0, 0)),
			xlsbCell(brtFmlaBool, 3, 0, []byte{0}),
			row(3), xlsbCell(brtFmlaString, 0, 0, wideText("Ulme")), xlsbCell(brtCellRk, 1, 0, le32(1234<<2|3)), end),
		"xl/worksheets/sheet2.bin": slices.Concat(begin, row(4), xlsbCell(brtCellSt, 0, 0, wideText("a")), row(5),
			xlsbCell(brtCellReal, 0, 0, float(1)), row(6), xlsbCell(brtCellReal, 0, 0, float(2)), end),
	}
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range []string{"[Content_Types].xml", "xl/_rels/workbook.bin.rels", "xl/workbook.bin", "xl/sharedStrings.bin",
		"xl/styles.bin", "xl/worksheets/sheet1.bin", "xl/worksheets/sheet2.bin"} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(parts[name])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSheetsOfABinaryWorkbookAreRead(t *testing.T) {
	b := xlsbFile(t)
	in := Input{Type: xlsbType, Size: int64(len(b)), Body: bytes.NewReader(b)}
	found, err := Read(context.Background(), in, Options{Sample: 10})
	if err != nil || len(found) != 2 {
		t.Fatal(len(found), err)
	}
	var rows []string
	for _, r := range found[0].Sample {
		rows = append(rows, strings.Join(r, "|"))
	}
	if got, want := strings.Join(rows, "\n"), "Eiche 🌳|12.5|2020-02-29|true\nLinde|7||false\nUlme|12.34||"; found[0].Name != "Bäume" ||
		got != want {
		t.Errorf("%s: got\n%s\nwant\n%s", found[0].Name, got, want)
	}
	if c := found[0].Columns; c[0].Name != "name" || c[1].Datatype != "decimal" || c[2].Datatype != "date" || c[3].Datatype != "boolean" {
		t.Errorf("columns %+v", c)
	}
	if p := found[1]; p.Name != "second" || p.Rows != 2 || p.Columns[0].Name != "a" {
		t.Errorf("%+v", p)
	}
}

func FuzzXLSBSheet(f *testing.F) {
	f.Add(xlsbRecord(brtCellReal, make([]byte, 16)))
	f.Fuzz(func(t *testing.T, sheet []byte) {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for name, part := range map[string][]byte{
			"xl/_rels/workbook.bin.rels": []byte(`<r><Relationship Id="rId1" Target="s.bin"/></r>`), "xl/styles.bin": sheet,
			"xl/sharedStrings.bin": sheet,
			"xl/workbook.bin":      xlsbRecord(brtBundleSh, make([]byte, 8), wideText("rId1"), wideText("x")),
			"xl/s.bin":             append(xlsbRecord(brtBeginSheet), sheet...),
		} {
			w, _ := z.CreateHeader(&zip.FileHeader{Name: name})
			_, _ = w.Write(part)
		}
		_ = z.Close()
		_, _ = xlsb(context.Background(), Input{Type: xlsbType, Size: int64(out.Len()), Body: bytes.NewReader(out.Bytes())},
			Options{MaxRows: 1000}.WithDefaults())
	})
}
