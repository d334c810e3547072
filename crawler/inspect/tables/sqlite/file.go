package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/inspect/tables/source"
)

const magic = "SQLite format 3\x00"

// errDamaged is in the chain of errors about pages that are not as the format says.
var errDamaged = fmt.Errorf("%w: the database is damaged", source.ErrFormat)

// base is a database file.
type base struct {
	body     io.ReaderAt
	size     int64
	pageSize int
	usable   int   // bytes of a page that are in use
	pages    int64 // in the file
	visits   int64 // pages that may still be visited, for all tables
	encoding uint32
}

// maxVisits bounds how often a database is read: no page of a sound one belongs to two tables, and few tables are read
// twice. Those that come before damage may have been read in vain, or again and again.
const maxVisits = 16

// The encodings of texts.
const (
	utf8Text    = 1
	utf16Little = 2
	utf16Big    = 3
)

// open reads the header.
func open(body io.ReaderAt, size int64) (*base, error) {
	var head [100]byte
	if n, err := body.ReadAt(head[:], 0); n < len(head) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: it is shorter than a header", source.ErrFormat)
	}
	if string(head[:16]) != magic {
		return nil, fmt.Errorf("%w: it does not begin as an SQLite database", source.ErrFormat)
	}
	db := &base{body: body, size: size, pageSize: int(binary.BigEndian.Uint16(head[16:])), encoding: binary.BigEndian.Uint32(head[56:])}
	if db.pageSize == 1 {
		db.pageSize = 65536
	}
	db.usable = db.pageSize - int(head[20])
	if db.pageSize < 512 || db.pageSize&(db.pageSize-1) != 0 || db.usable < 480 {
		return nil, fmt.Errorf("%w: pages of %d bytes", errDamaged, db.pageSize)
	}
	if db.encoding == 0 { // of a database without tables
		db.encoding = utf8Text
	}
	if db.encoding > utf16Big {
		return nil, fmt.Errorf("%w: text encoding %d", errDamaged, db.encoding)
	}
	db.pages = (size + int64(db.pageSize) - 1) / int64(db.pageSize)
	db.visits = maxVisits * db.pages
	return db, nil
}

// page reads a page into buf. Pages have numbers from 1.
func (db *base) page(number uint32, buf []byte) ([]byte, error) {
	if number == 0 || int64(number) > db.pages {
		return nil, fmt.Errorf("%w: there is no page %d", errDamaged, number)
	}
	if buf == nil {
		buf = make([]byte, db.pageSize)
	}
	n, err := db.body.ReadAt(buf, int64(number-1)*int64(db.pageSize))
	if n < len(buf) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: page %d is cut off", errDamaged, number)
	}
	return buf, nil
}

// varint reads a number of up to nine bytes; n is 0 if b is too short.
func varint(b []byte) (v uint64, n int) {
	for i, c := range b[:min(len(b), 9)] {
		if i == 8 {
			return v<<8 | uint64(c), 9
		}
		v = v<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
