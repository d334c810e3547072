package inspect_test

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
)

// A shapefile in a zip has one table: that of its .shp file, with the attributes of its .dbf file.
func TestAShapefileInAnArchiveIsOneTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("tables/geo/testdata/shapes.zip")
	if err != nil {
		t.Fatal(err)
	}
	for _, rename := range []func(string) string{func(s string) string { return s }, strings.ToUpper,
		func(s string) string { return "a dir/" + s }} {
		packed := renamed(t, data, rename)
		in := inspect.Input{Name: "shapes.zip", Size: int64(len(packed)), Body: bytes.NewReader(packed),
			Found: detect.Detection{Type: "application/zip"}}
		found, err := inspect.File(t.Context(), in, inspect.Limits{})
		if err != nil || len(found.Faults) > 0 {
			t.Fatal(err, found.Faults)
		}
		for _, m := range found.Members {
			lower := strings.ToLower(m.Path)
			if !strings.HasSuffix(lower, ".shp") {
				if len(m.Tables) > 0 {
					t.Errorf("%s has a table", m.Path)
				}
				if strings.HasSuffix(lower, ".shx") && m.Type != "application/vnd.shx" || strings.HasSuffix(lower, ".dbf") &&
					m.Type != "application/vnd.dbf" {
					t.Errorf("%s is %s", m.Path, m.Type)
				}
				continue
			}
			if len(m.Tables) != 1 {
				t.Fatalf("%s has %d tables", m.Path, len(m.Tables))
			}
			p := m.Tables[0]
			if p.Geometry == nil || p.Geometry.Count == 0 || p.Geometry.CRS == "" || len(p.Columns) < 2 {
				t.Errorf("%s: %+v", m.Path, p.Geometry)
			}
			var rows int64
			err := inspect.EachRow(t.Context(), in, m.Path, m.Type, m.Charset, 0, p, inspect.Limits{}, func(cells [][]byte) error {
				if rows++; len(cells) != len(p.Columns) || len(cells[0]) == 0 {
					t.Errorf("%s: %q", m.Path, cells)
				}
				return nil
			})
			if err != nil || rows != p.Rows {
				t.Errorf("%s: %d rows of %d: %v", m.Path, rows, p.Rows, err)
			}
		}
	}
}

// renamed returns a zip with other names of its members.
func renamed(t *testing.T, data []byte, name func(string) string) []byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		to, err := w.Create(name(f.Name))
		if err == nil {
			_, err = io.Copy(to, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
