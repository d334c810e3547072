package columnar

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// avroBlock reads values from an unpacked block.
type avroBlock struct {
	b     []byte
	at    int
	err   error
	items int // of lists, to bound those that take no bytes
}

func (b *avroBlock) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *avroBlock) take(n int64) []byte {
	if n < 0 || n > int64(len(b.b)-b.at) {
		b.fail(io.ErrUnexpectedEOF)
		return nil
	}
	b.at += int(n)
	return b.b[b.at-int(n) : b.at]
}

func (b *avroBlock) long() int64 {
	v, n := binary.Varint(b.b[b.at:])
	if n <= 0 {
		b.fail(io.ErrUnexpectedEOF)
		return 0
	}
	b.at += n
	return v
}

// index reads a number from 0 to n-1.
func (b *avroBlock) index(n int) int {
	i := b.long()
	if i < 0 || i >= int64(n) {
		b.fail(fmt.Errorf("an option %d of %d", i, n))
		return 0
	}
	return int(i)
}

// value reads and formats a value.
func (b *avroBlock) value(t *avroType, depth int) string {
	if b.err != nil || depth > 50 {
		b.fail(errors.New("too deep a value"))
		return ""
	}
	switch t.kind {
	case "boolean":
		if c := b.take(1); c != nil {
			return strconv.FormatBool(c[0] != 0)
		}
	case "int", "long":
		return t.whole(b.long())
	case "float":
		if c := b.take(4); c != nil {
			return source.Number(float64(math.Float32frombits(binary.LittleEndian.Uint32(c))), 32)
		}
	case "double":
		if c := b.take(8); c != nil {
			return source.Number(math.Float64frombits(binary.LittleEndian.Uint64(c)), 64)
		}
	case "string":
		return cellText(b.take(b.long()))
	case "bytes":
		return t.bytes(b.take(b.long()))
	case "fixed":
		return t.bytes(b.take(int64(t.size)))
	case "enum":
		if i := b.index(len(t.symbols)); b.err == nil {
			return t.symbols[i]
		}
	case "union":
		if i := b.index(len(t.options)); b.err == nil {
			return b.value(t.options[i], depth+1)
		}
	case "array", "map":
		return b.list(t, depth)
	case "record":
		var out []string
		for _, field := range t.fields {
			if v := b.value(field.of, depth+1); v != "" {
				out = append(out, field.name+": "+v)
			}
		}
		return strings.Join(out, ", ")
	}
	return ""
}

// list reads an array or a map.
func (b *avroBlock) list(t *avroType, depth int) string {
	var out []string
	for n := b.long(); n != 0 && b.err == nil; n = b.long() {
		if n < 0 {
			n = -n
			b.long()
		}
		for ; n > 0 && b.err == nil; n-- {
			if b.items++; b.items > 100_000_000 {
				b.fail(errors.New("lists of too many values"))
			}
			key := ""
			if t.kind == "map" {
				key = cellText(b.take(b.long())) + ": "
			}
			if v := b.value(t.of, depth+1); len(out) < cellItems {
				out = append(out, key+v)
			}
		}
	}
	return strings.Join(out, "; ")
}

// whole formats an integer by the type's meaning.
func (t *avroType) whole(v int64) string {
	switch t.logical {
	case "date":
		return day(v)
	case "time-millis", "time-micros":
		unit := map[string]int{"time-millis": 1, "time-micros": 2}[t.logical]
		return strings.TrimPrefix(moment(v, unit, false), "1970-01-01T")
	case "timestamp-millis", "timestamp-micros", "timestamp-nanos", "local-timestamp-millis", "local-timestamp-micros",
		"local-timestamp-nanos":
		unit := 1 + slices.Index([]string{"millis", "micros", "nanos"}, t.logical[strings.LastIndexByte(t.logical, '-')+1:])
		return moment(v, unit, t.logical[0] == 't')
	}
	return strconv.FormatInt(v, 10)
}

// bytes formats bytes by the type's meaning.
func (t *avroType) bytes(b []byte) string {
	if t.logical != "decimal" || len(b) > 1000 {
		return cellBinary(b)
	}
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return decimal(n.String(), t.scale)
}
