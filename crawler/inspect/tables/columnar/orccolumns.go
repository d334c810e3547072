package columnar

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/inspect/tables/source"
)

// orcStreams are the streams of a stripe.
type orcStreams struct {
	file      *orcFile
	places    map[[2]int][2]int64 // by column and kind: where it is, and its length
	encodings []orcEncoding
	zone      *time.Location
	end       int64
}

type orcEncoding struct {
	kind int // 0 direct, 1 dictionary, 2 and 3 the same with runs of version 2
	size int64
}

// Kinds of streams.
const (
	orcPresent = 0
	orcData    = 1
	orcLength  = 2
	orcWords   = 3 // of a dictionary
	orcSecond  = 5
)

// orcColumn reads the values of a column, or of a part of one.
type orcColumn struct {
	kind    int
	scale   int
	zone    *time.Location
	present *orcBits // nil: no value is missing
	bits    *orcBits
	bytes   *orcBytes
	ints    *orcInts
	second  *orcInts
	lengths *orcInts
	raw     *bufio.Reader
	words   []string // of a dictionary
	coded   bool
	parts   []*orcColumn
	names   []string
}

// reader returns a stream, which is empty if the stripe does not have it.
func (s *orcStreams) reader(column, kind int) *bufio.Reader {
	p := s.places[[2]int{column, kind}]
	return bufio.NewReaderSize(s.file.stream(p[0], p[1]), 4096)
}

// column opens a column and its parts.
func (s *orcStreams) column(i, depth int) (*orcColumn, error) {
	if i >= len(s.file.types) || i >= len(s.encodings) || depth > orcMaxDepth {
		return nil, errOrc
	}
	t, e := s.file.types[i], s.encodings[i]
	c := &orcColumn{kind: t.kind, scale: t.scale, zone: s.zone, names: t.names, coded: e.kind == 1 || e.kind == 3}
	if _, ok := s.places[[2]int{i, orcPresent}]; ok {
		c.present = &orcBits{bytes: orcBytes{r: s.reader(i, orcPresent)}}
	}
	ints := func(kind int, signed bool) *orcInts {
		return &orcInts{r: s.reader(i, kind), second: e.kind >= 2, signed: signed}
	}
	switch t.kind {
	case orcBoolean:
		c.bits = &orcBits{bytes: orcBytes{r: s.reader(i, orcData)}}
	case orcByte, orcUnion:
		c.bytes = &orcBytes{r: s.reader(i, orcData)}
	case orcShort, orcInt, orcLong, orcDate:
		c.ints = ints(orcData, true)
	case orcFloat, orcDouble:
		c.raw = s.reader(i, orcData)
	case orcString, orcBinary, orcVarchar, orcChar:
		if c.lengths = ints(orcLength, false); !c.coded {
			c.raw = s.reader(i, orcData)
			break
		}
		c.ints = ints(orcData, false)
		if err := c.dictionary(e.size, s.reader(i, orcWords)); err != nil {
			return nil, err
		}
	case orcTimestamp, orcInstant:
		c.ints, c.second = ints(orcData, true), ints(orcSecond, false)
	case orcDecimal:
		if _, ok := s.places[[2]int{i, orcSecond}]; !ok { // whole numbers, as drafts of version 2 have it
			c.ints = &orcInts{r: s.reader(i, orcData), second: true, signed: true}
			break
		}
		c.raw, c.second = s.reader(i, orcData), ints(orcSecond, true)
	case orcList, orcMap:
		c.lengths = ints(orcLength, false)
	case orcStruct:
	default:
		return nil, fmt.Errorf("a type of ORC (%d) that is not read", t.kind)
	}
	for _, part := range t.parts {
		p, err := s.column(part, depth+1)
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, p)
	}
	if c.kind == orcList && len(c.parts) != 1 || c.kind == orcMap && len(c.parts) != 2 {
		return nil, errOrc
	}
	return c, nil
}

// dictionary reads the words of a dictionary.
func (c *orcColumn) dictionary(n int64, r *bufio.Reader) error {
	total := int64(0)
	for range n {
		size, err := c.lengths.next()
		if err != nil {
			return fmt.Errorf("%w: the words of a column: %v", source.ErrFormat, err)
		}
		if total += size + 16; size < 0 || size > orcMaxDict || total > orcMaxDict {
			return fmt.Errorf("%w: the words of a column take more than %d bytes", source.ErrFormat, orcMaxDict)
		}
		word, err := readText(r, size)
		if err != nil {
			return fmt.Errorf("%w: the words of a column: %v", source.ErrFormat, err)
		}
		c.words = append(c.words, cellBinary(word))
	}
	return nil
}

// readText reads n bytes, of which at most cellBytes are kept.
func readText(r *bufio.Reader, n int64) ([]byte, error) {
	if n < 0 {
		return nil, errRun
	}
	kept, err := io.ReadAll(io.LimitReader(r, min(n, cellBytes)))
	if err != nil || int64(len(kept)) < min(n, cellBytes) {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	for n -= int64(len(kept)); n > 0; {
		m, err := r.Discard(int(min(n, 1<<20)))
		if n -= int64(m); err != nil {
			return nil, early(err)
		}
	}
	return kept, nil
}

// missing reports whether the next value is.
func (c *orcColumn) missing() (bool, error) {
	if c.present == nil {
		return false, nil
	}
	ok, err := c.present.next()
	return !ok, err
}

// put adds the cells of the next row. Parts of a missing structure have no values.
func (c *orcColumn) put(f *orcFile, absent bool) error {
	if !absent {
		missing, err := c.missing()
		if err != nil {
			return err
		}
		absent = missing
	}
	if c.kind == orcStruct {
		for _, p := range c.parts {
			if err := p.put(f, absent); err != nil {
				return err
			}
		}
		return nil
	}
	text := ""
	if !absent {
		var err error
		if text, err = c.value(0); err != nil {
			return err
		}
	}
	f.cells = append(f.cells, text)
	return nil
}

// next returns the next value, "" if it is missing.
func (c *orcColumn) next(depth int) (string, error) {
	missing, err := c.missing()
	if missing || err != nil {
		return "", err
	}
	return c.value(depth)
}

// value reads and formats a value that is not missing.
func (c *orcColumn) value(depth int) (string, error) {
	switch c.kind {
	case orcBoolean:
		v, err := c.bits.next()
		return strconv.FormatBool(v), err
	case orcByte:
		v, err := c.bytes.next()
		return strconv.Itoa(int(int8(v))), err
	case orcShort, orcInt, orcLong:
		v, err := c.ints.next()
		return strconv.FormatInt(v, 10), err
	case orcDate:
		v, err := c.ints.next()
		return day(v), err
	case orcFloat, orcDouble:
		return c.float()
	case orcString, orcBinary, orcVarchar, orcChar:
		return c.text()
	case orcTimestamp, orcInstant:
		return c.moment()
	case orcDecimal:
		return c.decimal()
	}
	return c.nested(depth)
}

func (c *orcColumn) float() (string, error) {
	var b [8]byte
	if c.kind == orcFloat {
		_, err := io.ReadFull(c.raw, b[:4])
		return source.Number(float64(math.Float32frombits(binary.LittleEndian.Uint32(b[:]))), 32), err
	}
	_, err := io.ReadFull(c.raw, b[:])
	return source.Number(math.Float64frombits(binary.LittleEndian.Uint64(b[:])), 64), err
}

func (c *orcColumn) text() (string, error) {
	if c.coded {
		i, err := c.ints.next()
		if err != nil || i < 0 || i >= int64(len(c.words)) {
			return "", errors.Join(err, errRun)
		}
		return c.words[i], nil
	}
	n, err := c.lengths.next()
	if err != nil {
		return "", err
	}
	b, err := readText(c.raw, n)
	return cellBinary(b), err
}

// nested reads a list, a map, a structure or a value of one of several types.
func (c *orcColumn) nested(depth int) (string, error) {
	if depth > orcMaxDepth {
		return "", errRun
	}
	var out []string
	switch c.kind {
	case orcList, orcMap:
		n, err := c.lengths.next()
		for i := int64(0); i < n && err == nil; i++ {
			var text, value string
			if text, err = c.parts[0].next(depth + 1); err == nil && c.kind == orcMap {
				value, err = c.parts[1].next(depth + 1)
				text += ": " + value
			}
			if len(out) < cellItems {
				out = append(out, text)
			}
		}
		return strings.Join(out, "; "), err
	case orcUnion:
		i, err := c.bytes.next()
		if err != nil || int(i) >= len(c.parts) {
			return "", errors.Join(err, errRun)
		}
		return c.parts[i].next(depth + 1)
	}
	for i, p := range c.parts {
		text, err := p.next(depth + 1)
		if err != nil {
			return "", err
		}
		if text != "" && i < len(c.names) {
			out = append(out, c.names[i]+": "+text)
		}
	}
	return strings.Join(out, ", "), nil
}
