package rowfile

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect/tables"
)

// everything has a field of each kind, and names that formats have to escape.
var everything = []Field{{"id", Int}, {"a,b", Text}, {`"x"`, Float}, {"ok.no", Bool}, {"day", Date}, {"time", Time}, {"at", Moment},
	{"utc", Instant}}

func write(t testing.TB, f Format, fields []Field, rows [][]Value) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := f.Open(&b, fields)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func formatNamed(t testing.TB, name string) Format {
	t.Helper()
	for _, f := range Formats() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no format %s", name)
	return Format{}
}

var texts = []string{"Wien", "", "a,b", "two\nlines", `"quoted"`, " blank ", "=1+1", "łódź \U0001F333", "\u202egnp", "\u2028", "a\tb"}

func sample(n int) (rows [][]Value) {
	day := time.Date(1968, 12, 30, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at := day.Add(time.Duration(i) * 41 * time.Minute)
		x := float64(i)/8 - 100
		row := []Value{
			{Int: int64(i) * 3, Text: strconv.Itoa(i * 3)}, {Text: texts[i%len(texts)]},
			{Float: x, Text: strconv.FormatFloat(x, 'f', -1, 64)}, {Int: int64(i % 2), Text: strconv.FormatBool(i%2 == 1)},
			{Int: int64(math.Floor(float64(at.Unix()) / 86400)), Text: at.Format("2006-01-02")},
			{Int: int64(i%86400) * 1e6, Text: time.Unix(int64(i%86400), 0).UTC().Format("15:04:05")},
			{Int: at.UnixMicro(), Text: at.Format("2006-01-02T15:04:05")}, {Int: at.UnixMicro(), Text: at.Format(time.RFC3339)},
		}
		if k := i % 20; k < len(row) {
			row[k] = Value{Null: true}
		}
		rows = append(rows, row)
	}
	return rows
}

func TestCSVIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	rows := sample(500)
	got, err := csv.NewReader(bytes.NewReader(write(t, formatNamed(t, "csv"), everything, rows))).ReadAll()
	if err != nil || len(got) != 501 || got[0][1] != "a,b" || got[0][2] != `"x"` {
		t.Fatalf("%d records, %v", len(got), err)
	}
	for i, r := range rows {
		for j, v := range r {
			if got[i+1][j] != v.Text {
				t.Errorf("row %d, column %d: %q, want %q", i, j, got[i+1][j], v.Text)
			}
		}
	}
	one := string(write(t, formatNamed(t, "csv"), []Field{{"a", Text}}, [][]Value{{{Text: "x"}}, {{Null: true}}, {{Text: "a\x00b"}}}))
	if one != "a\nx\n\"\"\na\uFFFDb\n" {
		t.Errorf("one column: %q", one)
	}
}

func TestJSONIsReadBackAsItWas(t *testing.T) {
	t.Parallel()
	rows := append(sample(300),
		[]Value{{Odd: true, Text: "n/a"}, {Text: "\x00\x1f\x7f"}, {Float: 1e300, Text: ".5"}, {Null: true}, {Null: true}, {Null: true},
			{Null: true}, {Null: true}})
	var list []map[string]any
	array := write(t, formatNamed(t, "json"), everything, rows)
	if err := json.Unmarshal(array, &list); err != nil || len(list) != 301 {
		t.Fatalf("%d rows, %v", len(list), err)
	}
	dec := json.NewDecoder(bytes.NewReader(write(t, formatNamed(t, "ndjson"), everything, rows)))
	for i, r := range rows {
		var line map[string]any
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		for j, v := range r {
			want := any(v.Text)
			switch {
			case v.Null:
				want = nil
			case v.Odd:
			case j == 0 || j == 2:
				want = v.Float + float64(v.Int)
			case j == 3:
				want = v.Int == 1
			}
			if a, b := list[i][everything[j].Name], line[everything[j].Name]; a != want || b != want {
				t.Errorf("row %d, %s: %v and %v, want %v", i, everything[j].Name, a, b, want)
			}
		}
	}
	if b := write(t, formatNamed(t, "json"), everything, nil); string(b) != "[]\n" {
		t.Errorf("no rows: %q", b)
	}
}

func TestColumnarFilesAreReadBackByTheArchive(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 9, 1000, groupRows + 1234} {
		rows := sample(n)
		for _, name := range []string{"parquet", "arrow"} {
			b := write(t, formatNamed(t, name), everything, rows)
			i, want := 0, 0
			_, err := tables.Read(context.Background(),
				tables.Input{Type: formatNamed(t, name).Type, Size: int64(len(b)), Body: bytes.NewReader(b)}, tables.Options{
					Begin: func(_ int, _ string, columns []string, _ bool) error {
						if got := strings.Join(columns, "|"); got != `id|a,b|"x"|ok.no|day|time|at|utc` {
							t.Errorf("%s: columns %s", name, got)
						}
						return nil
					},
					Each: func(_ int, cells [][]byte) error {
						if n := rows[i]; string(cells[0]) != n[0].Text || string(cells[1]) != n[1].Text || string(cells[4]) != n[4].Text {
							t.Fatalf("%s, row %d: %q, want %v", name, i, cells, n)
						}
						i++
						return nil
					},
				})
			if want = n; err != nil || i != want {
				t.Errorf("%s: %d of %d rows, %v", name, i, want, err)
			}
		}
	}
}

func TestOddValuesAreNotWrittenAsOthers(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"parquet", "arrow"} {
		w, err := formatNamed(t, name).Open(io.Discard, []Field{{"a", Text}, {"b", Int}})
		if err != nil {
			t.Fatal(err)
		}
		err = w.Write([]Value{{Odd: true, Text: "fits"}, {Odd: true, Text: "n/a"}})
		if odd, ok := errors.AsType[*OddError](err); !ok || odd.Column != 1 || odd.Text != "n/a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDuckDBReadsTheFiles needs node and the packages of make test-tools.
func TestDuckDBReadsTheFiles(t *testing.T) {
	modules := os.Getenv("ODARCHIVE_NODE_MODULES")
	node, err := exec.LookPath("node")
	if err != nil || modules == "" {
		t.Skip("ODARCHIVE_NODE_MODULES does not name a directory with @duckdb/node-api")
	}
	dir := t.TempDir()
	rows := sample(50_000)
	for _, name := range []string{"parquet", "csv", "json", "ndjson"} {
		if err := os.WriteFile(filepath.Join(dir, "t."+name), write(t, formatNamed(t, name), everything, rows), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script := fmt.Sprintf(`const {DuckDBInstance} = require(%q);
(async () => {
  const c = await (await DuckDBInstance.create(":memory:")).connect();
  for (const f of ["parquet", "csv", "json", "ndjson"]) {
    const q = f === "csv" ? "read_csv('t.csv', header=true, sample_size=-1)" : "'t." + f + "'";
    const r = await c.runAndReadAll("SELECT count(*), sum(id), sum(\"\"\"x\"\"\"), count(DISTINCT \"a,b\"), min(day)::varchar, max(\"at\"::timestamp)::varchar, count(*) FILTER (\"ok.no\") FROM " + q);
    console.log(f, JSON.stringify(r.getRowsJson()[0]));
    const d = await c.runAndReadAll("DESCRIBE SELECT * FROM " + q);
    if (f === "parquet") console.log(d.getRowsJson().map(x => x[1]).join(" "));
  }
})();`, filepath.Join(modules, "@duckdb/node-api"))
	cmd := exec.CommandContext(t.Context(), node, "-e", script)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := figures(rows)
	for _, name := range []string{"parquet", "json", "ndjson"} {
		if !strings.Contains(string(out), name+" "+want) {
			t.Errorf("%s is not read back: want %s, got\n%s", name, want, out)
		}
	}
	if types := "BIGINT VARCHAR DOUBLE BOOLEAN DATE TIME TIMESTAMP TIMESTAMP WITH TIME ZONE"; !strings.Contains(string(out), types) {
		t.Errorf("datatypes of the Parquet file: want %s, got\n%s", types, out)
	}
}

// figures returns what the query of TestDuckDBReadsTheFiles answers.
func figures(rows [][]Value) string {
	var sum, yes int64
	var x float64
	first, last, seen := "9", "", map[string]bool{}
	for _, r := range rows {
		sum, x = sum+r[0].Int, x+r[2].Float
		if !r[1].Null {
			seen[r[1].Text] = true
		}
		if !r[4].Null {
			first = min(first, r[4].Text)
		}
		last = max(last, r[6].Text)
		yes += r[3].Int
	}
	b, _ := json.Marshal([]any{strconv.Itoa(len(rows)), strconv.FormatInt(sum, 10), x, strconv.Itoa(len(seen)), first,
		strings.Replace(last, "T", " ", 1), strconv.FormatInt(yes, 10)})
	return string(b)
}
