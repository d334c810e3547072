package ui

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/extent"
	"odarchive/sparqlapi/data"
	"odarchive/triplestore/geometry"
	"odarchive/ui/plot"
	"odarchive/vocab"

	"html/template"
)

// opWord returns an operator in words.
func opWord(op string) string {
	switch op {
	case "=", "==":
		return "is"
	case "!=", "<>":
		return "is not"
	case "~":
		return "contains"
	case "<=":
		return "≤"
	case ">=":
		return "≥"
	}
	return op
}

// wordOf returns a value as a person reads it.
func wordOf(value string) string {
	if value == "" {
		return "empty"
	}
	return cut(value, exploreCell)
}

// facetLinks returns the values of columns that have few, each a link that narrows the rows to it.
func facetLinks(found *data.RowsAnswer, s exploring) (list []facet) {
	for _, f := range found.Facets {
		if slices.ContainsFunc(s.Where, func(c data.Comparison) bool { return c.Column == f.Column && c.Op == "=" }) ||
			len(list) == exploreFacets {
			continue
		}
		group := facet{Name: shorten(f.Column)}
		for _, v := range f.Values[:min(len(f.Values), exploreValues)] {
			group.Lines = append(group.Lines,
				facetLine{catalog.Count{Key: cut(v.Value, exploreCell), Count: int(v.Count)},
					s.narrowed(data.Comparison{Column: f.Column, Op: "=", Value: v.Value}).href()})
		}
		if len(group.Lines) > 0 {
			list = append(list, group)
		}
	}
	return list
}

// shares are the parts of the values between minimum, quantiles and maximum.
var shares = [6]float64{0.05, 0.20, 0.25, 0.25, 0.20, 0.05}

// chartsOf draws the columns of numbers and dates. Each bar is a link to its rows.
func chartsOf(p *csvprofile.Profile, s exploring) (list []chart) {
	for _, c := range p.Columns {
		if len(list) == exploreCharts {
			break
		}
		if len(c.Quantiles) != 5 || c.Key && c.Datatype == "integer" {
			continue
		}
		words := append(append([]string{c.Min}, c.Quantiles...), c.Max)
		var ranges []plot.Range
		for i, share := range shares {
			from, ok := axisValue(c, words[i])
			to, also := axisValue(c, words[i+1])
			if !ok || !also {
				break
			}
			upper := "<"
			if i == len(shares)-1 {
				upper = "<="
			}
			ranges = append(ranges,
				plot.Range{From: from, To: to, Share: share, Title: words[i] + " to " + words[i+1] + ": about " + percent(share),
					Href: s.narrowed(data.Comparison{Column: c.Name, Op: ">=", Value: cellWord(c, words[i])},
						data.Comparison{Column: c.Name, Op: upper, Value: cellWord(c, words[i+1])}).href()})
		}
		if len(ranges) < len(shares) {
			continue
		}
		if drawn := plot.Ranges(ranges, "How the values of "+shorten(c.Name)+" are spread in the whole table"); drawn != "" {
			list = append(list, chart{Name: shorten(c.Name), From: c.Min, To: c.Max, Plot: drawn})
		}
	}
	return list
}

// axisValue returns a number or date of a profile as a place on an axis.
func axisValue(c csvprofile.Column, word string) (float64, bool) {
	if isNumber(c) || c.Datatype == "gYear" {
		x, err := strconv.ParseFloat(word, 64)
		return x, err == nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, word); err == nil {
			return float64(t.Unix()), true
		}
	}
	return 0, false
}

// cellWord returns a number or date of a profile as conditions have it.
func cellWord(c csvprofile.Column, word string) string {
	if isNumber(c) {
		return data.Literal(c, word)
	}
	return word
}

// placesOf draws where the rows of a page are, "" if that is not known.
func (u *UI) placesOf(found *data.RowsAnswer, s exploring) template.HTML {
	var places []plot.Place
	p := found.Profile
	place := func(i int, box [4]float64) {
		number := int64(s.Offset + i)
		if i < len(found.Numbers) {
			number = found.Numbers[i]
		}
		places = append(places, plot.Place{Box: box, Title: "Row " + humanCount(number+1), Href: rowHref(s.Table, number)})
	}
	lat, lon, ok := extent.Columns(p)
	if !ok {
		lat = geometryColumn(p)
	}
	for i, cells := range found.Rows {
		switch {
		case ok:
			y, yes := numberIn(p, cells, lat)
			x, also := numberIn(p, cells, lon)
			if yes && also && x >= -180 && x <= 180 && y >= -90 && y <= 90 {
				place(i, [4]float64{x, y, x, y})
			}
		case lat >= 0:
			text, _ := cells[lat].(string)
			kind := vocab.GeoWKTLiteral
			if strings.HasPrefix(strings.TrimSpace(text), "{") {
				kind = vocab.GeoGeoJSONLiteral
			}
			if g, err := geometry.Parse(text, kind); err == nil && !g.Bounds().Empty() {
				b := g.Bounds()
				place(i, [4]float64{b.MinX, b.MinY, b.MaxX, b.MaxY})
			}
		}
	}
	if len(places) == 0 {
		return ""
	}
	return plot.Places(places, u.assets.address["world.svg"], "Where the rows of this page are")
}

// geometryColumn returns the index of the column of geometries in degrees, -1 if there is none.
func geometryColumn(p *csvprofile.Profile) int {
	g := p.Geometry
	if g == nil || p.Extent == nil || g.Bounds == nil || *g.Bounds != *p.Extent {
		return -1
	}
	return slices.IndexFunc(p.Columns, func(c csvprofile.Column) bool { return c.Name == g.Column })
}

func numberIn(p *csvprofile.Profile, cells []any, column int) (float64, bool) {
	text, _ := cells[column].(string)
	return data.Number(p.Columns[column], text)
}

// offers sets the files and programs that get the rows of the page's state. iri is the version's, and place its path on
// this server.
func (p *explorePage) offers(iri, place string) {
	q := url.Values{}
	if p.State.Table != "" {
		q.Set("table", p.State.Table)
	}
	if len(p.State.Where) > 0 {
		q.Set("where", data.Condition(p.State.Where))
	}
	name := strings.TrimSuffix(p.Name, path.Ext(p.Name))
	p.Snippets = data.Snippets(iri, name, q)
	query := ""
	if len(q) > 0 {
		query = "?" + q.Encode()
	}
	for _, f := range []crumb{{"CSV", "csv"}, {"JSON", "json"}, {"NDJSON", "ndjson"}, {"Parquet", "parquet"}, {"Arrow", "arrow"}} {
		p.Files = append(p.Files, crumb{f.Name, place + "/table." + f.Href + query})
	}
}
