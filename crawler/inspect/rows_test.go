package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/testdata/shared"

	"github.com/parquet-go/parquet-go"
	"github.com/xuri/excelize/v2"
)

// rowsOf returns the rows of one table as EachRow passes them on.
func rowsOf(ctx context.Context, in Input, member, typ, charset string, index int, p *csvprofile.Profile, limit int) (rows [][]string,
	err error) {
	enough := errors.New("enough")
	err = EachRow(ctx, in, member, typ, charset, index, p, Limits{}, func(cells [][]byte) error {
		row := make([]string, len(cells))
		for i, c := range cells {
			row[i] = string(c)
		}
		if rows = append(rows, row); len(rows) == limit {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return rows, err
}

// profiled is a table with the arguments that EachRow needs for it.
type profiled struct {
	member, typ, charset string
	index                int
	p                    *csvprofile.Profile
}

func profiledTables(in Input, inside *Inside) (list []profiled) {
	for i, p := range inside.Tables {
		list = append(list, profiled{"", in.Found.Type, in.Found.Charset, i, p})
	}
	for _, m := range inside.Members {
		for i, p := range m.Tables {
			list = append(list, profiled{m.Path, m.Type, m.Charset, i, p})
		}
	}
	return list
}

// differences profiles rows again and returns what the two profiles count differently.
func differences(ctx context.Context, p *csvprofile.Profile, rows [][]string) string {
	if int64(len(rows)) != p.Rows {
		return fmt.Sprintf("%d rows, the profile counts %d", len(rows), p.Rows)
	}
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	at := 0
	again, err := csvprofile.ReadRows(ctx, "", names, func() ([]string, error) {
		if at == len(rows) {
			return nil, io.EOF
		}
		at++
		return rows[at-1], nil
	}, csvprofile.Options{})
	if err != nil {
		return err.Error()
	}
	for i, c := range p.Columns {
		if i >= len(again.Columns) {
			return "lost columns"
		}
		if d := again.Columns[i]; c.Nulls != d.Nulls || c.Min != d.Min || c.Max != d.Max || c.Exact && c.Distinct != d.Distinct ||
			c.Datatype != d.Datatype {
			return fmt.Sprintf("column %q: %d nulls, %d distinct, %q to %q, %s; profiled %d, %d, %q to %q, %s",
				c.Name, d.Nulls, d.Distinct, d.Min, d.Max, d.Datatype, c.Nulls, c.Distinct, c.Min, c.Max, c.Datatype)
		}
	}
	return ""
}

func TestRowsAreThoseThatTheProfileCounts(t *testing.T) {
	t.Parallel()
	book := excelize.NewFile()
	book.SetSheetName("Sheet1", "towns")
	for i, row := range [][]any{{"Population", nil, nil}, {"name", "people", "share"}, {"Wien", 1911191, 0.5}, {"Graz", 291072, 0.25},
		{"Linz", nil, 0.125}} {
		book.SetSheetRow("towns", fmt.Sprintf("A%d", i+1), &row)
	}
	book.NewSheet("empty")
	book.NewSheet("rivers")
	for i, row := range [][]any{{"river", "km"}, {"Mur", 453}, {"Enns", 254}, {"Ybbs", 134}} {
		book.SetSheetRow("rivers", fmt.Sprintf("A%d", i+1), &row)
	}
	var xlsx, columns bytes.Buffer
	if err := book.Write(&xlsx); err != nil {
		t.Fatal(err)
	}
	type town struct {
		Name   string
		People int64
	}
	if err := parquet.Write(&columns, []town{{"Wien", 1911191}, {"Graz", 291072}}); err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"trees.csv":  trees,
		"titled.csv": "Trees of the town\n\n" + strings.ReplaceAll(trees, ",", ";") + "\n\nSource: the town\n",
		"crlf.tsv":   strings.ReplaceAll(strings.ReplaceAll(trees, ",", "\t"), "\n", "\r\n"),
		"quoted.csv": "a,b\n\"x\ny\",1\n\"z \"\"q\"\"\",2\n",
		"towns.xlsx": xlsx.String(),
		"t.parquet":  columns.String(),
		"list.json": `{"meta":{"n":2},"empty":[],"a":[{"x":1,"y":"q"},{"x":2,"z":{"w":true}},{"x":null,"y":"r"}],"b":[["h","i"],[1,2],[` +
			`3,4]]}`,
		"one.ndjson": "{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\n{\"b\":\"y\"}\n",
		"page.html": "<html><body><table><tr><td>layout</td><td></td></tr><tr><td>x</td><td></td></tr></table><table><tr><th>a</th><th>" +
			"b</th></tr><tr><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td></tr></table></body></html>",
		"records.xml": "<?xml version=\"1.0\"?><list><item id=\"1\"><name>a</name></item><item id=\"2\"><name>b</name></item><item " +
			"id=\"3\"><name>c</name></item></list>",
		"fixed.txt": "name      people  share\nWien     1911191   0.50\nGraz      291072   0.25\nLinz      206595   0.12\nWels       " +
			"61233   0.01\nSteyr      38193   0.01\n",
		"all.zip": string(zipped(t, "inner/trees.csv", trees, "towns.xlsx", xlsx.String(), "readme.txt", "hello")),
	} {
		in := Input{Name: name, Size: int64(len(body)), Body: strings.NewReader(body)}
		var err error
		if in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: in.Size, Body: in.Body}); err != nil {
			t.Fatal(err)
		}
		found := profiledTables(in, inspect(t, name, []byte(body)))
		if len(found) == 0 {
			t.Errorf("%s: no table, type %s", name, in.Found.Type)
		}
		for _, table := range found {
			rows, err := rowsOf(t.Context(), in, table.member, table.typ, table.charset, table.index, table.p, -1)
			if err != nil {
				t.Errorf("%s, %s: %v", name, table.p.Name, err)
			}
			if d := differences(t.Context(), table.p, rows); d != "" {
				t.Errorf("%s, %s %s: %s: %q", name, table.member, table.p.Name, d, rows)
			}
			first, err := rowsOf(t.Context(), in, table.member, table.typ, table.charset, table.index, table.p, 1)
			if err != nil || len(first) != 1 || !slices.Equal(first[0], rows[0]) {
				t.Errorf("%s, %s: the first row alone is %q, %v; all are %q", name, table.p.Name, first, err, rows)
			}
		}
	}
}

func TestReadingRowsEndsWithTheContext(t *testing.T) {
	t.Parallel()
	body := "id,name\n" + strings.Repeat("1,a\n", 100_000)
	in := Input{Name: "a.csv", Size: int64(len(body)), Body: strings.NewReader(body)}
	p := inspect(t, "a.csv", []byte(body)).Tables[0]
	ctx, cancel := context.WithCancel(t.Context())
	n := 0
	err := EachRow(ctx, in, "", "text/csv", "utf-8", 0, p, Limits{}, func([][]byte) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || n == 100_000 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestALargeMemberIsNotReadForItsRows(t *testing.T) {
	t.Parallel()
	body := zipped(t, "a.csv", trees)
	in := Input{Found: detect.Detection{Type: "application/zip"}, Name: "a.zip", Size: int64(len(body)), Body: bytes.NewReader(body)}
	p := inspect(t, "a.zip", body).Members[0].Tables[0]
	err := EachRow(t.Context(), in, "a.csv", "text/csv", "", 0, p, Limits{MaxProbe: 10}, func([][]byte) error { return nil })
	if !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestRowsOfThirdPartyFilesAreThoseThatTheirProfilesCount(t *testing.T) {
	t.Parallel()
	files := 0
	for _, root := range []string{shared.Data(t, "csv"), shared.Data(t, "mime"), shared.Data(t, "encoding")} {
		filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || files > 300 && testing.Short() {
				return nil
			}
			body, err := os.ReadFile(path)
			if err != nil || len(body) > 4<<20 {
				return nil
			}
			in := Input{Name: d.Name(), Size: int64(len(body)), Body: bytes.NewReader(body)}
			if in.Found, err = detect.File(t.Context(), detect.Input{Name: in.Name, Size: in.Size, Body: in.Body}); err != nil {
				return nil
			}
			inside, err := File(t.Context(), in, Limits{TempDir: t.TempDir()})
			if err != nil || inside == nil {
				return nil
			}
			for _, table := range profiledTables(in, inside) {
				files++
				rows, err := rowsOf(t.Context(), in, table.member, table.typ, table.charset, table.index, table.p, -1)
				if err != nil || int64(len(rows)) != table.p.Rows {
					t.Errorf("%s %s %s (%s): %d rows, %v; the profile counts %d", d.Name(), table.member, table.p.Name, table.typ,
						len(rows), err, table.p.Rows)
				}
			}
			return nil
		})
	}
	t.Logf("%d tables", files)
}

// TestFileInMemory profiles files that a spool holds in memory, in encodings other than UTF-8: each row counts once,
// and the rows are those that were counted.
func TestFileInMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString("town;trees;country\n")
	for i := range 40 {
		fmt.Fprintf(&text, "town %d;%d;Österreich\n", i, i)
	}
	wide := []byte{0xff, 0xfe}
	var narrow []byte
	for _, r := range text.String() {
		wide = append(wide, byte(r), byte(r>>8))
		narrow = append(narrow, byte(r))
	}
	for name, body := range map[string][]byte{"utf-8": []byte(text.String()), "utf-16": wide, "latin-1": narrow} {
		in := Input{Name: "trees.csv", Size: int64(len(body)), Body: held{Reader: bytes.NewReader(body), data: body}}
		var err error
		if in.Found, err = detect.File(t.Context(), detect.Input{Name: in.Name, Size: in.Size, Body: in.Body}); err != nil {
			t.Fatal(err)
		}
		inside, err := File(t.Context(), in, Limits{TempDir: t.TempDir()})
		if err != nil || inside == nil || len(inside.Tables) != 1 {
			t.Fatalf("%s: %+v, %v", name, inside, err)
		}
		p := inside.Tables[0]
		if p.Rows != 40 || len(p.Columns) != 3 || p.Columns[1].Datatype != "integer" {
			t.Errorf("%s: %d rows of %d columns, the second %q; want 40 of 3, integer", name, p.Rows, len(p.Columns), p.Columns[1].Datatype)
		}
		var rows int64
		if err := EachRow(t.Context(), in, "", in.Found.Type, in.Found.Charset, 0, p, Limits{},
			func([][]byte) error { rows++; return nil }); err != nil || rows != 40 {
			t.Errorf("%s: %d rows were read, and %v", name, rows, err)
		}
	}
}
