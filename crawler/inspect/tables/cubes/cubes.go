// Package cubes reads the files of statistics offices: PC-Axis, JSON-stat and SDMX (SDMX-ML 2.0 and 2.1, generic and
// structure-specific; SDMX-JSON). Their tables are the cells of cubes: the coordinates and the value of each.
//
// Dimensions are columns with the words for their places, and a column "… code" beside them if the words have codes.
package cubes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"text/x-pcaxis":                                  pcAxis,
		"application/vnd.sdmx.data+json":                 sdmxJSON,
		"application/vnd.sdmx.genericdata+xml":           sdmxML,
		"application/vnd.sdmx.structurespecificdata+xml": sdmxML,
	}
}

// Head is what a file says of its cube.
type Head struct {
	Title, Source, Language, Updated, Unit string
	Axes                                   []Axis
}

// Axis is a dimension of a cube.
type Axis struct {
	Name string
	Size int64
}

// Limits of a cube.
const (
	maxAxes   = 64
	maxPlaces = 2_000_000 // of all axes together
	maxMeta   = 32 << 20  // bytes of what describes the cells
)

// axis is a dimension with its places. codes and labels have the same length, or one is nil.
type axis struct {
	id, name      string
	codes, labels []string
}

func (a *axis) size() int { return max(len(a.codes), len(a.labels)) }

// coded reports whether the places have codes beside their labels.
func (a *axis) coded() bool {
	return a.codes != nil && a.labels != nil && !slices.Equal(a.codes, a.labels)
}

// title returns the name of the axis for people.
func (a *axis) title() string {
	if a.name != "" {
		return a.name
	}
	return a.id
}

// cube enumerates cells in the order of their index: the last axis is the fastest.
type cube struct {
	axes []axis
	row  []string
}

// header returns the names of the columns: two for each coded axis, and those of the values.
func (c *cube) header(values ...string) []string {
	var names []string
	for i := range c.axes {
		a := &c.axes[i]
		names = append(names, a.title())
		if a.coded() {
			names = append(names, a.title()+" code")
		}
	}
	return append(names, values...)
}

// cells returns the number of cells, or an error if there are more than a file can have.
func (c *cube) cells() (int64, error) {
	n, places := int64(1), 0
	if len(c.axes) > maxAxes {
		return 0, fmt.Errorf("%w: %d dimensions", source.ErrFormat, len(c.axes))
	}
	for i := range c.axes {
		size := int64(c.axes[i].size())
		places += int(size)
		if size == 0 || n > math.MaxInt64/size/2 || places > maxPlaces {
			return 0, fmt.Errorf("%w: dimension %q has %d places", source.ErrFormat, c.axes[i].title(), size)
		}
		n *= size
	}
	return n, nil
}

// at returns the row of a cell. It is valid until the next call.
func (c *cube) at(index int64, values ...string) []string {
	at := make([]int64, len(c.axes))
	for i := len(c.axes) - 1; i >= 0; i-- {
		size := int64(c.axes[i].size())
		at[i], index = index%size, index/size
	}
	c.row = c.row[:0]
	for i := range c.axes {
		c.place(&c.axes[i], int(at[i]))
	}
	c.row = append(c.row, values...)
	return c.row
}

// place appends the cells of a place on an axis.
func (c *cube) place(a *axis, i int) {
	switch {
	case i < 0 || i >= a.size():
		c.row = append(c.row, "")
	case a.labels != nil:
		c.row = append(c.row, a.labels[i])
	default:
		c.row = append(c.row, a.codes[i])
	}
	if a.coded() {
		code := ""
		if i >= 0 && i < len(a.codes) {
			code = a.codes[i]
		}
		c.row = append(c.row, code)
	}
}

// heads returns the axes for a Head.
func (c *cube) heads() (all []Axis) {
	for i := range c.axes {
		all = append(all, Axis{c.axes[i].title(), int64(c.axes[i].size())})
	}
	return all
}

// titled adds the ids of axes as titles of their columns, if they have other names.
func (c *cube) titled(p *csvprofile.Profile) {
	at := 0
	for i := range c.axes {
		a := &c.axes[i]
		if at < len(p.Columns) && a.id != "" && a.id != a.title() {
			p.Columns[at].Titles = append(p.Columns[at].Titles, a.id)
		}
		at++
		if a.coded() {
			at++
		}
	}
}

// profile profiles the rows of one cube and appends the table to found.
func (c *cube) profile(ctx context.Context, found []*csvprofile.Profile, name string, header []string, next func() ([]string, error),
	o source.Options) ([]*csvprofile.Profile, error) {
	p, err := csvprofile.ReadRows(ctx, name, header, next, o.Reading(len(found)))
	if err != nil || !source.Worthwhile(p) {
		return found, err
	}
	c.titled(p)
	return append(found, p), nil
}
