package cubes

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of SDMX-ML.
const (
	maxKeys   = 500     // attributes of an observation, with those of its series and groups
	maxNest   = 32      // of elements
	maxGroups = 100_000 // whose attributes are kept
)

// pairs are names with values, in their order.
type pairs struct{ keys, values []string }

func (p *pairs) set(key, value string) {
	if key == "" {
		return
	}
	if i := slices.Index(p.keys, key); i >= 0 {
		p.values[i] = value
	} else if len(p.keys) < maxKeys {
		p.keys, p.values = append(p.keys, key), append(p.values, value)
	}
}

func (p *pairs) get(key string) (string, bool) {
	if i := slices.Index(p.keys, key); i >= 0 {
		return p.values[i], true
	}
	return "", false
}

func (p *pairs) clear() { p.keys, p.values = p.keys[:0], p.values[:0] }

// attrs sets the attributes of an element of structure-specific data, without those of XML and of the message.
func (p *pairs) attrs(t xml.StartElement) {
	for _, a := range t.Attr {
		if a.Name.Space == "" && a.Name.Local != "xmlns" && a.Name.Local != "type" && a.Name.Local != "noNamespaceSchemaLocation" {
			p.set(a.Name.Local, a.Value)
		}
	}
}

// attr returns an attribute by its local name.
func attr(t xml.StartElement, local string) string {
	for _, a := range t.Attr {
		if a.Name.Local == local {
			return a.Value
		}
	}
	return ""
}

// sdmxReader reads the observations of a message.
type sdmxReader struct {
	dec      *xml.Decoder
	at       []string // local names of the open elements
	observed string   // dimension at the observations
	series   pairs
	obs      pairs
	group    pairs
	groupKey pairs
	groups   []pairs // attributes of groups: those of their key first
	keyed    []int   // how many of them are the key
	records  *csvprofile.Records
	inObs    bool
}

// sdmxML profiles the observations of all data sets of a message as one table: the dimensions, attributes of groups,
// series and observations, and OBS_VALUE.
func sdmxML(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	dec := xml.NewDecoder(in.Text())
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the text is UTF-8 already
	r := &sdmxReader{dec: dec, observed: "TIME_PERIOD", records: csvprofile.NewRecords()}
	r.records.Sample, r.records.Each, r.records.Begin = o.Sample, o.RowsOf(0), o.BeginOf(0)
	var fault error
	truncated := false
	for n := 0; ; n++ {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) && len(r.at) == 0 {
			break
		}
		if err == nil {
			err = r.token(tok)
		}
		if err == nil && n&1023 == 0 {
			err = ctx.Err()
		}
		if e := r.records.Err(); e != nil {
			return nil, e
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			truncated, fault = true, fmt.Errorf("%w: %v", source.ErrFormat, err)
			break
		}
		if r.records.Rows() >= o.MaxRows {
			truncated = true
			break
		}
	}
	if r.records.Rows() == 0 {
		return nil, fault
	}
	p := r.records.Profile("")
	p.Truncated = truncated
	if fault != nil {
		p.Note("reading stopped after %d rows: %v", p.Rows, fault)
	}
	return []*csvprofile.Profile{p}, nil
}

func (r *sdmxReader) token(tok xml.Token) error {
	switch t := tok.(type) {
	case xml.StartElement:
		if len(r.at) == maxNest {
			return errors.New("nested too deeply")
		}
		r.at = append(r.at, t.Name.Local)
		r.start(t)
	case xml.EndElement:
		if len(r.at) == 0 {
			return errors.New("an element ends that does not begin")
		}
		r.at = r.at[:len(r.at)-1]
		r.end(t.Name.Local)
	case xml.CharData:
		if r.inObs && len(r.at) > 0 && r.at[len(r.at)-1] == "Time" { // generic data of version 2.0
			if s := strings.TrimSpace(string(t)); s != "" {
				r.obs.set("TIME_PERIOD", s)
			}
		}
	}
	return nil
}

// inside reports whether an element of a name is open.
func (r *sdmxReader) inside(local string) bool { return slices.Contains(r.at, local) }

func (r *sdmxReader) start(t xml.StartElement) {
	switch local := t.Name.Local; local {
	case "Structure":
		if d := attr(t, "dimensionAtObservation"); d != "" && d != "AllDimensions" {
			r.observed = d
		}
	case "DataSet":
		r.series.clear()
		r.groups, r.keyed = nil, nil
	case "Series":
		r.series.clear()
		r.series.attrs(t)
	case "Obs":
		r.inObs = true
		r.obs.clear()
		r.obs.attrs(t)
	case "ObsDimension":
		name := attr(t, "id")
		if name == "" {
			name = r.observed
		}
		r.obs.set(name, attr(t, "value"))
	case "ObsValue":
		r.obs.set("OBS_VALUE", attr(t, "value"))
	case "Value":
		name := attr(t, "id")
		if name == "" {
			name = attr(t, "concept")
		}
		switch {
		case r.inObs:
			r.obs.set(name, attr(t, "value"))
		case r.inside("GroupKey"):
			r.groupKey.set(name, attr(t, "value"))
		case r.inside("Group"):
			r.group.set(name, attr(t, "value"))
		case r.inside("Series"):
			r.series.set(name, attr(t, "value"))
		}
	default:
		if local == "Group" || strings.HasSuffix(local, "Group") && len(r.at) > 1 && r.at[len(r.at)-2] == "DataSet" {
			// a group's type in version 2.0
			r.group.clear()
			r.groupKey.clear()
			r.group.attrs(t)
		}
	}
}

func (r *sdmxReader) end(local string) {
	switch {
	case local == "Obs" && r.inObs:
		r.inObs = false
		r.add()
	case (local == "Group" || strings.HasSuffix(local, "Group")) && len(r.groups) < maxGroups && len(r.group.keys) > 0:
		all := pairs{slices.Clone(r.groupKey.keys), slices.Clone(r.groupKey.values)}
		n := len(all.keys)
		for i, k := range r.group.keys {
			all.set(k, r.group.values[i])
		}
		r.groups, r.keyed = append(r.groups, all), append(r.keyed, n)
		r.group.clear()
		r.groupKey.clear()
	}
}

// add adds an observation with what its series and groups say. A value of an older version may have another name.
func (r *sdmxReader) add() {
	row := pairs{slices.Clone(r.series.keys), slices.Clone(r.series.values)}
	for i, k := range r.obs.keys {
		if k != "OBS_VALUE" {
			row.set(k, r.obs.values[i])
		}
	}
	if len(r.groups) <= 1000 { // more would take too long to compare
		for i := range r.groups {
			r.groups[i].apply(&row, r.keyed[i])
		}
	}
	v, _ := r.obs.get("OBS_VALUE")
	row.set("OBS_VALUE", v)
	r.records.Add(row.keys, row.values)
}

// apply adds the attributes of a group to an observation that has the values of its key, the first n pairs. A group of
// structure-specific data does not say what is its key (n is 0): those are what the observation has, too.
func (p *pairs) apply(row *pairs, n int) {
	common := 0
	for i, k := range p.keys {
		v, ok := row.get(k)
		if ok && v != p.values[i] && n == 0 {
			return
		}
		if ok {
			common++
		}
	}
	if common == 0 {
		return
	}
	for i, k := range p.keys[:n] {
		if v, ok := row.get(k); !ok || v != p.values[i] {
			return
		}
	}
	for i := n; i < len(p.keys); i++ {
		if _, ok := row.get(p.keys[i]); !ok {
			row.set(p.keys[i], p.values[i])
		}
	}
}

// SDMXML returns what a message of SDMX-ML says of itself.
func SDMXML(in source.Input) (h Head, err error) {
	dec := xml.NewDecoder(io.LimitReader(in.Text(), 1<<20))
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var at []string
	for {
		tok, err := dec.RawToken()
		if err != nil {
			return h, nil // what is missing is a fault of the table
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(at) == maxNest || t.Name.Local == "DataSet" {
				return h, nil
			}
			at = append(at, t.Name.Local)
			if t.Name.Local == "Sender" && h.Source == "" {
				h.Source = attr(t, "id")
			}
		case xml.EndElement:
			if len(at) > 0 {
				at = at[:len(at)-1]
			}
		case xml.CharData:
			s := strings.TrimSpace(string(t))
			if len(at) < 2 || s == "" {
				continue
			}
			switch local := at[len(at)-1]; {
			case local == "Prepared":
				h.Updated = s
			case local == "Name" && at[len(at)-2] == "Sender":
				h.Source = s
			case local == "Name" && at[len(at)-2] == "Header":
				h.Title = s
			}
		}
	}
}
