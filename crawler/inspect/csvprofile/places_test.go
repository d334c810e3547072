package csvprofile

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func TestColumnsOfGeometriesHaveAnExtent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		header string
		cells  []string
		want   string
	}{
		"points": {"geom", []string{"POINT(16.3 48.2)", "POINT (11.4 47.3)", "Point Z (9.7 47.1 400)"}, "[9.7 47.1 16.3 48.2]"},
		"areas": {"the_geom",
			[]string{"POLYGON((1 2, 3 2, 3 4, 1 2))", "MULTIPOLYGON (((5 6,7 6,7 8,5 6)),((-1 0,0 0,0 1,-1 0)))",
				"GEOMETRYCOLLECTION(POINT(2 9), LINESTRING(0 0, 1 1))"}, "[-1 0 7 9]"},
		"SRID":           {"geom", []string{"SRID=4326;POINT(16 48)", "SRID=4326;POINT(17 49)"}, "[16 48 17 49]"},
		"another system": {"geom", []string{"SRID=31287;POINT(16 48)", "SRID=31287;POINT(17 49)"}, ""},
		"latitude first": {"geom", []string{"<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48 16)"}, "[16 48 16 48]"},
		"metres":         {"geom", []string{"POINT(625000 483000)", "POINT(16 48)"}, ""},
		"empty ones":     {"geom", []string{"POINT EMPTY", "POLYGON EMPTY"}, ""},
		"GeoJSON": {"geo_shape",
			[]string{`{"type":"Point","coordinates":[16,48]}`, `{"coordinates":[[1,2],[3,4]],"type":"LineString"}`}, "[1 2 16 48]"},
		"other JSON":         {"geo_shape", []string{`{"type":"Point"}`, `{"a":[16,48]}`}, ""},
		"pairs":              {"geo_point_2d", []string{"48.2, 16.3", "47.25,11.4"}, "[11.4 47.25 16.3 48.2]"},
		"pairs in brackets":  {"Location", []string{"(41.88, -87.62)", "(41.9, -87.7)"}, "[-87.7 41.88 -87.62 41.9]"},
		"longitude first":    {"lon/lat", []string{"16.3, 48.2", "11.4, 47.25"}, "[11.4 47.25 16.3 48.2]"},
		"pairs of anything":  {"range", []string{"48.2, 16.3", "47.25,11.4"}, ""},
		"a few other values": {"geom", append([]string{"unknown"}, points(40)...), "[0.5 0 39.5 39]"},
		"mostly others":      {"geom", append([]string{"POINT(1 1)", "POINT(2 2)"}, words(50)...), ""},
		"very many":          {"geom", append(scattered(20_000), "POINT(170 -80)"), "[1 -80 170 3]"},
		"many, late":         {"geom", append(words(40), points(2000)...), ""},
	} {
		text := "id;" + c.header + "\n"
		for i, cell := range c.cells {
			text += fmt.Sprintf("%d;\"%s\"\n", i, strings.ReplaceAll(cell, `"`, `""`))
		}
		p, err := Read(t.Context(), strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if p.Extent != nil {
			got = fmt.Sprint(*p.Extent)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func points(n int) (cells []string) {
	for i := range n {
		cells = append(cells, fmt.Sprintf("POINT(%d.5 %d)", i%180, i%90))
	}
	return cells
}

func words(n int) (cells []string) {
	for i := range n {
		cells = append(cells, fmt.Sprintf("Pfarre %d, links", i))
	}
	return cells
}

// scattered returns n different points between 1 and 3 degrees.
func scattered(n int) (cells []string) {
	for i := range n {
		cells = append(cells, fmt.Sprintf("POINT(%v %v)", 1+2*float64(i)/float64(n-1), 1+2*float64(i*7919%n)/float64(n)))
	}
	cells[0], cells[1] = "POINT(1 1)", "POINT(2 3)"
	return cells
}

func TestLeadingNumbersAreReadExactly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"0", "-0.5", "16.3738", "48.208176123456789", "123456789012345", "1234567890123456789", "1e3", "-1.5E-7",
		".5", "5.", "179.99999999999997", "0.00000000000001"} {
		want, err := strconv.ParseFloat(text, 64)
		if got, rest, ok := leadingNumber([]byte(" " + text + " 9)")); err != nil || !ok || got != want || string(rest) != " 9)" {
			t.Errorf("%s: got %v, %v, rest %q", text, got, ok, rest)
		}
	}
	for _, text := range []string{"", "-", ".", "x", "-x", "e5"} {
		if got, _, ok := leadingNumber([]byte(text)); ok {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
