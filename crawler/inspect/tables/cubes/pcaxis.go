package cubes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/charset"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// A PC-Axis file (PX file format specification 2013, Statistics Sweden) has keywords with values, each ended by a
// semicolon, and last DATA with the cells of the cube: the variables of STUB, then those of HEADING, the last one
// fastest.

// pxFile is what precedes the cells.
type pxFile struct {
	words map[string][]string // values by keyword, with its variable as KEYWORD("variable")
	order []string            // the variables
	keys  map[string]bool     // variables whose values stand before each row of cells (KEYS)
	rest  *bufio.Reader       // the cells
}

// pcAxis profiles the cube of a PC-Axis file.
func pcAxis(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	px, err := openPX(in)
	if err != nil {
		return nil, err
	}
	c, err := px.cube()
	if err != nil {
		return nil, err
	}
	if _, err := c.cells(); err != nil {
		return nil, err
	}
	next := px.cellsOf(c)
	if len(px.keys) > 0 {
		if next, err = px.keyed(c); err != nil {
			return nil, err
		}
	}
	return c.profile(ctx, nil, px.first("TITLE", "DESCRIPTION", "CONTENTS"), c.header("value"), next, o)
}

// PCAxis returns what a PC-Axis file says of its cube.
func PCAxis(in source.Input) (Head, error) {
	px, err := openPX(in)
	if err != nil {
		return Head{}, err
	}
	h := Head{Title: px.first("TITLE", "DESCRIPTION", "CONTENTS"), Source: px.first("SOURCE", "CONTACT"), Language: px.first("LANGUAGE"),
		Unit: px.first("UNITS")}
	h.Updated = px.first("LAST-UPDATED", "CREATION-DATE")
	if len(h.Updated) >= 8 && strings.Trim(h.Updated[:8], "0123456789") == "" { // CCYYMMDD hh:mm
		h.Updated = h.Updated[:4] + "-" + h.Updated[4:6] + "-" + h.Updated[6:8]
	}
	if c, err := px.cube(); err == nil {
		h.Axes = c.heads()
	}
	return h, nil
}

// openPX reads the keywords of a file up to its cells.
func openPX(in source.Input) (*pxFile, error) {
	if page := codepage(in); page != "" {
		in.Charset = page
	}
	px := &pxFile{words: map[string][]string{}, keys: map[string]bool{}, rest: bufio.NewReaderSize(in.Text(), 64<<10)}
	for size := 0; ; {
		key, err := px.key()
		size += len(key)
		switch {
		case errors.Is(err, io.EOF) && len(px.words) == 0, err == nil && len(px.words) == 0 && !keyword(key):
			return nil, fmt.Errorf("%w: it does not begin with a keyword of PC-Axis", source.ErrFormat)
		case err != nil:
			return nil, fmt.Errorf("%w: there is no DATA", source.ErrFormat)
		case key == "DATA":
			return px, px.variables()
		}
		values, n, err := px.values(maxMeta - size)
		if size += n; err != nil || size > maxMeta {
			return nil, fmt.Errorf("%w: %s does not end", source.ErrFormat, key)
		}
		if variable, ok := strings.CutPrefix(key, `KEYS("`); ok {
			px.keys[strings.TrimSuffix(variable, `")`)] = true
		}
		if px.words[key] == nil { // the first language is the main one
			px.words[key] = values
		}
	}
}

// codepage returns the encoding that the beginning of a file names, "" if it names none that is known.
func codepage(in source.Input) string {
	head := make([]byte, min(in.Size, 4096))
	n, _ := in.Body.ReadAt(head, 0) // what is missing is found later
	_, rest, ok := bytes.Cut(head[:n], []byte("CODEPAGE="))
	name, _, end := bytes.Cut(bytes.TrimPrefix(bytes.TrimSpace(rest), []byte{'"'}), []byte{'"'})
	page := strings.ToLower(string(name))
	if !ok || !end || page == "utf-8" || strings.HasPrefix(in.Charset, "utf") {
		return ""
	}
	if _, err := charset.NewReader(bytes.NewReader(nil), page); err != nil {
		return ""
	}
	return page
}

// keyword reports whether a key can be one of PC-Axis.
func keyword(key string) bool {
	name, _, _ := strings.Cut(key, "(")
	return len(name) > 2 && len(name) < 40 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// key reads a keyword up to the equals sign. It drops the language, and all variables in the brackets but the first.
func (px *pxFile) key() (string, error) {
	var b strings.Builder
	inQuotes, language := false, false
	for b.Len() < 4096 {
		r, _, err := px.rest.ReadRune()
		if err != nil {
			return "", err
		}
		switch {
		case r == '"':
			inQuotes = !inQuotes
			b.WriteRune(r)
		case inQuotes:
			b.WriteRune(r)
		case r == '=':
			key := b.String()
			if head, args, ok := strings.Cut(key, `("`); ok {
				variable, _, _ := strings.Cut(args, `"`)
				key = head + `("` + strings.TrimSpace(variable) + `")`
			}
			return key, nil
		case r == '[':
			language = true
		case r == ']':
			language = false
		case r > ' ' && r != '\ufeff' && !language:
			b.WriteRune(r)
		}
	}
	return "", fmt.Errorf("%w: a keyword is too long", source.ErrFormat)
}

// values reads the values of a keyword up to the semicolon, and their size. Adjacent strings are one value.
func (px *pxFile) values(limit int) (all []string, size int, err error) {
	var b strings.Builder
	inQuotes, open, brackets := false, false, 0
	for {
		r, n, err := px.rest.ReadRune()
		if size += n; err != nil || size > limit {
			return nil, size, errors.Join(err, source.ErrFormat)
		}
		switch {
		case r == '"':
			inQuotes, open = !inQuotes, true
		case inQuotes:
			if r >= ' ' {
				b.WriteRune(r)
			}
		case r == ';' || r == ',' && brackets == 0:
			if open || b.Len() > 0 {
				all = append(all, strings.TrimSpace(b.String()))
				size += 16
			}
			b.Reset()
			open = false
			if r == ';' {
				return all, size, nil
			}
		case r > ' ':
			if r == '(' {
				brackets++
			} else if r == ')' {
				brackets--
			}
			b.WriteRune(r)
		}
	}
}

// first returns the first value of the first keyword that has one.
func (px *pxFile) first(keys ...string) string {
	for _, k := range keys {
		if v := px.words[k]; len(v) > 0 && v[0] != "" {
			return v[0]
		}
	}
	return ""
}

// variables sets the order of the variables.
func (px *pxFile) variables() error {
	px.order = append(append(px.order, px.words["STUB"]...), px.words["HEADING"]...)
	if len(px.order) == 0 {
		return fmt.Errorf("%w: neither STUB nor HEADING names a variable", source.ErrFormat)
	}
	return nil
}

// cube returns the axes with their places.
func (px *pxFile) cube() (*cube, error) {
	c := &cube{}
	for _, name := range px.order {
		a := axis{id: name, name: name, labels: px.words[`VALUES("`+name+`")`], codes: px.words[`CODES("`+name+`")`]}
		if len(a.labels) == 0 {
			a.labels = timeList(px.words[`TIMEVAL("`+name+`")`])
		}
		switch {
		case len(a.labels) == 0 && len(a.codes) == 0:
			return nil, fmt.Errorf("%w: variable %q has no values", source.ErrFormat, name)
		case len(a.labels) == 0:
			a.labels = nil
		case len(a.codes) != len(a.labels):
			a.codes = nil
		}
		c.axes = append(c.axes, a)
	}
	return c, nil
}

// timeList returns the points of time of a TIMEVAL that lists them: TLIST(A1),"1994","1995". The values are the same
// as those of VALUES, which files usually have as well.
func timeList(values []string) []string {
	if len(values) > 1 && strings.HasPrefix(values[0], "TLIST(") {
		return values[1:]
	}
	return nil
}

// cell reads the next cell of the data. Quoted symbols for missing values are returned as they are.
func (px *pxFile) cell() (string, error) {
	var b []byte
	inQuotes := false
	for {
		c, err := px.rest.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) && len(b) > 0 {
				return string(b), nil
			}
			return "", err
		}
		switch {
		case c == '"':
			if inQuotes {
				return string(b), nil
			}
			inQuotes = true
		case inQuotes:
			b = append(b, c)
		case c <= ' ' || c == ';' || c == ',':
			if len(b) > 0 {
				return string(b), nil
			}
		default:
			b = append(b, c)
		}
		if len(b) > 1000 {
			return "", fmt.Errorf("%w: a cell is too long", source.ErrFormat)
		}
	}
}

// cellsOf returns the rows of a file with all cells.
func (px *pxFile) cellsOf(c *cube) func() ([]string, error) {
	total, err := c.cells()
	at := int64(0)
	return func() ([]string, error) {
		if err != nil || at >= total {
			return nil, errors.Join(err, io.EOF)
		}
		v, err := px.cell()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = fmt.Errorf("%w: %d of %d cells are missing", source.ErrFormat, total-at, total)
			}
			return nil, err
		}
		at++
		return c.at(at-1, v), nil
	}
}

// keyed returns the rows of a file whose rows of cells begin with the values of the variables with KEYS.
func (px *pxFile) keyed(c *cube) (func() ([]string, error), error) {
	keys, per := 0, int64(1)
	for i := range c.axes {
		a := &c.axes[i]
		if px.keys[a.id] {
			if keys++; keys != i+1 {
				return nil, fmt.Errorf("%w: KEYS of a variable that is not among the first", source.ErrFormat)
			}
			continue
		}
		per *= int64(a.size())
	}
	places := make([]map[string]int, keys)
	for i := range places {
		places[i] = map[string]int{}
		for _, words := range [][]string{c.axes[i].labels, c.axes[i].codes} {
			for n, w := range words {
				places[i][w] = n
			}
		}
	}
	at, first := per, int64(0)
	return func() ([]string, error) {
		if at >= per {
			first = 0
			for i := range keys {
				key, err := px.cell()
				if err != nil {
					return nil, err
				}
				n, ok := places[i][key]
				if !ok {
					return nil, fmt.Errorf("%w: %q is no value of %q", source.ErrFormat, key, c.axes[i].id)
				}
				first = first*int64(c.axes[i].size()) + int64(n)
			}
			at, first = 0, first*per
		}
		v, err := px.cell()
		if err != nil {
			return nil, err
		}
		at++
		return c.at(first+at-1, v), nil
	}, nil
}
