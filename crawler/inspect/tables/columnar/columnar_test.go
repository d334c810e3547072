package columnar

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// typeOf detects a file.
func typeOf(t testing.TB, b []byte) string {
	t.Helper()
	d, err := detect.File(context.Background(), detect.Input{Name: "x", Size: int64(len(b)), Body: bytes.NewReader(b)})
	if err != nil {
		t.Fatal(err)
	}
	return d.Type
}

const arrowPeople = `id,height,town,note,day,at,ok,parts,size.w,size.h
1,1.75,Zürich,a,2020-02-29,2021-03-04T05:06:07Z,true,1; 2,1,2
2,,Köln,,1899-12-31,1970-01-01T00:00:00Z,false,,3,4
3,-0.5,,,,,,,,
4,1E20,Zürich,łódź,2024-01-01,1969-12-31T23:59:59.5Z,true,3,5,6
`

const avroPeople = `id,height,town,day,at,kind,size.w,size.h,tags,price,m
1,1.75,Zürich,18321,1614834367000,A,1,2,x; y,09,a: 1.5
-2,,,,,B,,,,ff,
3,-0.5,Köln,-25568,0,B,-3,4,z,00,b: 2; c: -1
`

func TestFilesWithASchemaAreRead(t *testing.T) {
	for file, want := range map[string]string{"people.arrow": arrowPeople, "people.arrows": arrowPeople, "null.avro": avroPeople,
		"deflate.avro": avroPeople} {
		b := sourcetest.File(t, filepath.Join("testdata", file))
		kind := typeOf(t, b)
		if Readers()[kind] == nil {
			t.Fatalf("%s is %s", file, kind)
		}
		tables := sourcetest.Read(t, Readers()[kind], sourcetest.Input(kind, b))
		if len(tables) != 1 {
			t.Fatalf("%s: %d tables", file, len(tables))
		}
		var names []string
		for _, c := range tables[0].Columns {
			names = append(names, c.Name)
		}
		got := strings.Join(names, ",") + "\n"
		for _, row := range tables[0].Cells {
			got += strings.Join(row, ",") + "\n"
		}
		if got != want {
			t.Errorf("%s: got\n%swant\n%s", file, got, want)
		}
	}
}

// A stream of Arrow 0.14 has no marks before its messages, and one of Arrow 21 has columns of which only the ends of
// runs of equal values are stored. The one of 0.14 has batches of 7 and 10 rows, most of them nulls.
func TestStreamsOfOtherVersionsOfArrow(t *testing.T) {
	for file, want := range map[string]string{
		"unmarked.arrows": "dict0 string, dict1 string, dict2 integer; 17 rows; 7TxsCVP  1185226979",
		"runs.arrows":     "ree16_int32 integer, ree32_utf8 string, ree64_float32 decimal, ree16_bool boolean, bool boolean; 27 rows;",
	} {
		b := sourcetest.File(t, filepath.Join("testdata", file))
		kind := typeOf(t, b)
		if kind != "application/vnd.apache.arrow.stream" {
			t.Fatalf("%s is %s", file, kind)
		}
		table := sourcetest.Read(t, arrowTable, sourcetest.Input(kind, b))[0]
		var columns []string
		for _, c := range table.Columns {
			columns = append(columns, c.Name+" "+c.Datatype)
		}
		first := slices.IndexFunc(table.Cells, func(row []string) bool { return strings.Join(row, "") != "" })
		got := fmt.Sprintf("%s; %d rows; %s", strings.Join(columns, ", "), table.Rows, strings.Join(table.Cells[max(first, 0)], " "))
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func TestAnArrowFileWithoutItsEndShowsWhatItHas(t *testing.T) {
	b := sourcetest.File(t, "testdata/people.arrows")
	b = append(append([]byte("ARROW1\x00\x00"), b...), "and then the file was cut off"...)
	tables := sourcetest.Read(t, arrowTable, sourcetest.Input("application/vnd.apache.arrow.file", b))
	if len(tables) != 1 || tables[0].Rows != 4 {
		t.Errorf("%d tables", len(tables))
	}
}

func TestLogicalTypesOfAvro(t *testing.T) {
	for _, c := range []struct{ schema, bytes, want string }{
		{`{"type":"int","logicalType":"date"}`, "\xa2\x9e\x02", "2020-02-29"},
		{`{"type":"int","logicalType":"time-millis"}`, "\xd0\x0f", "00:00:01"},
		{`{"type":"long","logicalType":"timestamp-millis"}`, "\xe8\x07", "1970-01-01T00:00:00.5Z"},
		{`{"type":"long","logicalType":"local-timestamp-micros"}`, "\x80\x89\x7a", "1970-01-01T00:00:01"},
		{`{"type":"bytes","logicalType":"decimal","precision":6,"scale":2}`, "\x04\x30\x39", "123.45"},
		{`{"type":"fixed","name":"f","size":2,"logicalType":"decimal","precision":4,"scale":1}`, "\xff\xfb", "-0.5"},
		{`["null","string"]`, "\x02\x04ab", "ab"},
		{`["null","string"]`, "\x00", ""},
		{`{"type":"record","name":"r","fields":[{"name":"next","type":["null","r"]},{"name":"n","type":"int"}]}`, "\x02\x00\x02\x04",
			"next: n: 1, n: 2"},
	} {
		var raw any
		if err := json.Unmarshal([]byte(c.schema), &raw); err != nil {
			t.Fatal(err)
		}
		typ, err := (&avroParser{named: map[string]*avroType{}}).parse(raw, "", 0)
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		b := &avroBlock{b: []byte(c.bytes)}
		if got := b.value(typ, 0); got != c.want || b.err != nil || b.at != len(b.b) {
			t.Errorf("%s: %q, want %q; %d of %d bytes, %v", c.schema, got, c.want, b.at, len(b.b), b.err)
		}
	}
}

func TestHalfFloats(t *testing.T) {
	for bits, want := range map[uint16]float64{0x3c00: 1, 0xc000: -2, 0x3555: 0.333251953125, 0x0001: 5.960464477539063e-08, 0: 0} {
		if got := halfFloat(bits); got != want {
			t.Errorf("%04x: %g, want %g", bits, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		f.Add(sourcetest.File(f, file))
	}
	f.Add(parquetOf(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if read := Readers()[typeOf(t, b)]; read != nil {
			_, _ = read(context.Background(), sourcetest.Input("", b), source.Options{MaxRows: 1000, MaxUnpack: 1 << 20}.WithDefaults())
		}
	})
}

// parquetOf writes a file of two rows.
func parquetOf(t testing.TB) []byte {
	t.Helper()
	type row struct {
		Name string   `parquet:"name,dict"`
		X    *float64 `parquet:"x,optional"`
		Tags []string `parquet:"tags,list"`
	}
	var b bytes.Buffer
	x := 1.5
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{"a", &x, []string{"u", "v"}}, {"b", nil, nil}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
