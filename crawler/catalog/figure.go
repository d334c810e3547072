package catalog

import (
	"bytes"
	"fmt"
	"strconv"
)

// Figure is a count of a report, unless nobody has counted: the zero Figure is not known. In JSON it is null then, or
// left out (omitzero), and never 0.
type Figure struct {
	n     int64
	known bool
}

// Counted returns a figure that was counted.
func Counted[N int | int64 | uint64](n N) Figure { return Figure{int64(n), true} }

// N returns the count, 0 if it is not known.
func (f Figure) N() int { return int(f.n) }

// Known reports whether somebody has counted.
func (f Figure) Known() bool { return f.known }

// Plus adds what was counted elsewhere. The sum is known if one of both is.
func (f Figure) Plus(o Figure) Figure { return Figure{f.n + o.n, f.known || o.known} }

// Add counts n more.
func (f *Figure) Add(n int) { *f = f.Plus(Counted(n)) }

// Or returns the count as text, or else a text that says why there is none.
func (f Figure) Or(unknown string) string {
	if !f.known {
		return unknown
	}
	return strconv.FormatInt(f.n, 10)
}

func (f Figure) String() string { return f.Or("not known") }

// MarshalJSON implements json.Marshaler.
func (f Figure) MarshalJSON() ([]byte, error) { return []byte(f.Or("null")), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (f *Figure) UnmarshalJSON(raw []byte) error {
	*f = Figure{}
	if bytes.Equal(raw, []byte("null")) {
		return nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		return fmt.Errorf("figure %.20q is neither a count nor null", raw)
	}
	*f = Figure{n, true}
	return nil
}
