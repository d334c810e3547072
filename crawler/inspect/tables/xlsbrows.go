package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// xlsbRows reads the rows of a sheet.
type xlsbRows struct {
	book    *xlsbBook
	records *xlsbRecords
	row     int // whose cells follow
	given   int // rows that were returned, empty ones among them
	begun   bool
	done    bool
	column  int      // of the last cell, -1 before the first
	held    []string // a complete row
	heldRow int
	cells   []string
}

// next returns the next row. Empty rows before it are returned, too, unless they are many.
func (r *xlsbRows) next() ([]string, error) {
	for r.held == nil && !r.done {
		if err := r.read(); err != nil {
			return nil, err
		}
	}
	if r.held == nil {
		return nil, io.EOF
	}
	if gap := r.heldRow - r.given; gap > 0 && gap <= xlsGap {
		r.given++
		return []string{}, nil
	}
	row := r.held
	r.held, r.given = nil, max(r.given, r.heldRow+1)
	return row, nil
}

// read reads one record.
func (r *xlsbRows) read() error {
	id, data, err := r.records.next()
	if errors.Is(err, io.EOF) {
		r.end()
		return nil
	}
	if err != nil {
		r.end()
		if r.held == nil {
			return fmt.Errorf("%w: a sheet: %v", ErrFormat, err)
		}
		return nil
	}
	switch {
	case id == brtBeginSheet:
		r.begun = true
	case !r.begun:
	case id == brtEndSheetData:
		r.end()
	case id == brtRowHdr && len(data) >= 4:
		r.finish()
		r.row, r.column = int(u32(data)), -1
	case id >= brtShortBlank && id <= brtShortIsst && len(data) >= 4:
		r.column++
		r.cell(id-brtShortBlank+1, u32(data)&0xffffff, data[4:])
	case id < brtShortBlank && len(data) >= 8, id == brtCellRString && len(data) >= 8:
		r.column = int(min(u32(data), xlsbMaxColumn))
		r.cell(id, u32(data[4:])&0xffffff, data[8:])
	}
	return nil
}

// finish holds the row that has been read.
func (r *xlsbRows) finish() {
	if len(r.cells) > 0 {
		r.held, r.heldRow = slices.Clone(r.cells), r.row
		r.cells = r.cells[:0]
	}
}

func (r *xlsbRows) end() {
	r.finish()
	r.done = true
}

// cell reads a cell in the column r.column.
func (r *xlsbRows) cell(id int, style uint32, data []byte) {
	text := ""
	switch {
	case id == brtCellRk && len(data) >= 4:
		text = r.book.number(rk(u32(data)), uint16(min(style, math.MaxUint16)))
	case (id == brtCellReal || id == brtFmlaNum) && len(data) >= 8:
		text = r.book.number(math.Float64frombits(binary.LittleEndian.Uint64(data)), uint16(min(style, math.MaxUint16)))
	case (id == brtCellBool || id == brtFmlaBool) && len(data) >= 1:
		text = strconv.FormatBool(data[0] != 0)
	case id == brtCellSt || id == brtFmlaString:
		text, _ = wide(data)
	case id == brtCellRString && len(data) > 1:
		text, _ = wide(data[1:])
	case id == brtCellIsst && len(data) >= 4:
		if i := int(u32(data)); i < len(r.book.strings) {
			text = r.book.strings[i]
		}
	}
	if text == "" || r.column >= xlsbMaxColumn {
		return
	}
	for len(r.cells) <= r.column {
		r.cells = append(r.cells, "")
	}
	r.cells[r.column] = text
}
