package csvprofile

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// finish returns the Column of a table with that many rows. Values that a small column still has in its table are
// sketched, and examined for their class, only if the datatype needs it.
func (c *column) finish(name string, rows int64) Column {
	c.seal()
	c.readPending()
	if c.hll != nil {
		for _, cell := range c.pending {
			c.hll.add(xxhash.Sum64(cell))
		}
	}
	col := Column{Name: name, Nulls: c.empty, MinLen: c.st.minLen, MaxLen: c.st.maxLen}
	if c.st.minLen == math.MaxInt {
		col.MinLen = 0
	}
	col.Datatype = c.datatype(&col, name)
	words := func(v string) bool { return col.Datatype != "string" || strongNull(v) }
	for _, w := range c.st.nulls {
		if words(w.Value) {
			col.Nulls += w.Count
			col.NullWords = append(col.NullWords, w.Value)
		} else {
			n := runes([]byte(w.Value))
			if c.st.minLen == math.MaxInt {
				c.st.minLen = n
			}
			c.st.minLen, c.st.maxLen = min(c.st.minLen, n), max(c.st.maxLen, n)
			col.MinLen, col.MaxLen = c.st.minLen, c.st.maxLen
			c.st.text([]byte(w.Value))
		}
	}
	slices.Sort(col.NullWords)
	c.distinct(&col)
	c.extremes(&col)
	c.top(&col)
	if sketched(col.Datatype) {
		for _, cell := range c.pending {
			c.sketch.add(xxhash.Sum64(cell))
		}
		col.Sketch = c.sketch.sketch()
	}
	col.Class = classOf(&col, c.values)
	col.Personal = personal(col.Class)
	return col
}

// values returns the first values, those already folded and those in the table.
func (c *column) values() []string {
	for _, cell := range c.pending {
		if !c.sample.add(cell) {
			break
		}
	}
	return c.sample.values()
}

// distinct sets what is known of repeated values.
func (c *column) distinct(col *Column) {
	if c.exact {
		col.Exact = true
		col.Distinct = int64(c.used - len(col.NullWords))
		col.Unique = !c.dup && col.Distinct > 0
	} else {
		col.Distinct = max(c.hll.estimate()-int64(len(col.NullWords)), 1)
		col.Unique = c.off && !c.dup && !c.unique.dup && !c.unique.unknown
		if col.Unique {
			col.Distinct, col.Exact = c.cells, true
		}
		col.Distinct = min(col.Distinct, c.cells)
	}
	col.Key = col.Unique && col.Nulls == 0
}

// top sets the most frequent values.
func (c *column) top(col *Column) {
	value := func(s *slot) []byte { return c.text[s.off:][:s.len] }
	order := func(a, b *slot) int {
		if a.est != b.est {
			return cmp.Compare(b.est, a.est)
		}
		return bytes.Compare(value(a), value(b))
	}
	limit := topN + len(col.NullWords)
	// The most frequent values in order, and count, first byte and prefix of the last of them.
	best := make([]*slot, 0, limit+1)
	minCount, first, last := uint32(1), byte(math.MaxUint8), uint64(math.MaxUint64)
	if !c.exact {
		minCount = 2
	}
	for i := range c.slots {
		s := &c.slots[i]
		if s.est < minCount || s.est == minCount && (c.text[s.off] > first || prefix(value(s)) > last) || len(best) == limit &&
			order(s, best[limit-1]) > 0 {
			continue
		}
		at := len(best)
		for at > 0 && order(s, best[at-1]) < 0 {
			at--
		}
		best = slices.Insert(best, at, s)
		if len(best) >= limit {
			best = best[:limit]
			minCount, first, last = best[limit-1].est, c.text[best[limit-1].off], prefix(value(best[limit-1]))
		}
	}
	for _, s := range best {
		v := string(value(s))
		if slices.Contains(col.NullWords, v) {
			continue
		}
		if col.Top = append(col.Top, Count{v, int64(s.est)}); len(col.Top) == topN {
			break
		}
	}
	if col.Distinct > int64(len(col.Top)) { // values that occur once are not frequent
		if col.Top = slices.DeleteFunc(col.Top, func(c Count) bool { return c.Count == 1 }); len(col.Top) == 0 {
			col.Top = nil
		}
	}
}

// datatype returns the column's type and sets the format that goes with it.
func (c *column) datatype(col *Column, name string) string {
	n := c.st.count
	values := c.cells - n[kindNull]
	if values <= 0 {
		return "string"
	}
	numeric := n[kindInteger] + n[kindDecimal] + n[kindDouble]
	f := c.st.forms
	switch values {
	case numeric:
		if t := c.numberType(col, name); t != "" {
			return t
		}
	case n[kindBoolean]:
		if f&boolStyles != 0 && !c.st.boolMixed && (c.st.bools[0] != "" && c.st.bools[1] != "" || f&boolTrueFalse != 0) {
			if format := c.st.boolFormat(); format != "true|false" {
				col.Format = format
			}
			return "boolean"
		}
	case n[kindDate]:
		if format := dateFormat(f); format != "" && !(outline(f) && !dateName(name)) {
			if format != "yyyy-MM-dd" {
				col.Format = format
			}
			return "date"
		}
	case n[kindDateTime]:
		if format := dateTimeFormat(f); format != "" {
			if !strings.HasPrefix(format, "yyyy-MM-ddTHH:mm:ss") || f&timeZoneWord != 0 {
				col.Format = format
			}
			return "dateTime"
		}
	case n[kindTime]:
		if f&(timeHM|timeHMS) != 0 {
			if format := timeFormat(f); !strings.HasPrefix(format, "HH:mm:ss") || f&(timeZoneWord|time12) != 0 {
				col.Format = format
			}
			return "time"
		}
	case n[kindYearMonth]:
		if format := yearMonthFormat(f); format != "" {
			if format != "yyyy-MM" {
				col.Format = format
			}
			return "gYearMonth"
		}
	case n[kindDuration]:
		return "duration"
	case n[kindURI]:
		return "anyURI"
	}
	c.mostly(col, values, numeric)
	return "string"
}

// mostly sets the datatype of nearly all values of a text column.
func (c *column) mostly(col *Column, values, numeric int64) {
	n := c.st.count
	for _, m := range []struct {
		n    int64
		name string
	}{{n[kindInteger], "integer"}, {numeric, "decimal"}, {n[kindDate], "date"}, {n[kindDateTime], "dateTime"}, {n[kindURI], "anyURI"},
		{n[kindBoolean], "boolean"}} {
		if m.n < values && m.n*100 >= values*95 {
			col.Mostly = m.name
			return
		}
	}
}

// numberType returns the type of a column of numbers and sets how they are written, "" if they are not written alike.
func (c *column) numberType(col *Column, name string) string {
	n, f := c.st.count, c.st.forms
	if f&numStyles == 0 {
		return ""
	}
	integers := n[kindDecimal]+n[kindDouble] == 0
	switch {
	case f&numDot != 0:
	case f&numGroupComma != 0:
		col.Group, col.Format = ",", "#,##0.###"
	case f&numComma != 0:
		col.Decimal = ","
	case f&numGroupDot != 0:
		col.Decimal, col.Group, col.Format = ",", ".", "#,##0.###"
	case f&numApostrophe != 0:
		col.Group, col.Format = "'", "#,##0.###"
	case f&numSpaceDot != 0:
		col.Group, col.Format = " ", "#,##0.###"
	case f&numSpaceComma != 0:
		col.Decimal, col.Group, col.Format = ",", " ", "#,##0.###"
	}
	if f&numPercent != 0 {
		col.Format = "#0.###%"
		return "decimal"
	}
	if !integers {
		if n[kindDouble] > 0 {
			return "double"
		}
		return "decimal"
	}
	if col.Group != "" {
		col.Format = "#,##0"
	}
	switch {
	case f&numNoZeros == 0 && c.st.maxLen > 1:
		col.Group, col.Decimal, col.Format = "", "", ""
		return "string" // a code, which would lose its zeros as a number
	case f&dateNoSep != 0 && f&dateYMD != 0:
		col.Format = "yyyyMMdd"
		return "date"
	case f&numYear != 0 && yearName(name):
		return "gYear"
	}
	return "integer"
}

// outline reports whether dates are written as numbers of an outline may be: 2.2.30, without leading zeros and century.
func outline(f forms) bool {
	return f&dateDot != 0 && f&dateYear2 != 0 && f&(dateYear4|datePadded) == 0
}

// dateName reports whether a column's name says that it contains dates.
func dateName(name string) bool {
	if nameHas(name, "date", "day", "datum", "dat", "tag", "fecha", "data", "dato", "dag", "päivä", "jour", "giorno", "dia", "día", "am",
		"von", "bis", "start", "end", "seit", "since", "stand") {
		return true
	}
	low := strings.ToLower(name)
	return strings.HasSuffix(low, "datum") || strings.HasSuffix(low, "date") || strings.HasSuffix(low, "tag") ||
		strings.HasPrefix(low, "date")
}

// yearName reports whether a column's name says that it contains years.
func yearName(name string) bool {
	low := strings.ToLower(name)
	for _, w := range strings.FieldsFunc(low, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r > 127) }) {
		switch w {
		case "year", "years", "yr", "jahr", "année", "annee", "año", "ano", "anno", "rok", "jaar", "år", "ar", "vuosi", "period", "jahre",
			"év", "год":
			return true
		}
	}
	return strings.HasSuffix(low, "year") || strings.HasSuffix(low, "jahr")
}

// finite returns a number, nil if it is none: sums and squares of the largest numbers have no place in a float64, and
// JSON has no infinity.
func finite(x float64) *float64 {
	if x-x != 0 {
		return nil
	}
	return &x
}

// extremes sets minimum, maximum, mean and quantiles in the datatype's own form.
func (c *column) extremes(col *Column) {
	q := &c.st.num
	switch col.Datatype {
	case "integer", "decimal", "double", "gYear":
		col.Min, col.Max = c.canonical(q.min, q.minLex, col), c.canonical(q.max, q.maxLex, col)
		col.Mean = finite(q.mean())
		if q.n > 1 {
			col.StdDev = finite(q.deviation())
		}
		c.quantiles(col, func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) })
	case "date":
		format := day
		if col.Format == "yyyyMMdd" {
			format = func(x float64) string {
				n := int(x)
				return fmt.Sprintf("%04d-%02d-%02d", n/10000, n/100%100, n%100)
			}
		}
		col.Min, col.Max = format(q.min), format(q.max)
		c.quantiles(col, format)
	case "dateTime":
		format := func(x float64) string { return instant(x, c.st.forms&timeZone != 0) }
		col.Min, col.Max = format(q.min), format(q.max)
		c.quantiles(col, format)
	case "time":
		format := func(x float64) string {
			n := int(x)
			return fmt.Sprintf("%02d:%02d:%02d", n/3600, n/60%60, n%60)
		}
		col.Min, col.Max = format(q.min), format(q.max)
	case "gYearMonth":
		format := func(x float64) string {
			n := int(x) - 1
			return fmt.Sprintf("%04d-%02d", n/12, n%12+1)
		}
		col.Min, col.Max = format(q.min), format(q.max)
	default:
		col.Min, col.Max = cut(c.st.minText, 100), cut(c.st.maxText, 100)
	}
}

// cut returns the first max characters of b as valid UTF-8.
func cut(b []byte, max int) string {
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	n := 0
	for i := range s {
		if n++; n > max {
			return s[:i]
		}
	}
	return s
}

// quantiles sets the quantiles.
func (c *column) quantiles(col *Column, format func(float64) string) {
	s := c.st.num.sample
	if len(s) == 0 {
		return
	}
	for _, x := range quantiles(s, []float64{0.05, 0.25, 0.5, 0.75, 0.95}) {
		col.Quantiles = append(col.Quantiles, format(x))
	}
}
