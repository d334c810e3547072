package arrays

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
)

func inputOf(raw []byte) source.Input {
	return source.Input{Size: int64(len(raw)), Body: bytes.NewReader(raw)}
}

func fileOf(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// shown returns the tables of a file as text: a line for each table with the names of its columns, and its rows.
func shown(t testing.TB, raw []byte) (text string, err error) {
	t.Helper()
	o := source.Options{}.WithDefaults()
	found, err := tables(t.Context(), inputOf(raw), o)
	rows := make([][]string, len(found))
	o.Each = func(table int, cells [][]byte) error {
		if table < len(rows) {
			rows[table] = append(rows[table], string(bytes.Join(cells, []byte("|"))))
		}
		return nil
	}
	tables(t.Context(), inputOf(raw), o)
	for i, p := range found {
		var names []string
		for _, c := range p.Columns {
			names = append(names, c.Name)
		}
		text += p.Name + ": " + strings.Join(names, "|") + "\n" + strings.Join(rows[i], "\n") + "\n"
		if p.Rows != int64(len(rows[i])) {
			t.Errorf("%s: %d rows, and %d were read", p.Name, p.Rows, len(rows[i]))
		}
	}
	return text, err
}

// classic writes a file of the classic format.
type classic struct {
	bytes.Buffer
	version byte
}

func (c *classic) u32(n ...int) {
	for _, x := range n {
		binary.Write(c, binary.BigEndian, uint32(x))
	}
}

// count writes a number of elements, off an offset.
func (c *classic) count(n int) {
	if c.version == 5 {
		c.u32(0)
	}
	c.u32(n)
}

func (c *classic) off(n int) {
	if c.version != 1 {
		c.u32(0)
	}
	c.u32(n)
}

func (c *classic) padded(s string) {
	c.WriteString(s + strings.Repeat("\x00", (4-len(s)%4)%4))
}

func (c *classic) name(s string) { c.count(len(s)); c.padded(s) }

func (c *classic) text(name, value string) {
	c.name(name)
	c.u32(2)
	c.name(value)
}

// classicFile is a file with two record variables, a text and a lone value. The offsets are set in a second pass.
func classicFile(version byte, records int) []byte {
	offsets := [4]int{}
	var c *classic
	for range 2 {
		c = &classic{version: version}
		c.WriteString("CDF" + string(rune(version)))
		c.count(records)
		c.u32(0x0a)
		c.count(3)
		for _, d := range []struct {
			name string
			n    int
		}{{"time", 0}, {"station", 2}, {"width", 5}} {
			c.name(d.name)
			c.count(d.n)
		}
		c.u32(0x0c)
		c.count(1)
		c.text("title", "Weather")
		c.u32(0x0b)
		c.count(4)
		variable := func(i int, name string, typ int, dims []int, attributes ...string) {
			c.name(name)
			c.count(len(dims))
			for _, d := range dims {
				c.count(d)
			}
			if len(attributes) == 0 {
				c.u32(0)
				c.count(0)
			} else {
				c.u32(0x0c)
				c.count(len(attributes) / 2)
			}
			for j := 0; j < len(attributes); j += 2 {
				c.text(attributes[j], attributes[j+1])
			}
			c.u32(typ)
			c.count(8)
			c.off(offsets[i])
		}
		variable(0, "name", 2, []int{1, 2})
		variable(1, "height", 3, []int{1}, "units", "m", "long_name", "height of the station")
		variable(2, "time", 6, []int{0}, "units", "days since 2024-01-30 12:00:00", "calendar", "gregorian")
		variable(3, "flag", 1, []int{0})
		offsets[0] = c.Len()
		c.WriteString("Wien\x00Graz ")
		c.WriteString("\x00\x00")
		offsets[1] = c.Len()
		c.WriteString("\x00\xab\xff\xfe")
		offsets[2] = c.Len()
		offsets[3] = c.Len() + 8
		for i := range 3 {
			binary.Write(c, binary.BigEndian, math.Float64bits(float64(i)/2))
			c.WriteString(string([]byte{byte(i - 1), 0, 0, 0}))
		}
	}
	return c.Bytes()
}

func TestClassicNetCDF(t *testing.T) {
	t.Parallel()
	want := "station: name|height\nWien|171\nGraz|-2\ntime: " +
		"time|flag\n2024-01-30T12:00:00|-1\n2024-01-31T00:00:00|0\n2024-01-31T12:00:00|1\n"
	for _, version := range []byte{1, 2, 5} {
		for _, records := range []int{3, math.MaxUint32} { // the second while it is written
			if version == 5 && records > 3 {
				continue
			}
			got, err := shown(t, classicFile(version, records))
			if err != nil || got != want {
				t.Errorf("CDF-%d: %v\n%s", version, err, got)
			}
		}
		f, err := Open(t.Context(), inputOf(classicFile(version, 3)))
		if err != nil || len(f.Vars) != 4 || attrOf(f.Attributes, "title") != "Weather" || f.Dims[0] != (Dim{"time", 3}) ||
			f.Vars[1].Attr("units") != "m" || f.Vars[1].Type != "short" {
			t.Errorf("CDF-%d: %+v, %v", version, f, err)
		}
	}
}

// The values are those that h5py and netCDF4 read from these files.
func TestHDF5(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ tables, fault string }{
		"four.nc": {"place: label|code|inner/z\nWien|ab|1\n|c|2\nÜnterach|abcd|9223372036854775808\n" +
			"time: time|t2m\n2024-01-31T06:00:00|10\n2024-01-31T18:00:00|10.5\n2024-02-01T06:00:00|\n2024-02-01T18:00:00|9\n2024-02-02T06" +
			":00:00|8\n2024-02-02T18:00:00|12.5\n", ""},
		"old.h5": {"[3]: e\nOFF\nON\nON\n[5]: half|x|y\n0|0|0\n1|1|0.125\n2|2|0.25\n3|3|0.375\n4|4|0.5\n" +
			"rec: id|n|in.p|in.q\n0|abc|0|0\n1|abc|1|0\n2|abc|2|0\n3|abc|3|0\n[20]: sparse\n" + strings.Repeat("7\n", 11) + "1\n" +
			strings.Repeat("7\n", 8), ""},
		"new.h5": {
			"many [2]: " +
				"many/n11|many/n10|many/n09|many/n08|many/n07|many/n06|many/n05|many/n04|many/n03|many/n02|many/n01|many/n00\n0|0|0|0|0|0" +
				"|0|0|0|0|0|0\n11|10|9|8|7|6|5|4|3|2|1|0\n" +
				"[10]: one\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n", "chunks with an index of a kind that is not read"},
	} {
		got, err := shown(t, fileOf(t, name))
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s: %v", name, err)
		}
		for table := range strings.SplitAfterSeq(c.tables, "\n") {
			if !strings.Contains(got, table) {
				t.Errorf("%s lacks %q", name, table)
			}
		}
		if len(got) != len(c.tables) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, c.tables)
		}
	}
}

func TestWhatHDF5FilesDescribe(t *testing.T) {
	t.Parallel()
	f, err := Open(t.Context(), inputOf(fileOf(t, "four.nc")))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprint(f.Attributes, f.Dims)
	for _, v := range f.Vars {
		text += fmt.Sprint("\n", v.Name, v.Type, v.Dims, v.Shape, v.Attr("units"), v.Attr("long_name"))
	}
	for _, want := range []string{"[{title Weather} {Conventions CF-1.8} {a0 v0} {a1 v1}", "{a8 v8}]", "{time 6}", "{place 3}",
		"\ntimedouble[time] [6]hours since", "\nt2mshort[time] [6]degCtemperature", "\ngridfloat[time place] [6 3]",
		"\ninner/zunsignedLong[place] [3]"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %s", want, text)
		}
	}
}

func TestTimesOfConventions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		units, calendar, number, want string
		x                             float64
	}{
		{"days since 1900-01-01", "", "45000.25", "2023-03-17T06:00:00", 45000.25},
		{"seconds since 1970-01-01T00:00:00Z", "standard", "86400", "1970-01-02T00:00:00", 86400},
		{"minutes since 2000-1-1 0:0:0", "", "-1", "1999-12-31T23:59:00", -1},
		{"days since 2000-01-01", "noleap", "1", "1", 1},
		{"days since 0001-01-01", "", "1", "1", 1},
		{"months since 2000-01-01", "", "1", "1", 1},
		{"days since 2000-01-01", "", "1e+30", "1e+30", 1e30},
		{"m", "", "1.5", "1.5", 1.5},
	} {
		how := conventionsOf(&Var{Attributes: []Attribute{{"units", c.units}, {"calendar", c.calendar}}})
		if got := how.text(c.x, c.number); got != c.want {
			t.Errorf("%v %s: %s, want %s", c.x, c.units, got, c.want)
		}
	}
}

func FuzzArrays(f *testing.F) {
	f.Add(classicFile(1, 3))
	f.Add(classicFile(5, 3))
	for _, name := range []string{"four.nc", "old.h5", "new.h5"} {
		f.Add(fileOf(f, name))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		found, _ := tables(t.Context(), inputOf(raw), source.Options{MaxRows: 1000}.WithDefaults())
		for _, p := range found {
			if !source.Worthwhile(p) {
				t.Errorf("a table without rows or columns: %+v", p)
			}
		}
	})
}
