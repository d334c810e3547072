package diff

import "slices"

// Schema is the schema of a table that is known beforehand, as from a profile.
type Schema struct {
	Rows    int64 // without the header
	Columns []KnownColumn
}

// KnownSketch is the maximum number of hashes of a KnownColumn.
const KnownSketch = sketchSize

// KnownColumn is a column of a Schema.
type KnownColumn struct {
	Type   string   // of its values, as of Column
	Key    bool     // every row has a value in it, and no two the same
	Sketch []uint32 // the lowest hashes of its distinct values, ascending, up to KnownSketch; nil = unknown
}

// schemas returns the schemas that came with the sides if these suffice, or those that reading both tables finds.
func (c *tableDiff) schemas() (both [2]*schema, err error) {
	var open [2]*rows
	var headers [2][]string
	defer func() {
		for _, t := range open {
			t.close()
		}
	}()
	for i, s := range c.sides {
		if c.dialects[i], err = s.dialect(c.ctx); err != nil {
			return both, err
		}
		if open[i], headers[i], err = openRows(c.ctx, s, c.dialects[i]); err != nil {
			return both, err
		}
		both[i] = s.Schema.under(headers[i], c.dialects[i])
	}
	if enough(both[0], both[1]) {
		return both, nil
	}
	for i, t := range open {
		if both[i], err = readSchema(t, headers[i], c.seed, c.o.Memory/(8*keyColumns*2)); err != nil {
			return both, err
		}
	}
	return both, nil
}

// under returns a known schema with the names of a header, nil if it does not fit.
func (k *Schema) under(header []string, d Dialect) *schema {
	if k == nil {
		return nil
	}
	names := uniqueNames(header)
	if d.NoHeader {
		names = numbered(len(k.Columns))
	}
	if len(names) != len(k.Columns) {
		return nil
	}
	s := &schema{rows: k.Rows}
	for i, known := range k.Columns {
		types, ok := typeNamed(known.Type)
		if !ok {
			return nil
		}
		c := &column{name: names[i], types: types, unique: known.Key && i < keyColumns}
		for _, h := range known.Sketch[:min(len(known.Sketch), KnownSketch)] {
			c.sketch = append(c.sketch, uint64(h))
		}
		s.columns = append(s.columns, c)
	}
	return s
}

func typeNamed(name string) (typeSet, bool) {
	for _, t := range []typeSet{0, isInteger, isDecimal, isDate, isBoolean, isString} {
		if t.String() == name {
			return t, true
		}
	}
	return 0, false
}

// enough reports whether two known schemas suffice to match the columns, for which values matter only if names differ,
// and to choose a key.
func enough(a, b *schema) bool {
	if a == nil || b == nil || len(a.columns) != len(b.columns) {
		return false
	}
	for _, x := range a.columns {
		at := slices.IndexFunc(b.columns, func(y *column) bool { return y.name == x.name })
		if at < 0 {
			return false
		}
		if y := b.columns[at]; x.unique && y.unique && (x.sketch == nil || y.sketch == nil) {
			return false
		}
	}
	return true
}
