package cubes

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// JSON-stat (json-stat.org/full) has a data set at the top (2.0), in the items of a collection, or as a member of a
// bundle (1.x).

// statHead is how much of a text is examined to recognise JSON-stat.
const statHead = 128 << 10

// maxStatus bounds the states of cells that are kept while the values are read.
const maxStatus = 1_000_000

// dataset is a data set of JSON-stat of any version.
type dataset struct {
	Class     string                     `json:"class"`
	Label     string                     `json:"label"`
	Source    string                     `json:"source"`
	Updated   string                     `json:"updated"`
	ID        []string                   `json:"id"`
	Size      []int                      `json:"size"`
	Dimension map[string]json.RawMessage `json:"dimension"`
	Value     json.RawMessage            `json:"value"`
	Status    json.RawMessage            `json:"status"`
	Link      struct {
		Item []json.RawMessage `json:"item"`
	} `json:"link"`
}

// category are the places of a dimension.
type category struct {
	Label    string `json:"label"`
	Category struct {
		Index json.RawMessage   `json:"index"`
		Label map[string]string `json:"label"`
	} `json:"category"`
}

// IsJSONStat reports whether a text in JSON is, by its beginning, JSON-stat: an object with dimensions and values, or
// one with such a member.
func IsJSONStat(in source.Input) bool {
	dec := json.NewDecoder(io.LimitReader(in.Text(), statHead))
	keys := []map[string]bool{{}, {}} // of the outer object, and of its member that has most
	version2 := false
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return false
	}
	type level struct {
		object, value bool
		key           string
	}
	stack := []level{{object: true}}
	for range 200_000 {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		top := &stack[len(stack)-1]
		switch t := tok.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				if len(stack) > 100 {
					return false
				}
				if top.object {
					top.value = false
				}
				if len(stack) == 1 && t == '{' && top.key != "dimension" {
					keys[1] = map[string]bool{}
				}
				stack = append(stack, level{object: t == '{'})
				continue
			}
			if stack = stack[:len(stack)-1]; len(stack) == 0 {
				return version2 || cubic(keys[0]) || cubic(keys[1])
			}
		case string:
			if top.object && !top.value {
				top.key, top.value = t, true
				if len(stack) <= 2 {
					keys[len(stack)-1][t] = true
				}
				continue
			}
			if len(stack) == 1 && top.key == "class" {
				version2 = version2 || (t == "dataset" || t == "collection") && keys[0]["version"]
			}
		}
		if cubic(keys[0]) || cubic(keys[1]) || version2 {
			return true
		}
		top.value = false
	}
	return version2 || cubic(keys[0]) || cubic(keys[1]) || (keys[0]["value"] || keys[1]["value"]) && namesDimensions(in)
}

// namesDimensions reports whether a text has the word "dimension" in quotation marks, and then "category".
func namesDimensions(in source.Input) bool {
	words := []string{`"dimension"`, `"category"`}
	r := in.Text()
	buf := make([]byte, 0, 64<<10)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for len(words) > 0 {
			i := bytes.Index(buf, []byte(words[0]))
			if i < 0 {
				break
			}
			buf, words = append(buf[:0], buf[i+len(words[0]):]...), words[1:]
		}
		if err != nil || len(words) == 0 {
			return len(words) == 0
		}
		if over := len(buf) - len(words[0]); over > 0 {
			buf = append(buf[:0], buf[over:]...)
		}
	}
}

// cubic reports whether an object has the members of a data set.
func cubic(keys map[string]bool) bool { return keys["dimension"] && keys["value"] }

// JSONStat profiles the cubes of a text in JSON-stat.
func JSONStat(ctx context.Context, in source.Input, o source.Options) (found []*csvprofile.Profile, err error) {
	sets, err := statSets(in, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	for _, s := range sets {
		if len(found) >= o.MaxTables {
			break
		}
		c, err := s.set.cube()
		if err != nil {
			return found, err
		}
		if found, err = s.set.read(ctx, c, found, cmp.Or(s.set.Label, s.name), o); err != nil {
			return found, err
		}
	}
	return found, nil
}

// JSONStatHead returns what a text in JSON-stat says of its first cube, and the number of cubes.
func JSONStatHead(in source.Input) (h Head, n int, err error) {
	sets, err := statSets(in, source.Options{}.WithDefaults().MaxBytes)
	if err != nil || len(sets) == 0 {
		return Head{}, 0, err
	}
	s := sets[0].set
	h = Head{Title: s.Label, Source: s.Source, Updated: s.Updated}
	if c, err := s.cube(); err == nil {
		h.Axes = c.heads()
	}
	return h, len(sets), nil
}

type namedSet struct {
	name string
	set  *dataset
}

// statSets returns the data sets of a text, with their names in a bundle.
func statSets(in source.Input, limit int64) (sets []namedSet, err error) {
	if in.Size > limit {
		return nil, fmt.Errorf("%w: JSON-stat of more than %d MiB is not read", source.ErrFormat, limit>>20)
	}
	raw, err := io.ReadAll(io.LimitReader(in.Text(), 2*limit))
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	s := &dataset{}
	if json.Unmarshal(raw, s) == nil {
		if s.Dimension != nil && s.Value != nil {
			return []namedSet{{"", s}}, nil
		}
		for _, item := range s.Link.Item {
			part := &dataset{}
			if json.Unmarshal(item, part) == nil && part.Dimension != nil && part.Value != nil {
				sets = append(sets, namedSet{"", part})
			}
		}
		if s.Class != "" {
			return sets, nil
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, fmt.Errorf("%w: it is not an object of JSON", source.ErrFormat)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return sets, fmt.Errorf("%w: %v", source.ErrFormat, err)
		}
		var member json.RawMessage
		if err := dec.Decode(&member); err != nil {
			return sets, fmt.Errorf("%w: %v", source.ErrFormat, err)
		}
		part := &dataset{}
		if json.Unmarshal(member, part) == nil && part.Dimension != nil && part.Value != nil {
			sets = append(sets, namedSet{fmt.Sprint(key), part})
		}
	}
	return sets, nil
}

// cube returns the axes of a data set.
func (s *dataset) cube() (*cube, error) {
	for key, list := range map[string]any{"id": &s.ID, "size": &s.Size} { // version 1 has them among the dimensions
		if raw := s.Dimension[key]; len(raw) > 0 && raw[0] == '[' {
			if err := json.Unmarshal(raw, list); err != nil {
				return nil, fmt.Errorf("%w: %s: %v", source.ErrFormat, key, err)
			}
		}
	}
	if len(s.ID) != len(s.Size) || len(s.ID) == 0 || len(s.ID) > maxAxes {
		return nil, fmt.Errorf("%w: %d dimensions with %d sizes", source.ErrFormat, len(s.ID), len(s.Size))
	}
	c := &cube{}
	places := 0
	for i, id := range s.ID {
		size := s.Size[i]
		if places += size; size < 1 || places > maxPlaces || int64(size) > int64(len(s.Dimension[id])+1000) && size > 1 {
			return nil, fmt.Errorf("%w: dimension %q has %d places", source.ErrFormat, id, size)
		}
		d := category{}
		if raw := s.Dimension[id]; raw != nil {
			if err := json.Unmarshal(raw, &d); err != nil {
				return nil, fmt.Errorf("%w: dimension %q: %v", source.ErrFormat, id, err)
			}
		}
		codes, err := d.codes(size)
		if err != nil {
			return nil, fmt.Errorf("%w: dimension %q: %v", source.ErrFormat, id, err)
		}
		a := axis{id: id, name: d.Label, codes: codes}
		if len(d.Category.Label) > 0 {
			for _, code := range codes {
				a.labels = append(a.labels, cmp.Or(d.Category.Label[code], code))
			}
		}
		c.axes = append(c.axes, a)
	}
	if _, err := c.cells(); err != nil {
		return nil, err
	}
	return c, nil
}

// codes returns the codes of a dimension in the order of its places.
func (d *category) codes(size int) ([]string, error) {
	codes := make([]string, size)
	index := d.Category.Index
	switch {
	case len(index) > 0 && index[0] == '[':
		var list []string
		if err := json.Unmarshal(index, &list); err != nil || len(list) != size {
			return nil, fmt.Errorf("%d of %d places have codes", len(list), size)
		}
		return list, nil
	case len(index) > 0 && index[0] == '{':
		var at map[string]int
		if err := json.Unmarshal(index, &at); err != nil {
			return nil, err
		}
		for code, i := range at {
			if i < 0 || i >= size {
				return nil, fmt.Errorf("place %d of %d", i, size)
			}
			codes[i] = code
		}
	case size == 1: // the index may be missing
		if all := slices.Sorted(maps.Keys(d.Category.Label)); len(all) > 0 {
			codes[0] = all[0]
		}
	default:
		return nil, errors.New("its places have no codes")
	}
	for i := range codes {
		codes[i] = cmp.Or(codes[i], strconv.Itoa(i))
	}
	return codes, nil
}

// read profiles the cells of a data set: all those that have a value or stand in a list of values.
func (s *dataset) read(ctx context.Context, c *cube, found []*csvprofile.Profile, name string, o source.Options) ([]*csvprofile.Profile,
	error) {
	total, err := c.cells()
	if err != nil {
		return found, err
	}
	status := s.states()
	dec := json.NewDecoder(bytes.NewReader(s.Value))
	dec.UseNumber()
	open, err := dec.Token()
	if err != nil || open != json.Delim('[') && open != json.Delim('{') {
		return found, fmt.Errorf("%w: the values are neither a list nor an object", source.ErrFormat)
	}
	header := c.header("value")
	if len(status) > 0 {
		header = append(header, "status")
	}
	at := int64(-1)
	next := func() ([]string, error) {
		if !dec.More() {
			return nil, io.EOF
		}
		at++
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			if at, err = strconv.ParseInt(fmt.Sprint(key), 10, 64); err != nil {
				return nil, fmt.Errorf("%w: a value of the cell %q", source.ErrFormat, key)
			}
		}
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		if at < 0 || at >= total {
			return nil, fmt.Errorf("%w: a value of cell %d of %d", source.ErrFormat, at, total)
		}
		if len(status) > 0 {
			return c.at(at, scalar(tok), status[at]), nil
		}
		return c.at(at, scalar(tok)), nil
	}
	return c.profile(ctx, found, name, header, next, o)
}

// states returns the states of cells, at most maxStatus.
func (s *dataset) states() map[int64]string {
	dec := json.NewDecoder(bytes.NewReader(s.Status))
	open, err := dec.Token()
	if err != nil || open != json.Delim('[') && open != json.Delim('{') {
		return nil
	}
	states := map[int64]string{}
	for at := int64(0); dec.More() && len(states) < maxStatus; at++ {
		if open == json.Delim('{') {
			key, err := dec.Token()
			if err != nil {
				break
			}
			if at, err = strconv.ParseInt(fmt.Sprint(key), 10, 64); err != nil {
				break
			}
		}
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if text := scalar(tok); text != "" {
			states[at] = text
		}
	}
	return states
}

// scalar returns the text of a value that is neither an object nor a list, "" for null.
func scalar(tok json.Token) string {
	switch t := tok.(type) {
	case string:
		return t
	case json.Number:
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	case float64:
		return strconv.FormatFloat(t, 'g', -1, 64)
	}
	return ""
}
