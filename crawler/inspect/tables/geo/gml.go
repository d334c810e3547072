package geo

import (
	"context"
	"errors"
	"io"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
)

// Limits of a document in GML.
const (
	gmlMaxTypes = 50 // of features
	gmlMaxDepth = 8  // of the values of a property
)

// GML profiles the features of a GML document (ISO 19136, GML 2 and 3, answers of a WFS): a table for each type of
// feature, in the order in which they first occur. It returns no table for documents that are GML without being
// collections of features.
//
// The coordinates are written as easting or longitude, then northing or latitude, as for all formats, whatever order
// the document has.
func GML(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	if o.Each == nil {
		d := &gmlReader{ctx: ctx, o: o, found: map[string]*features{}}
		fault := d.read(in)
		return d.profiles(fault)
	}
	// Rows are wanted table by table: each type is read by itself.
	var types []string
	var all []*csvprofile.Profile
	for i := 0; i == 0 || i < len(types); i++ {
		d := &gmlReader{ctx: ctx, o: o, found: map[string]*features{}, types: types, first: i, one: true}
		fault := d.read(in)
		types = d.types
		p, err := d.profiles(fault)
		if all = append(all, p...); err != nil {
			return all, err
		}
	}
	return all, nil
}

// gmlReader reads the features of a document.
type gmlReader struct {
	ctx   context.Context
	o     source.Options
	found map[string]*features
	types []string // names of the types, in the order of their first features
	first int      // the number of the type that is read, if it is only one
	one   bool
	more  bool // there are more types than are read

	inherited string // the system of the document's box, which geometries have that name none
	systems   map[string]map[string]bool
	unread    map[string]int64 // geometries of kinds that are not read, by type
}

// read reads the document. It returns why it ended, nil at its end.
func (d *gmlReader) read(in source.Input) error {
	s := newStream(in)
	d.systems, d.unread = map[string]map[string]bool{}, map[string]int64{}
	for {
		start, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if start == nil || len(s.at) < 2 {
			continue
		}
		switch start.Name.Local {
		case "Envelope", "Box":
			for _, a := range start.Attr {
				if a.Name.Local == "srsName" && d.inherited == "" {
					d.inherited = a.Value
				}
			}
			continue
		case "FeatureCollection", "featureMember", "featureMembers", "member", "boundedBy":
			continue
		}
		switch s.at[len(s.at)-2] {
		case "featureMember", "featureMembers", "member", "cityObjectMember":
		default:
			continue
		}
		e, err := s.whole(start)
		if err != nil {
			return err
		}
		more, err := d.add(e)
		if err != nil {
			return err
		}
		if !more && d.one {
			return nil
		}
	}
}

// add adds a feature to the table of its type. more is false if the table is full.
func (d *gmlReader) add(e *element) (more bool, err error) {
	at := slices.Index(d.types, e.name)
	if at < 0 {
		if len(d.types) >= min(gmlMaxTypes, d.o.MaxTables) {
			d.more = true
			return true, nil
		}
		at = len(d.types)
		d.types = append(d.types, e.name)
	}
	if d.one && at != d.first {
		return true, nil
	}
	f := d.found[e.name]
	if f == nil {
		f = newFeatures(d.o, at)
		f.sum.System = crs.System{}
		d.found[e.name], d.systems[e.name] = f, map[string]bool{}
	}
	if f.cut {
		return false, nil
	}
	r := gmlFeature{names: map[string]int{}}
	if id := e.attr("id"); id != "" {
		r.put("gml_id", id)
	} else if id := e.attr("fid"); id != "" {
		r.put("gml_id", id)
	}
	shape := gmlShape{system: d.inherited}
	for _, k := range e.kids {
		if k.name != "boundedBy" {
			r.property(k, "", 0, &shape)
		}
	}
	if shape.figure != nil {
		d.systems[e.name][shape.system] = true
	}
	d.unread[e.name] += shape.unread
	return f.add(d.ctx, r.keys, r.values, shape.figure)
}

// profiles ends the tables. fault is what ended the document, nil for its end.
func (d *gmlReader) profiles(fault error) (all []*csvprofile.Profile, err error) {
	if errors.Is(fault, context.Canceled) || errors.Is(fault, context.DeadlineExceeded) || d.ctx.Err() != nil {
		return nil, fault
	}
	for _, name := range d.types {
		f := d.found[name]
		if f == nil {
			continue
		}
		if err := f.records.Err(); err != nil {
			return all, err
		}
		if names := d.systems[name]; len(names) == 1 { // a box of several systems says nothing
			for id := range names {
				if f.sum.System = crs.Named(id); f.sum.System.IsDegrees() && !f.sum.InDegrees() {
					f.sum.System = crs.System{Name: f.sum.System.Name}
				}
			}
		}
		p := f.profileIn(name, fault)
		if n := d.unread[name]; n > 0 {
			p.Note("%d geometries are of kinds that are not read", n)
		}
		if d.more && len(all) == 0 {
			p.Note("more than %d types of features: the others are left out", len(d.types))
		}
		all = append(all, p)
	}
	if len(all) == 0 && fault != nil {
		return nil, formatError(fault)
	}
	return all, nil
}

// gmlFeature collects the columns of a feature.
type gmlFeature struct {
	keys, values []string
	names        map[string]int
}

// put adds a value; those of a property that occurs several times are joined.
func (r *gmlFeature) put(key, value string) {
	at, known := r.names[key]
	switch {
	case !known && len(r.keys) < csvprofile.MaxCells/8:
		r.names[key] = len(r.keys)
		r.keys, r.values = append(r.keys, key), append(r.values, value)
	case !known || value == "" || len(r.values[at]) > 64<<10:
	case r.values[at] == "":
		r.values[at] = value
	default:
		r.values[at] += "; " + value
	}
}

// property adds a property: its geometry, if it has one, or its text, its address, and the parts of its value, with the
// path to them as their name. Only the first geometry of a feature is drawn.
func (r *gmlFeature) property(e *element, prefix string, depth int, shape *gmlShape) {
	name := e.name
	if prefix != "" {
		name = prefix + "." + name
	}
	for _, k := range e.kids {
		if gmlGeometries[k.name] {
			shape.take(k)
			return
		}
	}
	if len(e.kids) == 0 {
		value := e.content()
		if value == "" {
			value = e.attr("href")
		}
		r.put(name, value)
		return
	}
	if depth >= gmlMaxDepth {
		return
	}
	for _, k := range e.kids {
		r.property(k, name, depth+1, shape)
	}
}
