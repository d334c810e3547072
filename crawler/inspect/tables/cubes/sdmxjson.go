package cubes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// sdmxMessage is a data message of SDMX-JSON 1.0 or 2.0, or what of it is in "data"; drafts had it at the top.
type sdmxMessage struct {
	Data       *sdmxMessage      `json:"data"`
	Structure  *sdmxStructure    `json:"structure"`
	Structures []sdmxStructure   `json:"structures"`
	DataSets   []json.RawMessage `json:"dataSets"`

	Header sdmxHeader `json:"header"`
	Meta   sdmxHeader `json:"meta"`
}

type sdmxHeader struct {
	Prepared string          `json:"prepared"`
	Sender   json.RawMessage `json:"sender"`
}

// sdmxStructure names the dimensions and attributes of data sets.
type sdmxStructure struct {
	Name       json.RawMessage `json:"name"`
	Dimensions sdmxParts       `json:"dimensions"`
	Attributes sdmxParts       `json:"attributes"`
	DataSets   []int           `json:"dataSets"`
}

type sdmxParts struct {
	DataSet     []sdmxComponent `json:"dataSet"`
	Series      []sdmxComponent `json:"series"`
	Observation []sdmxComponent `json:"observation"`
}

type sdmxComponent struct {
	ID     string          `json:"id"`
	Name   json.RawMessage `json:"name"`
	Values []struct {
		ID    string          `json:"id"`
		Value json.RawMessage `json:"value"` // of version 2.0
		Name  json.RawMessage `json:"name"`
	} `json:"values"`
}

// axis returns a component as an axis.
func (s sdmxComponent) axis() axis {
	a := axis{id: s.ID, name: words(s.Name), codes: []string{}, labels: []string{}}
	for _, v := range s.Values {
		code := v.ID
		if code == "" {
			code = words(v.Value)
		}
		label := words(v.Name)
		if label == "" {
			label = code
		}
		a.codes, a.labels = append(a.codes, code), append(a.labels, label)
	}
	return a
}

// words returns a text that is a string, or the first of an object by language, or a number.
func words(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var by map[string]string
	if json.Unmarshal(raw, &by) == nil {
		if by["en"] != "" {
			return by["en"]
		}
		least := ""
		for lang := range by {
			if least == "" || lang < least {
				least = lang
			}
		}
		return by[least]
	}
	if raw[0] == '[' || raw[0] == '{' {
		return ""
	}
	return string(raw)
}

// openSDMX reads a message. It holds the whole text.
func openSDMX(in source.Input, limit int64) (*sdmxMessage, error) {
	if in.Size > limit {
		return nil, fmt.Errorf("%w: SDMX-JSON of more than %d MiB is not read", source.ErrFormat, limit>>20)
	}
	m := &sdmxMessage{}
	dec := json.NewDecoder(io.LimitReader(in.Text(), 2*limit))
	if err := dec.Decode(m); err != nil {
		return nil, fmt.Errorf("%w: %v", source.ErrFormat, err)
	}
	if d := m.Data; d != nil {
		d.Header, d.Data = m.Meta, nil
		m = d
	}
	if m.Structure != nil {
		m.Structures = append(m.Structures, *m.Structure)
	}
	return m, nil
}

// structure returns the structure of a data set: the one that lists it, or the first.
func (m *sdmxMessage) structure(set int) *sdmxStructure {
	for i := range m.Structures {
		for _, n := range m.Structures[i].DataSets {
			if n == set {
				return &m.Structures[i]
			}
		}
	}
	if len(m.Structures) == 0 {
		return nil
	}
	return &m.Structures[0]
}

// SDMXJSON returns what a message says of its first data set.
func SDMXJSON(in source.Input) (Head, error) {
	m, err := openSDMX(in, source.Options{}.WithDefaults().MaxBytes)
	if err != nil {
		return Head{}, err
	}
	h := Head{Updated: m.Header.Prepared}
	var sender struct {
		ID   string          `json:"id"`
		Name json.RawMessage `json:"name"`
	}
	if json.Unmarshal(m.Header.Sender, &sender) == nil {
		if h.Source = words(sender.Name); h.Source == "" {
			h.Source = sender.ID
		}
	}
	if s := m.structure(0); s != nil {
		h.Title = words(s.Name)
		for _, list := range [][]sdmxComponent{s.Dimensions.DataSet, s.Dimensions.Series, s.Dimensions.Observation} {
			for _, d := range list[:min(len(list), maxAxes)] {
				a := d.axis()
				h.Axes = append(h.Axes, Axis{a.title(), int64(a.size())})
			}
		}
	}
	return h, nil
}

// sdmxJSON profiles the observations of each data set of a message.
func sdmxJSON(ctx context.Context, in source.Input, o source.Options) (found []*csvprofile.Profile, err error) {
	m, err := openSDMX(in, o.MaxBytes)
	if err != nil {
		return nil, err
	}
	for i, raw := range m.DataSets {
		s := m.structure(i)
		if s == nil || len(found) >= o.MaxTables {
			break
		}
		w := newSDMXWalk(s)
		if w == nil {
			return found, fmt.Errorf("%w: too many dimensions or attributes", source.ErrFormat)
		}
		if found, err = w.read(ctx, raw, found, words(s.Name), o); err != nil {
			return found, err
		}
	}
	return found, nil
}

// sdmxWalk enumerates the observations of one data set.
type sdmxWalk struct {
	cube                          // the axes of the data set, the series and the observations, in this order
	sets, series, observation int // numbers of axes
	seriesAt                  []int
	attributes                []axis // of series, then of observations
	seriesAttributes          int
	seriesPicks               []int
}

// newSDMXWalk returns nil if there are too many components.
func newSDMXWalk(s *sdmxStructure) *sdmxWalk {
	d, a := s.Dimensions, s.Attributes
	w := &sdmxWalk{sets: len(d.DataSet), series: len(d.Series), observation: len(d.Observation), seriesAttributes: len(a.Series)}
	if w.sets+w.series+w.observation > maxAxes || len(a.Series)+len(a.Observation) > 4*maxAxes {
		return nil
	}
	for _, list := range [][]sdmxComponent{d.DataSet, d.Series, d.Observation} {
		for _, c := range list {
			w.axes = append(w.axes, c.axis())
		}
	}
	for _, list := range [][]sdmxComponent{a.Series, a.Observation} {
		for _, c := range list {
			w.attributes = append(w.attributes, c.axis())
		}
	}
	return w
}

// read profiles the observations of a data set.
func (w *sdmxWalk) read(ctx context.Context, raw json.RawMessage, found []*csvprofile.Profile, name string,
	o source.Options) ([]*csvprofile.Profile, error) {
	header := w.header("OBS_VALUE")
	for i := range w.attributes {
		header = append(header, w.attributes[i].title())
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	return w.profile(ctx, found, name, header, w.rows(dec), o)
}

// rows returns the observations one by one: those of the data set, and those of its series.
func (w *sdmxWalk) rows(dec *json.Decoder) func() ([]string, error) {
	where := 0 // 0 before the data set, 1 in it, 2 in its series, 3 in a series, 4 in observations
	inSeries := false
	return func() ([]string, error) {
		for {
			if where > 0 && !dec.More() {
				if _, err := dec.Token(); err != nil {
					return nil, err
				}
				switch {
				case where == 4 && inSeries:
					where = 3
				case where == 4, where == 2:
					where = 1
				case where == 3:
					where, inSeries = 2, false
				default:
					return nil, io.EOF
				}
				continue
			}
			if where == 0 {
				if err := open(dec); err != nil {
					return nil, err
				}
				where = 1
				continue
			}
			tok, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key := fmt.Sprint(tok)
			switch {
			case where == 4:
				return w.one(dec, key)
			case where == 2:
				w.seriesPicks, inSeries, where = nil, true, 3
				if w.seriesAt, err = indexes(key, w.series); err != nil {
					return nil, err
				}
				err = open(dec)
			case key == "observations":
				where = 4
				err = open(dec)
			case key == "series" && where == 1:
				where = 2
				err = open(dec)
			default: // links, annotations, attributes of the data set
				var value json.RawMessage
				if err = dec.Decode(&value); err == nil && key == "attributes" && where == 3 {
					w.seriesPicks = picks(value)
				}
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// open reads the beginning of an object.
func open(dec *json.Decoder) error {
	tok, err := dec.Token()
	if err == nil && tok != json.Delim('{') {
		err = fmt.Errorf("%w: observations that are no object", source.ErrFormat)
	}
	return err
}

// one returns an observation as a row.
func (w *sdmxWalk) one(dec *json.Decoder, key string) ([]string, error) {
	n := w.observation
	if w.seriesAt == nil && w.series > 0 {
		n += w.series
	}
	at, err := indexes(key, n)
	var values []json.RawMessage
	if err := errors.Join(err, dec.Decode(&values)); err != nil {
		return nil, err
	}
	w.row = w.row[:0]
	at = append(append(make([]int, w.sets, w.sets+w.series+n), w.seriesAt...), at...)
	for i := range w.axes {
		place := -1
		if i < len(at) {
			place = at[i]
		}
		w.place(&w.axes[i], place)
	}
	value := ""
	if len(values) > 0 {
		value = words(values[0])
	}
	w.row = append(w.row, value)
	for i := range w.attributes {
		a, pick := &w.attributes[i], -1
		if i < w.seriesAttributes && i < len(w.seriesPicks) {
			pick = w.seriesPicks[i]
		}
		text := ""
		if j := i - w.seriesAttributes + 1; i >= w.seriesAttributes && j < len(values) {
			if pick = number(values[j]); pick < 0 || pick >= len(a.labels) {
				text = words(values[j]) // 2.0 has some attributes in place
				if pick >= 0 {
					text = ""
				}
			}
		}
		if pick >= 0 && pick < len(a.labels) {
			text = a.labels[pick]
		}
		w.row = append(w.row, text)
	}
	return w.row, nil
}

// indexes reads a key as "0:3:1". Too few indexes are an error.
func indexes(key string, n int) ([]int, error) {
	parts := strings.Split(key, ":")
	if len(parts) != n && !(n == 0 && key == "") {
		return nil, fmt.Errorf("%w: the key %q has %d parts, not %d", source.ErrFormat, key, len(parts), n)
	}
	at := make([]int, 0, n)
	for _, p := range parts[:n] {
		i, err := strconv.Atoi(p)
		if err != nil {
			return nil, fmt.Errorf("%w: the key %q", source.ErrFormat, key)
		}
		at = append(at, i)
	}
	return at, nil
}

// picks reads a list of indexes, -1 for null.
func picks(raw json.RawMessage) (all []int) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, r := range list {
		all = append(all, number(r))
	}
	return all
}

// number returns a whole number, -1 for anything else.
func number(raw json.RawMessage) int {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return -1
	}
	return n
}
