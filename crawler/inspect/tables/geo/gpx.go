package geo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
)

// gpxFile profiles a GPX document (version 1.0 or 1.1) as tables of waypoints, routes, tracks, and the points of tracks
// with their times and heights. Each table is read in a pass of its own.
func gpxFile(ctx context.Context, in source.Input, o source.Options) (found []*csvprofile.Profile, err error) {
	var fault error
	for _, table := range []struct{ name, element string }{{"waypoints", "wpt"}, {"routes", "rte"}, {"tracks", "trk"},
		{"track_points", "trkpt"}} {
		if len(found) >= o.MaxTables {
			break
		}
		p, ended, err := gpxTable(ctx, in, o, len(found), table.name, table.element)
		if err != nil {
			return found, err
		}
		if p != nil {
			found = append(found, p)
		}
		fault = ended
	}
	if len(found) == 0 && fault != nil && !errors.Is(fault, io.EOF) {
		return nil, fmt.Errorf("%w: %v", source.ErrFormat, fault)
	}
	return found, nil
}

// gpxTable profiles the elements of one name. ended is what ended the reading.
func gpxTable(ctx context.Context, in source.Input, o source.Options, table int, name, wanted string) (p *csvprofile.Profile, ended,
	err error) {
	s, f := newStream(in), newFeatures(o, table)
	track, segment := 0, 0
	for more := true; more; {
		start, err := s.next()
		if err != nil {
			ended = err
			break
		}
		if start == nil {
			continue
		}
		switch start.Name.Local {
		case "trk":
			track, segment = track+1, 0
		case "trkseg":
			segment++
		}
		if start.Name.Local != wanted {
			continue
		}
		e, err := s.whole(start)
		if err != nil {
			ended = err
			break
		}
		var keys, values []string
		if wanted == "trkpt" {
			keys, values = []string{"track", "segment"}, []string{fmt.Sprint(track), fmt.Sprint(segment)}
		}
		gpxValues(e, "", &keys, &values)
		if more, err = f.add(ctx, keys, values, gpxGeometry(e)); err != nil {
			return nil, nil, err
		}
	}
	return f.profile(name, ended), ended, nil
}

// gpxValues appends the values of an element's children, without points.
func gpxValues(e *element, prefix string, keys, values *[]string) {
	for _, k := range e.kids {
		switch {
		case k.name == "trkseg" || k.name == "rtept" || len(*keys) >= csvprofile.MaxCells/8:
		case k.name == "link":
			*keys, *values = append(*keys, prefix+"link"), append(*values, k.attr("href"))
		case k.name == "extensions" || len(k.kids) > 0:
			inner := prefix
			if k.name != "extensions" && prefix != "" {
				inner = prefix + k.name + "."
			}
			gpxValues(k, inner, keys, values)
		default:
			if text := k.content(); text != "" {
				*keys, *values = append(*keys, prefix+k.name), append(*values, text)
			}
		}
	}
}

// gpxGeometry returns the point of an element, or the line through its points. Points have no heights: many lack them,
// and they have a column.
func gpxGeometry(e *element) *figure {
	line := func(e *element, name string) (f figure) {
		var text strings.Builder
		for _, k := range e.kids {
			if k.name == name {
				text.WriteString(k.attr("lon") + "," + k.attr("lat") + " ")
			}
		}
		return kmlLine("LINESTRING", text.String())
	}
	var f figure
	switch e.name {
	case "rte":
		f = line(e, "rtept")
	case "trk":
		var kids []figure
		for _, k := range e.kids {
			if k.name == "trkseg" {
				if l := line(k, "trkpt"); len(l.parts) > 0 {
					kids = append(kids, l)
				}
			}
		}
		if len(kids) > 0 {
			f = figure{word: "MULTILINESTRING", dims: 2, kids: kids}
		}
	default:
		f = kmlLine("POINT", e.attr("lon")+","+e.attr("lat"))
	}
	if len(f.parts) == 0 && len(f.kids) == 0 {
		return nil
	}
	return &f
}
