package sqlite

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/cespare/xxhash/v2"
)

// The kinds of values.
const (
	kindNull = iota
	kindInteger
	kindReal
	kindText
	kindBlob
)

// value is one value of a row.
type value struct {
	kind    int
	integer int64
	real    float64
	bytes   []byte // of a text, in the database's encoding, or of a blob
	preset  string // a text of the schema; bytes is nil
}

// row is a row as it is stored.
type row struct {
	id     int64
	values []value
}

// maxValues bounds the values of a row: the format allows 32,767.
const maxValues = 32767

// parse reads a record. Its values share memory with b.
func (r *row) parse(b []byte) error {
	r.values = r.values[:0]
	head, n := varint(b)
	if n == 0 || head < uint64(n) || head > uint64(len(b)) {
		return fmt.Errorf("%w: a row has no header", errDamaged)
	}
	types, body := b[n:head], b[head:]
	for len(types) > 0 {
		t, n := varint(types)
		if n == 0 || len(r.values) >= maxValues {
			return fmt.Errorf("%w: a row has no header", errDamaged)
		}
		types = types[n:]
		size := uint64(0)
		switch {
		case t >= 12:
			size = (t - 12) / 2
		case t <= 4:
			size = t
		case t == 5:
			size = 6
		case t <= 7:
			size = 8
		}
		if size > uint64(len(body)) {
			return fmt.Errorf("%w: a row runs beyond its end", errDamaged)
		}
		raw := body[:size]
		body = body[size:]
		switch {
		case t == 0 || t == 10 || t == 11:
			r.values = append(r.values, value{})
		case t == 7:
			r.values = append(r.values, value{kind: kindReal, real: math.Float64frombits(binary.BigEndian.Uint64(raw))})
		case t == 8 || t == 9:
			r.values = append(r.values, value{kind: kindInteger, integer: int64(t - 8)})
		case t <= 6:
			v := int64(int8(raw[0]))
			for _, c := range raw[1:] {
				v = v<<8 | int64(c)
			}
			r.values = append(r.values, value{kind: kindInteger, integer: v})
		case t%2 == 0:
			r.values = append(r.values, value{kind: kindBlob, bytes: raw})
		default:
			r.values = append(r.values, value{kind: kindText, bytes: raw})
		}
	}
	return nil
}

// value returns the value of a column.
func (r *row) value(c column) value {
	switch {
	case c.stored < 0:
		return value{}
	case c.stored >= len(r.values): // the column was added after the row
		return c.preset
	case c.rowID && r.values[c.stored].kind == kindNull:
		return value{kind: kindInteger, integer: r.id}
	}
	return r.values[c.stored]
}

// shownBlob is the maximum size of a blob that is shown as it is.
const shownBlob = 32

// text returns a value as text: numbers and booleans as XSD writes them, short blobs in hexadecimal digits, and of long
// ones their size and a hash.
func (db *base) text(v value, c column) string {
	switch v.kind {
	case kindInteger:
		switch {
		case c.boolean && v.integer == 0:
			return "false"
		case c.boolean && v.integer == 1:
			return "true"
		case c.real: // stored without its fraction to save room
			return decimal(float64(v.integer))
		}
		return strconv.FormatInt(v.integer, 10)
	case kindReal:
		return decimal(v.real)
	case kindText:
		return v.preset + db.decode(v.bytes)
	case kindBlob:
		if len(v.bytes) <= shownBlob {
			return hex.EncodeToString(v.bytes)
		}
		return fmt.Sprintf("%d bytes, xxh64 %016x", len(v.bytes), xxhash.Sum64(v.bytes))
	}
	return ""
}

func decimal(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 0):
		return map[bool]string{true: "INF", false: "-INF"}[v > 0]
	case a != 0 && (a < 1e-9 || a >= 1e15):
		return strconv.FormatFloat(v, 'E', -1, 64)
	case v == math.Trunc(v):
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// decode returns a text in UTF-8.
func (db *base) decode(b []byte) string {
	if db.encoding == utf8Text {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if db.encoding == utf16Big {
		order = binary.BigEndian
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}
