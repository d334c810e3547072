package geo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of the points of one geometry, and of all of a topology: they may use an arc any number of times.
const (
	maxFigure = 2_000_000
	maxPoints = 50_000_000
)

// topo is what the objects of a TopoJSON document share.
type topo struct {
	Transform *struct {
		Scale, Translate [2]float64
	}
	Arcs [][][]float64

	left  int // points that may still be drawn
	inOne int // points of the present geometry that may still be drawn
}

// topoObject is a geometry object.
type topoObject struct {
	Type        string
	ID          json.RawMessage
	Properties  json.RawMessage
	Coordinates json.RawMessage
	Arcs        json.RawMessage
	Geometries  []json.RawMessage
}

// topology profiles the objects of a TopoJSON document (github.com/topojson/topojson-specification), each a table.
func topology(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	if in.Size > o.MaxBytes {
		return nil, fmt.Errorf("%w: larger than %d MiB", source.ErrFormat, o.MaxBytes>>20)
	}
	text, err := io.ReadAll(in.Text())
	if err != nil {
		return nil, err
	}
	t := topo{left: maxPoints}
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%w: %v", source.ErrFormat, err)
	}
	t.absolute()
	keys, objects, err := members(text, "objects")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", source.ErrFormat, err)
	}
	var found []*csvprofile.Profile
	for i, raw := range objects {
		if len(found) >= o.MaxTables {
			break
		}
		var object topoObject
		if json.Unmarshal(raw, &object) != nil {
			continue
		}
		rows := []json.RawMessage{raw}
		if object.Type == "GeometryCollection" {
			rows = object.Geometries
		}
		f := newFeatures(o, len(found))
		var fault error
		for _, row := range rows {
			var one topoObject
			if json.Unmarshal(row, &one) != nil {
				continue
			}
			names, values := properties(one)
			t.inOne = maxFigure
			drawn, err := t.figure(one, 0)
			if err != nil {
				fault = err
				break
			}
			more, err := f.add(ctx, names, values, drawn)
			if err != nil {
				return found, err
			}
			if !more {
				break
			}
		}
		if p := f.profile(keys[i], fault); p != nil {
			found = append(found, p)
		}
	}
	return found, nil
}

// absolute replaces the differences of a quantized topology by coordinates.
func (t *topo) absolute() {
	if t.Transform == nil {
		return
	}
	for _, arc := range t.Arcs {
		x, y := 0.0, 0.0
		for _, p := range arc {
			if len(p) >= 2 {
				x, y = x+p[0], y+p[1]
				p[0], p[1] = x*t.Transform.Scale[0]+t.Transform.Translate[0], y*t.Transform.Scale[1]+t.Transform.Translate[1]
			}
		}
	}
}

// members returns the members of an object within a JSON object, in their order.
func members(text []byte, key string) (keys []string, values []json.RawMessage, err error) {
	all := func(text []byte, f func(key string, value json.RawMessage)) error {
		dec := json.NewDecoder(bytes.NewReader(text))
		if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
			return errors.New("not an object")
		}
		for dec.More() {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			var v json.RawMessage
			if err := dec.Decode(&v); err != nil {
				return err
			}
			name, _ := tok.(string)
			f(name, v)
		}
		return nil
	}
	var inner json.RawMessage
	if err := all(text, func(k string, v json.RawMessage) {
		if k == key {
			inner = v
		}
	}); err != nil || inner == nil {
		return nil, nil, err
	}
	err = all(inner, func(k string, v json.RawMessage) { keys, values = append(keys, k), append(values, v) })
	return keys, values, err
}

// properties returns the identifier and properties of an object as columns. Arrays and objects stay JSON.
func properties(o topoObject) (keys, values []string) {
	text := func(v json.RawMessage) string {
		var s string
		if json.Unmarshal(v, &s) == nil { // null is ""
			return s
		}
		return string(v)
	}
	if len(o.ID) > 0 {
		keys, values = append(keys, "id"), append(values, text(o.ID))
	}
	if len(o.Properties) == 0 {
		return keys, values
	}
	names, raw, err := members([]byte(`{"p":`+string(o.Properties)+"}"), "p")
	if err != nil {
		return keys, values
	}
	for i, name := range names[:min(len(names), csvprofile.MaxCells/8)] {
		keys, values = append(keys, name), append(values, text(raw[i]))
	}
	return keys, values
}

var errArc = fmt.Errorf("%w: a geometry uses an arc that is not there", source.ErrFormat)

// figure returns the geometry of an object, nil if it has none.
func (t *topo) figure(o topoObject, depth int) (*figure, error) {
	f := &figure{dims: 2}
	parse := func(raw json.RawMessage, v any) error {
		if err := json.Unmarshal(raw, v); err != nil {
			return fmt.Errorf("%w: the coordinates of a %.20s", source.ErrFormat, o.Type)
		}
		return nil
	}
	single := func(word string, parts ...[]float64) figure { return figure{word: word, dims: 2, parts: parts} }
	switch o.Type {
	case "Point", "MultiPoint":
		var list [][]float64
		raw := o.Coordinates
		if o.Type == "Point" {
			raw = json.RawMessage("[" + string(raw) + "]")
		}
		if err := parse(raw, &list); err != nil {
			return nil, err
		}
		for _, p := range list {
			if len(p) < 2 {
				return nil, fmt.Errorf("%w: a point without coordinates", source.ErrFormat)
			}
			if t.Transform != nil {
				p[0], p[1] = p[0]*t.Transform.Scale[0]+t.Transform.Translate[0], p[1]*t.Transform.Scale[1]+t.Transform.Translate[1]
			}
			f.kids = append(f.kids, single("POINT", p[:2]))
		}
		if f.word = "MULTIPOINT"; o.Type == "Point" && len(f.kids) == 1 {
			return &f.kids[0], nil
		}
		return f, nil
	case "LineString", "Polygon":
		if f.word = "LINESTRING"; o.Type == "LineString" {
			var line []int
			if err := parse(o.Arcs, &line); err != nil {
				return nil, err
			}
			points, err := t.line(line)
			f.parts = [][]float64{points}
			return f, err
		}
		f.word = "POLYGON"
		var rings [][]int
		err := parse(o.Arcs, &rings)
		if err == nil {
			f.parts, err = t.lines(rings)
		}
		return f, err
	case "MultiLineString":
		f.word = "MULTILINESTRING"
		var list [][]int
		err := parse(o.Arcs, &list)
		if err != nil {
			return nil, err
		}
		parts, err := t.lines(list)
		for _, p := range parts {
			f.kids = append(f.kids, single("LINESTRING", p))
		}
		return f, err
	case "MultiPolygon":
		f.word = "MULTIPOLYGON"
		var list [][][]int
		if err := parse(o.Arcs, &list); err != nil {
			return nil, err
		}
		for _, rings := range list {
			parts, err := t.lines(rings)
			if err != nil {
				return nil, err
			}
			f.kids = append(f.kids, single("POLYGON", parts...))
		}
		return f, nil
	case "GeometryCollection":
		f.word = "GEOMETRYCOLLECTION"
		for _, raw := range o.Geometries {
			var one topoObject
			if depth > 8 || json.Unmarshal(raw, &one) != nil {
				return nil, fmt.Errorf("%w: collections in collections", source.ErrFormat)
			}
			kid, err := t.figure(one, depth+1)
			if err != nil {
				return nil, err
			}
			if kid != nil {
				f.kids = append(f.kids, *kid)
			}
		}
		return f, nil
	}
	return nil, nil
}

func (t *topo) lines(list [][]int) (parts [][]float64, err error) {
	for _, arcs := range list {
		points, err := t.line(arcs)
		if err != nil {
			return nil, err
		}
		parts = append(parts, points)
	}
	return parts, nil
}

// line joins arcs. That of a negative index runs backwards; where two meet, they share a point.
func (t *topo) line(arcs []int) (points []float64, err error) {
	for n, i := range arcs {
		back := i < 0
		if back {
			i = ^i
		}
		if i >= len(t.Arcs) {
			return nil, errArc
		}
		arc := t.Arcs[i]
		t.left, t.inOne = t.left-len(arc), t.inOne-len(arc)
		if t.left < 0 || t.inOne < 0 {
			return nil, fmt.Errorf("%w: a geometry has more than %d points, or all have more than %d", source.ErrFormat, maxFigure,
				maxPoints)
		}
		for k := range arc {
			if n > 0 && k == 0 {
				continue
			}
			if back {
				k = len(arc) - 1 - k
			}
			if len(arc[k]) < 2 {
				return nil, errArc
			}
			points = append(points, arc[k][0], arc[k][1])
		}
	}
	return points, nil
}
