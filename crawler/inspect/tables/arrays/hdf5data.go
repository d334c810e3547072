package arrays

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// dataset is how the elements of a data set are stored.
type dataset struct {
	typ     *datatype
	length  int64  // elements, of one dimension
	fill    []byte // of what is not stored; nil for zeros
	inline  []byte // compact
	addr    uint64 // of contiguous elements or of the tree of chunks
	bytes   uint64
	chunk   int64 // elements of a chunk, 0 if contiguous
	single  uint64
	mask    int
	filters []filter
}

// filter is a step of the pipeline by which chunks are stored.
type filter struct {
	id     int
	values []int
}

// The filters that can be undone.
const (
	deflate  = 1
	shuffle  = 2
	fletcher = 3
)

// maxChunk bounds a chunk in bytes.
const maxChunk = 32 << 20

// dataset reads the description of a data set.
func (h *h5) dataset(addr uint64, name string, messages []message, attributes []attribute) error {
	d := &dataset{}
	v := &Var{Name: name}
	var layout []byte
	for _, m := range messages {
		var err error
		switch m.kind {
		case msgDatatype:
			d.typ, err = h.datatype(&cursor{b: m.body}, 0)
		case msgDataspace:
			v.Shape, _, err = h.dataspace(m.body)
		case msgFill:
			d.fill = fillOf(m.body)
		case msgFilters:
			d.filters, err = filtersOf(m.body)
		case msgLayout:
			layout = m.body
		}
		if err != nil {
			return err
		}
	}
	if d.typ == nil {
		return fmt.Errorf("%w: a data set of a type that is elsewhere", source.ErrFormat)
	}
	v.Type = d.typ.xsd()
	scale := false
	for _, a := range attributes {
		switch a.name {
		case "DIMENSION_LIST":
			h.axes[v] = h.references(a)
		case "REFERENCE_LIST", "_Netcdf4Coordinates", "_Netcdf4Dimid", "_NCProperties":
		case "CLASS":
			scale = a.text == "DIMENSION_SCALE"
		case "NAME":
			if strings.HasPrefix(a.text, "This is a netCDF dimension but not a netCDF variable") {
				h.hidden[v] = true
			}
		default:
			v.Attributes = append(v.Attributes, Attribute{a.name, a.text})
		}
	}
	h.byAddr[addr] = name
	if scale && len(v.Shape) == 1 {
		h.scales[name] = v.Shape[0]
		v.Dims = []string{name}
	}
	h.found.Vars = append(h.found.Vars, v)
	if len(v.Shape) == 2 && d.typ.class == classString && d.typ.size == 1 && v.Shape[1] > 0 && v.Shape[1] <= 64<<10 &&
		isContiguous(layout) {
		d.typ.size = int(v.Shape[1]) // rows of characters are texts
		v.Shape = v.Shape[:1]
	}
	if len(v.Shape) != 1 || h.hidden[v] {
		return nil
	}
	d.length = v.Shape[0]
	if err := h.layout(d, layout); err != nil {
		return fmt.Errorf("%w", err)
	}
	h.columns(v, d)
	return nil
}

// isContiguous reports whether a layout of version 3 or 4 is that of values one after another.
func isContiguous(layout []byte) bool {
	return len(layout) > 1 && (layout[0] == 3 || layout[0] == 4) && layout[1] == 1
}

// fillOf returns the fill value of a message of any version, nil if there is none.
func fillOf(body []byte) []byte {
	c := &cursor{b: body}
	switch version := c.u8(); version {
	case 1, 2:
		c.take(2)
		if defined := c.u8(); version == 2 && defined == 0 {
			return nil
		}
	case 3:
		if flags := c.u8(); flags&0x20 == 0 {
			return nil
		}
	default:
		return nil
	}
	if b := c.take(c.u32()); !c.bad && len(b) > 0 {
		return b
	}
	return nil
}

// filtersOf reads a pipeline.
func filtersOf(body []byte) (all []filter, err error) {
	c := &cursor{b: body}
	version, n := c.u8(), c.u8()
	if version == 1 {
		c.take(6)
	}
	for range n {
		f := filter{id: c.u16()}
		name := 0
		if version == 1 || f.id >= 256 {
			name = c.u16()
		}
		c.take(2)
		values := c.u16()
		if version == 1 {
			name = (name + 7) &^ 7
		}
		c.take(name)
		for range min(values, 100) {
			f.values = append(f.values, c.u32())
		}
		if version == 1 && values%2 == 1 {
			c.take(4)
		}
		if c.bad {
			return nil, errHDF5
		}
		all = append(all, f)
	}
	return all, nil
}

// layout reads where the elements are.
func (h *h5) layout(d *dataset, body []byte) error {
	c := &cursor{b: body}
	version := c.u8()
	class := 0
	switch version {
	case 1, 2:
		rank := c.u8()
		class = c.u8()
		c.take(5)
		if class != 0 {
			d.addr = h.addr(c)
		}
		if class == 1 {
			d.bytes = uint64(d.length) * uint64(d.typ.size)
		}
		var dims []int
		for range rank {
			dims = append(dims, c.u32())
		}
		if class == 2 && len(dims) == 2 {
			d.chunk = int64(dims[0])
		}
		if class == 0 {
			d.inline = c.take(c.u32())
		}
	case 3:
		switch class = c.u8(); class {
		case 0:
			d.inline = c.take(c.u16())
		case 1:
			d.addr, d.bytes = h.addr(c), h.length(c)
		case 2:
			rank := c.u8()
			d.addr = h.addr(c)
			d.chunk = int64(c.u32())
			if rank != 2 {
				return errHDF5
			}
		}
	case 4:
		switch class = c.u8(); class {
		case 0:
			d.inline = c.take(c.u16())
		case 1:
			d.addr, d.bytes = h.addr(c), h.length(c)
		case 2:
			flags, rank, width := c.u8(), c.u8(), c.u8()
			if rank != 2 || width > 8 {
				return errHDF5
			}
			d.chunk = int64(c.uint(width))
			c.take(width)
			if index := c.u8(); index != 1 {
				return fmt.Errorf("%w: chunks with an index of a kind that is not read", source.ErrFormat)
			}
			d.single = uint64(d.chunk) * uint64(d.typ.size)
			if flags&2 != 0 {
				d.single, d.mask = h.length(c), c.u32()
			}
			d.addr = h.addr(c)
		}
	default:
		return errHDF5
	}
	switch {
	case c.bad || class > 2 || class == 2 && (d.chunk <= 0 || d.chunk > maxChunk/int64(d.typ.size)):
		return fmt.Errorf("%w: chunks that are too large, or a layout of another kind", source.ErrFormat)
	case class == 1 && d.addr != undefined && (d.bytes > uint64(h.size) || d.bytes/uint64(d.typ.size) < uint64(d.length)):
		return errHDF5
	case class == 0 && int64(len(d.inline))/int64(d.typ.size) < d.length:
		return errHDF5
	}
	for _, f := range d.filters {
		if f.id != deflate && f.id != shuffle && f.id != fletcher {
			return fmt.Errorf("%w: values stored by the filter %d, which is not read", source.ErrFormat, f.id)
		}
	}
	return nil
}

// columns sets how a variable is read, if its elements are cells or records of cells.
func (h *h5) columns(v *Var, d *dataset) {
	parts := []member{{typ: d.typ}}
	if d.typ.class == classCompound {
		if parts = d.typ.flat("", 0); len(parts) == 0 {
			return
		}
		for _, p := range parts {
			v.fields = append(v.fields, p.name)
		}
	} else if !d.typ.simple() {
		return
	}
	v.held = max(64<<10, 3*d.chunk*int64(d.typ.size))
	v.open = func() (func() error, error) {
		next, err := h.elements(d)
		if err != nil {
			return nil, err
		}
		how := conventionsOf(v)
		v.cells = make([]string, len(parts))
		return func() error {
			b, err := next()
			if err != nil {
				return err
			}
			for i, p := range parts {
				x, s, err := h.value(p.typ, b[p.at:])
				if err != nil {
					return err
				}
				if v.fields == nil && !math.IsNaN(x) {
					s = how.text(x, s)
				}
				v.cells[i] = s
			}
			return nil
		}, nil
	}
}

// flat returns the members of a record that are cells, with those of inner records as "outer.inner".
func (t *datatype) flat(prefix string, at int) (all []member) {
	for _, m := range t.members {
		m.name, m.at = prefix+m.name, at+m.at
		switch {
		case m.typ.class == classCompound:
			all = append(all, m.typ.flat(m.name+".", m.at)...)
		case m.typ.simple():
			all = append(all, m)
		}
		if len(all) > maxMembers {
			return all[:maxMembers]
		}
	}
	return all
}

// dimensions names the dimensions of all variables: by their scales, or else by their group and size.
func (h *h5) dimensions() {
	known := map[string]bool{}
	add := func(name string, size int64) {
		if !known[name] && len(h.found.Dims) < maxDims {
			known[name] = true
			h.found.Dims = append(h.found.Dims, Dim{name, size})
		}
	}
	for _, v := range h.found.Vars {
		if v.Dims != nil {
			add(v.Dims[0], v.Shape[0])
			continue
		}
		axes := h.axes[v]
		for i, n := range v.Shape {
			name := ""
			if i < len(axes) && len(axes[i]) > 0 {
				name = h.byAddr[axes[i][0]]
			}
			if name == "" {
				if group := path.Dir(v.Name); group != "." {
					name = group + " "
				}
				name += fmt.Sprintf("[%d]", n)
			}
			v.Dims = append(v.Dims, name)
			add(name, n)
		}
	}
	h.found.Vars = slices.DeleteFunc(h.found.Vars, func(v *Var) bool { return h.hidden[v] })
}
