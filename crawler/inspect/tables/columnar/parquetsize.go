package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"odarchive/crawler/inspect/budget"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/triplestore/compression"
)

// The decoder of Parquet allocates what lengths and counts in a file say: those of the footer, of the lists in it, of
// pages and of the values in them. All are looked at first.

// checkFooter returns an error for a footer that is longer than its file, or whose lists take too much memory.
func checkFooter(in source.Input) error {
	tail := make([]byte, 8)
	if in.Size < 12 {
		return fmt.Errorf("%w: %d bytes", source.ErrFormat, in.Size)
	}
	if _, err := in.Body.ReadAt(tail, in.Size-8); err != nil {
		return err
	}
	size := int64(binary.LittleEndian.Uint32(tail))
	if size > in.Size-12 {
		return fmt.Errorf("%w: a footer of %d bytes in a file of %d", source.ErrFormat, size, in.Size)
	}
	memory := budget.New("the footer", budget.Decoding)
	if err := memory.Spend(uint64(size), 2); err != nil {
		return err
	}
	footer := make([]byte, size)
	if _, err := in.Body.ReadAt(footer, in.Size-8-size); err != nil {
		return err
	}
	t := thriftScan{rest: footer, memory: memory}
	t.structure(0)
	return t.err
}

// thriftScan reads the compact protocol of Thrift, and counts the memory that lists take when they are decoded.
type thriftScan struct {
	rest   []byte
	memory *budget.Budget
	err    error
}

// Types of the compact protocol, and the memory of an element of a list: the structures of Parquet are large.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
	thriftUUID   = 13

	thriftElement   = 24
	thriftStructure = 500
	thriftDepth     = 32
)

func (t *thriftScan) fail() {
	if t.err == nil {
		t.err = fmt.Errorf("%w: its footer cannot be read", source.ErrFormat)
	}
	t.rest = nil
}

func (t *thriftScan) skip(n uint64) []byte {
	if n > uint64(len(t.rest)) {
		t.fail()
		return []byte{0}
	}
	b := t.rest[:n]
	t.rest = t.rest[n:]
	return b
}

func (t *thriftScan) number() uint64 {
	v, n := binary.Uvarint(t.rest)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.rest = t.rest[n:]
	return v
}

func (t *thriftScan) structure(depth int) {
	for t.err == nil {
		field := t.skip(1)[0]
		if field == 0 || t.err != nil {
			return
		}
		if field>>4 == 0 {
			t.number() // its id
		}
		if kind := field & 0xF; kind != thriftTrue && kind != thriftFalse {
			t.value(kind, depth)
		}
	}
}

func (t *thriftScan) value(kind byte, depth int) {
	if depth > thriftDepth {
		t.fail()
	}
	switch kind {
	case thriftTrue, thriftFalse, thriftByte:
		t.skip(1)
	case thriftDouble:
		t.skip(8)
	case thriftUUID:
		t.skip(16)
	case thriftBinary:
		t.skip(t.number())
	case thriftStruct:
		t.structure(depth + 1)
	case thriftList, thriftSet:
		head := t.skip(1)[0]
		n := uint64(head >> 4)
		if n == 15 {
			n = t.number()
		}
		t.elements(n, depth, head&0xF)
	case thriftMap:
		if n := t.number(); n > 0 {
			kinds := t.skip(1)[0]
			t.elements(n, depth, kinds>>4, kinds&0xF)
		}
	default:
		t.number()
	}
}

// elements reads the elements of a list, or the pairs of a map.
func (t *thriftScan) elements(n uint64, depth int, kinds ...byte) {
	size := uint64(thriftElement)
	if kinds[len(kinds)-1] == thriftStruct {
		size = thriftStructure
	}
	if err := t.memory.Spend(n, size); err != nil && t.err == nil {
		t.err, t.rest = err, nil
	}
	for ; n > 0 && t.err == nil; n-- {
		for _, kind := range kinds {
			t.value(kind, depth+1)
		}
	}
}

// pageHead is the maximum length of the header of a page: it has the smallest and the largest value.
const pageHead = 64 << 10

// checkPages returns an error if the pages of a group of rows take too much memory. A page of each column is in memory
// at a time.
func checkPages(in source.Input, group *format.RowGroup) error {
	memory := budget.New("the pages of a group of rows", budget.Block)
	for i := range group.Columns {
		most, err := largestPage(in, &group.Columns[i].MetaData)
		if err == nil {
			err = memory.Spend(1, most)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// largestPage returns the memory that the largest page of a column takes, with the dictionary.
func largestPage(in source.Input, c *format.ColumnMetaData) (most uint64, err error) {
	at := c.DataPageOffset
	if c.DictionaryPageOffset != 0 { // the decoder begins there, wherever it is
		at = c.DictionaryPageOffset
	}
	end := min(at+c.TotalCompressedSize, in.Size)
	if at < 0 || c.TotalCompressedSize < 0 || end < 0 {
		return 0, fmt.Errorf("%w: a column at byte %d of %d", source.ErrFormat, at, in.Size)
	}
	var dictionary uint64
	head := make([]byte, pageHead)
	for at < end {
		n, _ := in.Body.ReadAt(head[:min(pageHead, end-at)], at)
		protocol := thrift.CompactProtocol{}
		r := protocol.NewReaderFromBytes(bytes.Clone(head[:n]))
		var page format.PageHeader
		if err := thrift.NewDecoder(r).Decode(&page); err != nil {
			return 0, fmt.Errorf("%w: the page at byte %d: %v", source.ErrFormat, at, err)
		}
		at += int64(r.BytesRead())
		size := int64(page.CompressedPageSize)
		if size < 0 || page.UncompressedPageSize < 0 || size > in.Size-at {
			return 0, fmt.Errorf("%w: a page of %d bytes at byte %d of %d", source.ErrFormat, size, at, in.Size)
		}
		takes, err := pageMemory(in, c, &page, at, size)
		if err != nil {
			return 0, err
		}
		if page.Type == format.DictionaryPage {
			dictionary = takes
		}
		most = max(most, takes)
		at += size
	}
	return most + dictionary, nil
}

// pageMemory returns the memory that a page takes: its bytes, packed and unpacked, and its values with their levels.
func pageMemory(in source.Input, c *format.ColumnMetaData, page *format.PageHeader, at, size int64) (uint64, error) {
	values := max(page.DataPageHeader.V.NumValues, page.DataPageHeaderV2.V.NumValues, page.DictionaryPageHeader.V.NumValues, 0)
	all := uint64(size) + uint64(page.UncompressedPageSize) + 10*uint64(values)
	if all > budget.Block {
		return all, nil
	}
	// What a page unpacks to is known only by unpacking it. What is packed with Snappy says so, and is believed.
	body := io.NewSectionReader(in.Body, at, size)
	if v2 := page.DataPageHeaderV2; v2.Valid {
		_, _ = body.Seek(int64(v2.V.DefinitionLevelsByteLength)+int64(v2.V.RepetitionLevelsByteLength), io.SeekStart)
		if v2.V.IsCompressed.Valid && !v2.V.IsCompressed.V {
			return all, nil
		}
	}
	var packing compression.Format
	switch c.Codec {
	case format.Snappy:
		head := make([]byte, binary.MaxVarintLen64)
		n, _ := io.ReadFull(body, head)
		said, _ := binary.Uvarint(head[:n])
		return all - uint64(page.UncompressedPageSize) + max(said, uint64(page.UncompressedPageSize)), nil
	case format.Gzip:
		packing = compression.Gzip
	case format.Zstd:
		packing = compression.Zstd
	case format.Brotli:
		packing = compression.Brotli
	case format.Lz4Raw: // whose decoder takes ever more memory for what is damaged
		packed, err := io.ReadAll(body)
		if err == nil {
			_, err = lz4.UncompressBlock(packed, make([]byte, page.UncompressedPageSize))
		}
		if err != nil && page.UncompressedPageSize > 0 {
			return 0, fmt.Errorf("%w: the page at byte %d: %v", source.ErrFormat, at, err)
		}
		return all, nil
	default:
		return all, nil
	}
	unpacked, err := compression.Open(body, packing, compression.Options{MaxWindow: budget.Block})
	if err != nil {
		return all, nil // as above
	}
	defer unpacked.Close()
	n, _ := io.Copy(io.Discard, io.LimitReader(unpacked, budget.Block+1))
	return all - uint64(page.UncompressedPageSize) + max(uint64(n), uint64(page.UncompressedPageSize)), nil
}
