package tables

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Records of a workbook of Excel 5 to 2003 ([MS-XLS] 2.3).
const (
	recFormula    = 0x006
	recEOF        = 0x00A
	recDate1904   = 0x022
	recFilePass   = 0x02F
	recContinue   = 0x03C
	recCodePage   = 0x042
	recBoundSheet = 0x085
	recMulRk      = 0x0BD
	recRString    = 0x0D6
	recXF         = 0x0E0
	recSST        = 0x0FC
	recLabelSST   = 0x0FD
	recNumber     = 0x203
	recLabel      = 0x204
	recBoolErr    = 0x205
	recString     = 0x207
	recRk         = 0x27E
	recFormat     = 0x41E
	recBOF        = 0x809
)

// xlsWidth is the maximum number of cells of a row, xlsGap that of empty rows between others.
const (
	xlsWidth = 256
	xlsGap   = 1000
)

// xlsBook reads the sheets of a workbook of Excel 5 to 2003: values, and the last results of formulas.
func xlsBook(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if err := in.Within(o.MaxBytes); err != nil {
		return nil, err
	}
	stream, err := workbookStream(in, o)
	if err != nil {
		return nil, err
	}
	return xlsSheets(ctx, stream, o)
}

// xlsSheets reads the sheets in a stream of records.
func xlsSheets(ctx context.Context, stream []byte, o Options) ([]*csvprofile.Profile, error) {
	book, err := readGlobals(stream)
	if err != nil {
		return nil, err
	}
	var found []*csvprofile.Profile
	for _, sheet := range book.sheets {
		if len(found) >= o.MaxTables || sheet.at >= len(stream) {
			break
		}
		rows := &xlsRows{book: book, rest: stream[sheet.at:]}
		if found, _, err = source.Sheet(ctx, sheet.name, rows.next, found, o); err != nil {
			return found, err
		}
	}
	return found, nil
}

// workbookStream returns the stream of records in the OLE container.
func workbookStream(in Input, o Options) ([]byte, error) {
	file, err := openCFB(in.Body, in.Size)
	if err != nil {
		return nil, err
	}
	entry, ok := file.find("Workbook", "Book")
	if !ok {
		return nil, fmt.Errorf("%w: no workbook in it", ErrFormat)
	}
	return file.read(entry, o.MaxBytes), nil
}

// xlsWorkbook is what the sheets of a workbook share.
type xlsWorkbook struct {
	wide    bool // BIFF8, with strings in UTF-16; else BIFF5, in a code page
	page    string
	from    float64 // first day of the workbook's calendar, in days after the default one
	sheets  []xlsSheet
	strings []string
	formats map[uint16]dateParts // of the file's own number formats
	styles  []uint16             // number format of each cell style
}

type xlsSheet struct {
	name string
	at   int
}

// xlsRecord returns the next record of a stream and the rest. ok is false at the end.
func xlsRecord(stream []byte) (id uint16, data, rest []byte, ok bool) {
	if len(stream) < 4 {
		return 0, nil, nil, false
	}
	n := 4 + int(u16(stream[2:]))
	if n > len(stream) {
		return 0, nil, nil, false
	}
	return u16(stream), stream[4:n], stream[n:], true
}

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

var errEncrypted = errors.New("encrypted")

// readGlobals reads what the sheets of a workbook share, which comes first.
func readGlobals(stream []byte) (*xlsWorkbook, error) {
	id, data, rest, ok := xlsRecord(stream)
	if !ok || id != recBOF || len(data) < 4 {
		return nil, fmt.Errorf("%w: not a workbook of Excel 5 to 2003", ErrFormat)
	}
	w := &xlsWorkbook{wide: u16(data) >= 0x600, page: "windows-1252", formats: map[uint16]dateParts{}}
	for {
		if id, data, rest, ok = xlsRecord(rest); !ok || id == recEOF {
			return w, nil
		}
		switch {
		case id == recFilePass:
			return nil, errEncrypted
		case id == recDate1904 && len(data) >= 2 && u16(data) == 1:
			w.from = 1462
		case id == recCodePage && len(data) >= 2:
			w.page = codePage(u16(data))
		case id == recFormat && len(data) > 2:
			w.formats[u16(data)] = datePartsOf(w.text(data[2:], w.wide))
		case id == recXF && len(data) >= 4:
			w.styles = append(w.styles, u16(data[2:]))
		case id == recBoundSheet && len(data) > 7 && data[5] == 0: // a worksheet
			w.sheets = append(w.sheets, xlsSheet{w.text(data[6:], false), int(u32(data))})
		case id == recSST && len(data) >= 8:
			pieces := [][]byte{data[8:]}
			for {
				next, more, after, ok := xlsRecord(rest)
				if !ok || next != recContinue {
					break
				}
				pieces, rest = append(pieces, more), after
			}
			w.strings = sharedStrings(pieces)
		}
	}
}
