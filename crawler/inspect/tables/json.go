package tables

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/cubes"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of one record.
const (
	maxRecord = 8 << 20 // in bytes
	maxNest   = 3       // levels of objects that become columns of their own; deeper ones stay JSON
	maxLevels = 6       // maximum depth of arrays of records
)

// jsonArrays profiles every array of objects in a JSON text, at the top or in members of objects, and every array of
// rows whose first is a header, or the cubes of JSON-stat.
func jsonArrays(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	if cubes.IsJSONStat(in) {
		if found, err := cubes.JSONStat(ctx, in, o); len(found) > 0 || err != nil {
			return found, err
		}
	}
	s := &jsonScan{ctx: ctx, dec: json.NewDecoder(in.Text()), o: o}
	s.dec.UseNumber()
	err := s.value("", 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for p, sum := range s.geometries {
		locate(p, sum, s.system)
	}
	if err != nil && len(s.found) == 0 && ctx.Err() == nil {
		return nil, fmt.Errorf("%w: %v", ErrFormat, err)
	}
	return s.found, err
}

type jsonScan struct {
	ctx   context.Context
	dec   *json.Decoder
	o     Options
	found []*csvprofile.Profile

	geometries map[*csvprofile.Profile]*source.Summary // of the tables that have any
	system     string                                  // what the member "crs" of an older GeoJSON names
}

// value reads one value. Arrays of objects in it become tables.
func (s *jsonScan) value(path string, level int) error {
	tok, err := s.dec.Token()
	if err != nil {
		return err
	}
	switch tok {
	case json.Delim('{'):
		for s.dec.More() {
			key, err := s.dec.Token()
			if err != nil {
				return err
			}
			name, _ := key.(string)
			if path != "" {
				name = path + "." + name
			}
			if level >= maxLevels || len(s.found) >= s.o.MaxTables {
				if err := s.pass(); err != nil {
					return err
				}
			} else if err := s.value(name, level+1); err != nil {
				return err
			}
		}
		_, err = s.dec.Token()
		return err
	case json.Delim('['):
		return s.array(path)
	}
	if name, ok := tok.(string); ok && path == "crs.properties.name" {
		s.system = name
	}
	return nil
}

// pass skips a value.
func (s *jsonScan) pass() error {
	depth := 0
	for {
		tok, err := s.dec.Token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth <= 0 {
			return s.ctx.Err()
		}
	}
}

// array reads the elements of an array. Objects are records.
func (s *jsonScan) array(path string) error {
	records := newFeatures(s.o, len(s.found))
	truncated := false
	n := 0
	var header []string // if the elements are rows
	for s.dec.More() {
		if n++; n&255 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if records.Rows() >= s.o.MaxRows || n > 1000 && records.Rows() == 0 {
			truncated = records.Rows() > 0
			if err := s.pass(); err != nil {
				return err
			}
			continue
		}
		var raw json.RawMessage
		if err := s.dec.Decode(&raw); err != nil {
			return s.end(records, path, true, err)
		}
		switch {
		case header != nil:
			addRow(records.Records, header, raw)
		case !records.addRecord(raw) && n == 1:
			header = headerRow(raw)
		}
		if err := records.Err(); err != nil {
			return err
		}
	}
	_, err := s.dec.Token()
	return s.end(records, path, truncated, err)
}

// end adds the table of an array, if it has rows.
func (s *jsonScan) end(r *features, path string, truncated bool, err error) error {
	if r.Rows() > 0 {
		p := r.Profile(path)
		p.Truncated = truncated
		if source.Worthwhile(p) {
			s.found = append(s.found, p)
			if s.geometries == nil {
				s.geometries = map[*csvprofile.Profile]*source.Summary{}
			}
			s.geometries[p] = &r.geometries
		}
	}
	return err
}

// headerRow returns the strings of an array if each can name a column, else nil.
func headerRow(raw json.RawMessage) []string {
	var names []string
	if raw[0] != '[' || json.Unmarshal(raw, &names) != nil || len(names) < 2 || len(names) > csvprofile.MaxCells/4 {
		return nil
	}
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" || seen[n] {
			return nil
		}
		seen[n] = true
	}
	return names
}

// addRow adds an array of as many values as there are columns. It skips others.
func addRow(r *csvprofile.Records, header []string, raw json.RawMessage) {
	var cells []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &cells) != nil || len(cells) != len(header) {
		return
	}
	values := make([]string, len(cells))
	for i, v := range cells {
		values[i] = cellText(v)
	}
	r.Add(header, values)
}

// cellText returns a string's content, "" for null, and the JSON of any other value.
func cellText(v json.RawMessage) string {
	var s string
	switch {
	case v[0] == '"' && json.Unmarshal(v, &s) == nil:
		return s
	case string(v) == "null":
		return ""
	}
	return string(v)
}

// addRecord adds an object as one row and reports whether raw is one.
func (r *features) addRecord(raw json.RawMessage) bool {
	if trimmed := bytes.TrimLeft(raw, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' || len(raw) > maxRecord {
		return false
	}
	var keys, values []string
	if !flatten(raw, "", 0, &keys, &values) || len(keys) == 0 {
		return false
	}
	r.Add(keys, values)
	if i := slices.Index(keys, "geometry"); i >= 0 && strings.HasPrefix(values[i], "{") {
		r.locate(values[i])
	}
	return true
}

// flatten appends the members of an object as columns, in order: members of inner objects as "outer.inner", arrays and
// deeper objects as JSON. The properties of a GeoJSON feature have no prefix "properties.". It reports whether raw is a
// complete object.
func flatten(raw json.RawMessage, prefix string, level int, keys, values *[]string) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return false
	}
	for dec.More() && len(*keys) < csvprofile.MaxCells/4 {
		tok, err := dec.Token()
		if err != nil {
			return false
		}
		key, _ := tok.(string)
		var v json.RawMessage
		if dec.Decode(&v) != nil {
			return false
		}
		name := prefix + key
		if v[0] == '{' && level+1 < maxNest && key != "geometry" {
			inner := name + "."
			if level == 0 && key == "properties" {
				inner = ""
			}
			flatten(v, inner, level+1, keys, values)
			continue
		}
		*keys, *values = append(*keys, name), append(*values, cellText(v))
	}
	_, err := dec.Token()
	return err == nil
}

// jsonLines profiles a text of one object per line.
func jsonLines(ctx context.Context, in Input, o Options) ([]*csvprofile.Profile, error) {
	r := bufio.NewReaderSize(in.Text(), 256<<10)
	records := newFeatures(o, 0)
	bad := 0
	truncated := false
	for {
		line, err := readLine(r)
		line = bytes.TrimLeft(bytes.TrimSpace(line), "\x1e")
		if len(line) > 0 && !records.addRecord(line) {
			if bad++; bad > 1000 && records.Rows() == 0 {
				return nil, ErrFormat
			}
		}
		if err := records.Err(); err != nil {
			return nil, err
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if records.Rows()&255 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if records.Rows() >= o.MaxRows {
			truncated = true
			break
		}
	}
	if records.Rows() == 0 {
		return nil, nil
	}
	p := records.Profile("")
	p.Truncated = truncated
	locate(p, &records.geometries, "")
	if bad > 0 {
		p.Note("%d lines are not JSON objects", bad)
	}
	return []*csvprofile.Profile{p}, nil
}

// readLine reads one line. It drops what exceeds the maximum record.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxRecord {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
