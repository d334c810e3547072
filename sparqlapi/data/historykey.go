package data

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/bits"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/sparqlapi/problem"
)

// pastKey is the value of one column of a row's key.
type pastKey struct {
	name  string
	text  string // as the request has it
	plain string // as XSD writes it, for versions that write it otherwise
}

func newPastKey(c Comparison, col *column) pastKey {
	k := pastKey{name: c.Column, text: c.Value, plain: c.Value}
	if typed := col.typed(c.Value); typed != nil {
		k.plain = fmt.Sprint(typed)
	}
	return k
}

// in returns the values that the cells of a column may have.
func (k *pastKey) in(col *column) []value {
	list := []value{col.read(k.text)}
	if k.plain != k.text {
		list = append(list, col.read(k.plain))
	}
	return list
}

// keyOfCondition returns the key that a condition gives.
func keyOfCondition(where string, columns []column) (key []Comparison, err error) {
	clauses, err := parseKey(where, columns)
	if err != nil {
		return nil, problem.Wrap(http.StatusBadRequest, "Bad key", err)
	}
	for _, c := range clauses {
		if c.op != "=" && c.op != "==" {
			return nil, problem.Newf(http.StatusBadRequest, "Bad key",
				"a row is named by column = value, joined by and; the condition has %s", c.op)
		}
		key = append(key, Comparison{columns[c.at].name, "=", c.text})
	}
	if len(key) == 0 {
		return nil, problem.New(http.StatusBadRequest, "Bad key", "the condition is empty")
	}
	return key, nil
}

// parseKey is parseWhere for columns whose values may be of any datatype, since those of another version may be.
func parseKey(where string, columns []column) ([]clause, error) {
	plain := make([]column, len(columns))
	for i, c := range columns {
		plain[i] = column{name: c.name, datatype: c.datatype, profile: c.profile}
	}
	return parseWhere(where, plain)
}

// Limits of the search for a key.
const (
	keyColumns = 16
	keyWidth   = 4       // columns of a key
	keyMasks   = 1 << 14 // different sets of columns in which other rows are the same
)

// keyOfRow returns the key of the row with a number: the columns that the request names, those that the file declares,
// or the fewest that no other row has the same values in.
func (h *Histories) keyOfRow(ctx context.Context, v catalog.Version, t archive.Table, columns []column, r HistoryRequest) ([]Comparison,
	error) {
	cells, err := h.rowAt(ctx, v, t, r.Row)
	if err != nil {
		return nil, err
	}
	var at []int
	for _, name := range r.Key {
		i := indexOf(columns, name)
		if i < 0 {
			return nil, problem.Wrap(http.StatusBadRequest, "Bad key", unknownColumn(name, columns))
		}
		at = append(at, i)
	}
	if len(at) == 0 {
		for _, n := range t.Profile.PrimaryKey {
			if n >= 1 && n <= len(columns) {
				at = append(at, n-1)
			}
		}
	}
	if len(at) == 0 {
		if at, err = h.foundKey(ctx, v, t, columns, cells, r.Row); err != nil {
			return nil, err
		}
	}
	var key []Comparison
	for _, i := range at {
		key = append(key, Comparison{columns[i].name, "=", cells[i]})
	}
	return key, nil
}

// rowAt returns the cells of a row.
func (h *Histories) rowAt(ctx context.Context, v catalog.Version, t archive.Table, row int64) (cells []string, err error) {
	n := int64(0)
	err = h.archive.EachRowFrom(ctx, v, t, inspect.Marks{}, func(list [][]byte) error {
		if n == row {
			cells = textsOf(list, len(t.Profile.Columns))
			return errEnough
		}
		n++
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	if cells == nil {
		return nil, problem.Newf(http.StatusNotFound, "No such row", "the table has %d rows, the first is 0", n)
	}
	return cells, nil
}

// costOf returns how little a column is like one that identifies things: measured values change, names do not. It is 0
// for a column that cannot be part of a key.
func costOf(t archive.Table, i int) float64 {
	c := t.Profile.Columns[i]
	name := strings.ToLower(c.Name)
	names := name == "id" || name == "key" || strings.HasSuffix(name, "id") || strings.HasSuffix(name, "nr") ||
		strings.HasSuffix(name, "code") || strings.HasSuffix(name, "key")
	cost := 2.0
	switch {
	case c.Datatype == "decimal" || c.Datatype == "double" || c.MaxLen > 200 || c.Distinct <= 1:
		return 0
	case c.Key && names:
		cost = 1
	case names:
	case c.MaxLen > 40:
		cost = 4 // descriptions and geometries
	case c.Datatype == "integer" && c.Key && i > 0:
		cost = 6 // numbers without such a name are often counts
	case c.Datatype == "integer" && !c.Key:
		cost = 10
	}
	return cost - 0.9*min(float64(c.Distinct)/float64(max(t.Profile.Rows, 1)), 1)
}

// foundKey returns the cheapest columns that no other row has the same values in.
func (h *Histories) foundKey(ctx context.Context, v catalog.Version, t archive.Table, columns []column, row []string, number int64) ([]int,
	error) {
	var at []int
	costs := map[int]float64{}
	for i := range columns {
		if c := costOf(t, i); c > 0 {
			costs[i] = c
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	at = at[:min(len(at), keyColumns)]
	masks, n := map[uint16]bool{}, int64(0)
	err := h.archive.EachRowFrom(ctx, v, t, inspect.Marks{}, func(cells [][]byte) error {
		if n++; n-1 == number || len(masks) >= keyMasks {
			return nil
		}
		mask := uint16(0)
		for bit, i := range at {
			if i < len(cells) && string(cells[i]) == row[i] || i >= len(cells) && row[i] == "" {
				mask |= 1 << bit
			}
		}
		masks[mask] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	others := slices.Collect(maps.Keys(masks))
	best, bestCost := uint16(0), 0.0
	for set := range 1 << len(at) {
		set := uint16(set)
		if n := bits.OnesCount16(set); n == 0 || n > keyWidth {
			continue
		}
		cost := 0.0
		for bit, i := range at {
			if set&(1<<bit) != 0 {
				cost += costs[i]
			}
		}
		if best != 0 && cost >= bestCost || coveredBy(others, set) {
			continue
		}
		best, bestCost = set, cost
	}
	if best == 0 || len(masks) >= keyMasks {
		return nil, problem.New(http.StatusUnprocessableEntity, "No key",
			"no few columns identify this row: other rows have the same values. Name the columns of the key with the parameter key")
	}
	var key []int
	for bit, i := range at {
		if best&(1<<bit) != 0 {
			key = append(key, i)
		}
	}
	slices.Sort(key)
	return key, nil
}

// coveredBy reports whether another row is the same in all columns of a set.
func coveredBy(masks []uint16, set uint16) bool {
	for _, mask := range masks {
		if mask&set == set {
			return true
		}
	}
	return false
}
