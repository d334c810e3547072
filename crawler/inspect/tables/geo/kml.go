package geo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// kmlFile profiles the placemarks of a KML document (OGC 12-007r2): names, descriptions, times, their extended data,
// and the names of the folders around them.
func kmlFile(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	s, f := newStream(in), newFeatures(o, 0)
	var folders []string // names of the open folders, "" before they are known
	var fault error
	for more := true; more; {
		depth := len(s.at)
		start, err := s.next()
		if err != nil {
			fault = err
			break
		}
		switch {
		case start == nil:
			if open := s.open("Folder"); open < len(folders) {
				folders = folders[:open]
			}
		case start.Name.Local == "Folder":
			folders = append(folders, "")
		case start.Name.Local == "name" && len(folders) > 0 && depth > 0 && s.at[depth-1] == "Folder":
			e, err := s.whole(start)
			if folders[len(folders)-1] = e.content(); err != nil {
				fault, more = err, false
			}
		case start.Name.Local == "Placemark":
			e, err := s.whole(start)
			if err != nil {
				fault, more = err, false
				break
			}
			keys, values := placemark(e)
			if path := strings.Trim(strings.Join(folders, "/"), "/"); path != "" {
				keys, values = append(keys, "folder"), append(values, path)
			}
			if more, err = f.add(ctx, keys, values, kmlGeometry(e)); err != nil {
				return nil, err
			}
		}
	}
	if p := f.profile("", fault); p != nil {
		return []*csvprofile.Profile{p}, nil
	}
	if fault != nil && !errors.Is(fault, io.EOF) {
		return nil, formatError(fault)
	}
	return nil, ctx.Err()
}

// placemark returns the columns of a placemark besides its geometry.
func placemark(e *element) (keys, values []string) {
	add := func(key, value string) {
		if value != "" && len(keys) < csvprofile.MaxCells/8 {
			keys, values = append(keys, key), append(values, value)
		}
	}
	if id := e.attr("id"); id != "" {
		add("id", id)
	}
	for _, k := range e.kids {
		switch k.name {
		case "name", "description", "address", "phoneNumber", "Snippet", "snippet":
			add(k.name, k.content())
		case "TimeStamp":
			add("when", k.kid("when").content())
		case "TimeSpan":
			add("begin", k.kid("begin").content())
			add("end", k.kid("end").content())
		case "ExtendedData":
			for _, d := range k.kids {
				switch d.name {
				case "Data":
					add(d.attr("name"), d.kid("value").content())
				case "SchemaData":
					for _, v := range d.kids {
						add(v.attr("name"), v.content())
					}
				}
			}
		}
	}
	return keys, values
}

// kmlGeometry returns the geometry among the children of an element, nil if there is none.
func kmlGeometry(e *element) *figure {
	for _, k := range e.kids {
		var f figure
		switch k.name {
		case "Point", "LineString", "LinearRing":
			f = kmlLine(strings.ToUpper(strings.Replace(k.name, "LinearRing", "LineString", 1)), k.kid("coordinates").content())
		case "Polygon":
			f = kmlPolygon(k)
		case "MultiGeometry", "MultiTrack":
			var kids []figure
			for _, part := range k.kids {
				if kid := kmlGeometry(&element{kids: []*element{part}}); kid != nil {
					kids = append(kids, *kid)
				}
			}
			if len(kids) == 0 {
				continue
			}
			f = collection(kids)
		case "Track":
			f = kmlTrack(k)
		case "Model":
			at := k.kid("Location")
			if at == nil {
				continue
			}
			f = kmlLine("POINT", at.kid("longitude").content()+","+at.kid("latitude").content())
		default:
			continue
		}
		f.flat()
		if len(f.parts) > 0 || len(f.kids) > 0 {
			return &f
		}
	}
	return nil
}

// kmlLine returns a point or a line of coordinates as KML writes them: "x,y,z x,y,z". The figure has no parts if there
// are none.
func kmlLine(word, text string) figure {
	points, dims := coordinates(text)
	if word == "POINT" && len(points) > dims {
		points = points[:dims]
	}
	if len(points) == 0 {
		return figure{}
	}
	return figure{word: word, dims: dims, parts: [][]float64{points}}
}

func kmlPolygon(e *element) figure {
	f := figure{word: "POLYGON", dims: 2}
	var rings []figure
	for _, outer := range []bool{true, false} {
		for _, k := range e.kids {
			if k.name != map[bool]string{true: "outerBoundaryIs", false: "innerBoundaryIs"}[outer] {
				continue
			}
			for _, ring := range k.kids {
				if l := kmlLine("LINESTRING", ring.kid("coordinates").content()); ring.name == "LinearRing" && len(l.parts) > 0 {
					rings = append(rings, l)
				}
			}
		}
	}
	for _, r := range rings {
		if r.dims != rings[0].dims { // some rings without heights
			return figure{}
		}
		f.dims = r.dims
		f.parts = append(f.parts, r.parts[0])
	}
	return f
}

// kmlTrack returns the line of a track, whose points have elements of their own.
func kmlTrack(e *element) figure {
	var text strings.Builder
	for _, k := range e.kids {
		if k.name == "coord" {
			text.WriteString(strings.Join(strings.Fields(k.content()), ","))
			text.WriteByte(' ')
		}
	}
	return kmlLine("LINESTRING", text.String())
}

// coordinates reads points. All have heights (dims 3) or none. It ends at what is not a number. Blanks around commas,
// which the format does not allow, are common.
func coordinates(text string) (points []float64, dims int) {
	var at [3]float64
	var flat, full []float64 // the points without heights, and with them
	n, heights := 0, true
	end := func() {
		if n >= 2 {
			flat = append(flat, at[0], at[1])
			if heights = heights && n == 3; heights {
				full = append(full, at[0], at[1], at[2])
			}
		}
		n = 0
	}
	for pos := 0; pos < len(text); {
		start := pos
		for pos < len(text) && strings.IndexByte(" \t\r\n,", text[pos]) >= 0 {
			pos++
		}
		if gap := text[start:pos]; !strings.Contains(gap, ",") {
			end()
		}
		start = pos
		for pos < len(text) && strings.IndexByte(" \t\r\n,", text[pos]) < 0 {
			pos++
		}
		if start == pos {
			break
		}
		v, err := strconv.ParseFloat(text[start:pos], 64)
		if err != nil {
			n = 0
			break
		}
		if n < 3 {
			at[n] = v
			n++
		}
	}
	end()
	if heights && len(full) > 0 {
		return full, 3
	}
	return flat, 2
}

// formatError says once that a file is not of its format.
func formatError(err error) error {
	if errors.Is(err, source.ErrFormat) {
		return err
	}
	return fmt.Errorf("%w: %v", source.ErrFormat, err)
}
