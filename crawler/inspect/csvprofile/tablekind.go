package csvprofile

import (
	"slices"
	"strings"
)

// The kinds of tables that Profile.Kind names.
const (
	KindRelational = "relational" // a row is a record, a column is an attribute
	KindEntity     = "entity"     // the rows are the attributes of one thing: names on the left, values on the right
	KindMatrix     = "matrix"     // columns are values of a dimension, such as years; a cell belongs to a row and a column
)

// maxAttributes is the maximum number of rows of an entity table.
const maxAttributes = 60

// judge sets what the table is from its finished columns and the roles of its rows.
func (p *Profile) judge(r *roles) {
	r.sum(p)
	if r.sectionCount*3 > p.Rows { // rows with one value are what this table has
		r.sections, r.sectionCount = nil, 0
	}
	p.Totals, p.TotalRows, p.Sections, p.SectionRows = r.totals, r.totalCount, r.sections, r.sectionCount
	for i := range p.Columns {
		p.Columns[i].Unit = unitOf(p.Columns[i].Name)
	}
	switch {
	case len(p.Columns) < 2 || p.Rows == 0:
		return
	case p.isEntity():
		p.Kind = KindEntity
	case p.isMatrix():
		p.Kind, p.Subject = KindMatrix, 1
		if p.Columns[0].Datatype != "string" {
			p.Subject = 0
		}
		return
	default:
		p.Kind = KindRelational
	}
	p.Subject = p.subject()
}

// isMatrix reports whether most columns behind the first are named by numbers, years or dates, alone or with the same
// words.
func (p *Profile) isMatrix() bool {
	groups := map[string]int{} // columns by the words besides the place on the axis
	numeric := 0
	for _, c := range p.Columns[1:] {
		words, ok := coordinate(c.Name)
		if !ok {
			continue
		}
		groups[words]++
		if isNumeric(c.Datatype) || c.Datatype == "string" && (c.Mostly != "" || c.Distinct == 0) {
			numeric++
		}
	}
	named := 0
	for _, n := range groups {
		if n >= 3 {
			named += n
		}
	}
	return named >= 3 && named*10 >= (len(p.Columns)-1)*6 && numeric*2 >= named
}

// isNumeric reports whether a datatype is one of numbers.
func isNumeric(datatype string) bool {
	switch datatype {
	case "integer", "decimal", "double", "gYear":
		return true
	}
	return false
}

// coordinate reports whether a column's name says a place on an axis: a number, a date, a year, a span of years, or one
// of these beside other words, which it returns.
func coordinate(name string) (words string, ok bool) {
	switch kindOf(name) {
	case kindInteger, kindDecimal, kindDate, kindYearMonth:
		return "", true
	}
	var rest []string
	for _, w := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" /-–_.", r) }) {
		switch w = strings.Trim(w, "()*[]"); {
		case len(w) >= 4 && isYear(w[:4]) && (len(w) == 4 || len(w) == 6 && (w[4] == 'q' || w[4] == 'm')):
			ok = true
		case ok && len(w) == 2 && strings.Trim(w, "0123456789qtk") == "": // 2010/11, 2010-Q1
		default:
			rest = append(rest, w)
		}
	}
	return strings.Join(rest, " "), ok
}

// isYear reports whether four characters are a year of the last centuries or the next decades.
func isYear(s string) bool {
	return strings.Trim(s, "0123456789") == "" && s >= "1800" && s < "2100"
}

// isEntity reports whether the table has the names of attributes on the left and their values, of several kinds, on the
// right.
func (p *Profile) isEntity() bool {
	if len(p.Columns) != 2 || p.Rows < 3 || p.Rows > maxAttributes || p.Truncated {
		return false
	}
	left, right := &p.Columns[0], &p.Columns[1]
	if left.Datatype != "string" || left.Distinct != p.Rows || left.MaxLen > 60 || right.Datatype != "string" || right.Mostly != "" ||
		right.Class != "" {
		return false
	}
	name := strings.ToLower(left.Name)
	if slices.Contains([]string{"key", "attribute", "property", "field", "parameter", "variable", "schlüssel", "eigenschaft", "merkmal",
		"item", "title", "title:"}, name) {
		return slices.Contains([]string{"value", "values", "wert", "valeur", "valor", "content", "contents", "description"},
			strings.ToLower(right.Name)) || strings.HasSuffix(name, ":")
	}
	return strings.HasSuffix(strings.TrimSpace(left.Name), ":") && strings.HasSuffix(left.Max, ":") && strings.HasSuffix(left.Min, ":")
}

// subject returns the number of the column, from 1, whose values name what the rows are about: the first one of texts
// that are nearly all different, else the first candidate key. 0 if there is none.
func (p *Profile) subject() int {
	key := 0
	for i := range p.Columns {
		c := &p.Columns[i]
		if c.Key && key == 0 {
			key = i + 1
		}
		values := p.Rows - c.Nulls
		switch c.Class {
		case classURL, classEmail, classPhone, classUUID, classWKT, classIBAN:
			continue
		}
		if c.Datatype == "string" && c.Mostly == "" && values > 0 && c.Nulls*10 <= p.Rows && c.Distinct*10 >= values*9 && c.MaxLen <= 200 &&
			c.MaxLen > 1 {
			return i + 1
		}
	}
	return key
}
