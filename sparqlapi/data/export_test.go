package data

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables"
	"odarchive/sparqlapi/data/rowfile"
)

func TestTablesAreFilesWithDatatypes(t *testing.T) {
	t.Parallel()
	h := handler(archiveOf(t, "Städte/2024 \u202e.csv", towns))
	for path, want := range map[string]string{
		"/v_0/table.csv": "name,people,share,since,big\nWien,1911191,0.505,1955-12-31,true\nGraz,291072,,2000" +
			"-01-01,false\nBruck and Leitha,7912,0.005,1980-03-02,false\nLinz,206595,0.1,,true\n",
		"/v_0/table.csv?values=text&limit=1": "name,people,share,since,big\nWien,1.911.191,\"50,5 %\",31.12.1955,ja\n",
		"/v_0/table.ndjson?limit=1&offset=1": `{"name":"Graz","people":291072,"share":null,"since":"2000-01-01","big":false}` +
			"\n",
		"/v_0/rows?format=ndjson&limit=1": `{"name":"Wien","people":1911191,"share":0.505,"since":"1955-12-31","big":true}` +
			"\n",
		"/v_0/table.json?where=people%3C8000": `[{"name":"Bruck and ` +
			`Leitha","people":7912,"share":0.005,"since":"1980-03-02","big":false}]` + "\n",
		"/v_0/table.json?where=people%3C0": "[]\n",
		"/v_0/table.csv?order=-people&limit=2": "name,people,share,since,big\nWien,1911191,0.505,1955-12-31,true\nGraz,291072,,2000" +
			"-01-01,false\n",
		"/v_0/rows?format=csv&order=people&offset=3": "name,people,share,since,big\nWien,1911191,0.505,1955-12-31,true\n",
	} {
		res := get(h, path)
		if res.Code != 200 || res.Body.String() != want {
			t.Errorf("%s: %d\n%s\nwant\n%s", path, res.Code, res.Body, want)
		}
		if again := get(h, path, "If-None-Match", res.Header().Get("ETag")); again.Code != 304 {
			t.Errorf("%s again: %d", path, again.Code)
		}
	}
	res := get(h, "/v_0/table.csv")
	if got := res.Header().Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
		t.Error(got)
	}
	for path, want := range map[string]string{"/v_0/table.xls": "404", "/v_0/table.csv?values=x": "400",
		"/v_0/table.csv?where=size%3D1": "400", "/v_0/table.csv?order=size": "400", "/v_0/table.csv?limit=-1": "400",
		"/w_0/table.csv": "404", "/v_0/table.csv?table=7": "404", "/v_0/rows?format=xls": "404"} {
		if res := get(h, path); fmt.Sprint(res.Code) != want || res.Header().Get("Content-Disposition") != "" {
			t.Errorf("%s: %d, want %s", path, res.Code, want)
		}
	}
}

// The same rows are read from each file as from the pages of the API.
func TestEveryFormatHasTheSameRows(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id,when,at,word,x\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "%d,%02d/%02d/%d,2024-01-02T03:04:%02d+02:00,\"a, %d\",%d.5\n", i, i%12+1, i%28+1, 1960+i%90, i%60, i, -i)
	}
	h := handler(archiveOf(t, "a.csv", b.String()))
	all, err := csv.NewReader(get(h, "/v_0/table.csv").Body).ReadAll()
	if err != nil || len(all) != 3001 || all[13][1] != "1972-01-13" || !strings.HasPrefix(all[13][2], "2024-01-02T03:04:12") {
		t.Fatalf("%d rows, %v: %q", len(all), err, all[13])
	}
	for _, f := range rowfile.Formats()[3:] {
		res := get(h, "/v_0/table."+f.Name)
		i := 1
		_, err := tables.Read(t.Context(),
			tables.Input{Type: f.Type, Size: int64(res.Body.Len()), Body: strings.NewReader(res.Body.String())}, tables.Options{
				Begin: func(int, string, []string, bool) error { return nil },
				Each: func(_ int, cells [][]byte) error {
					if i > 3000 || string(cells[0]) != all[i][0] || string(cells[1]) != all[i][1] || string(cells[3]) != all[i][3] ||
						string(cells[4]) != all[i][4] {
						return fmt.Errorf("row %d: %q, want %q", i, cells, all[min(i, 3000)])
					}
					i++
					return nil
				},
			})
		if err != nil || i != 3001 {
			t.Errorf("%s: %d rows, %v", f.Name, i, err)
		}
	}
}

func TestValuesThatAreNotOfTheirDatatypeAreKept(t *testing.T) {
	t.Parallel()
	body := "id,n\n" + strings.Repeat("1,2\n", 50) + "2,many\n"
	a := archiveOf(t, "a.csv", body)
	a.inside.Tables[0].Columns[1].Datatype = "integer" // as an older profiler may have said
	a.inside.Tables[0].Columns[1].Min, a.inside.Tables[0].Columns[1].Max = "2", "2"
	h := handler(a)
	if got := get(h, "/v_0/table.json?offset=49").Body.String(); got != `[{"id":1,"n":2},`+"\n"+`{"id":2,"n":"many"}]`+"\n" {
		t.Errorf("JSON: %s", got)
	}
	for range 2 {
		res := get(h, "/v_0/table.arrow")
		last := ""
		_, err := tables.Read(t.Context(),
			tables.Input{Type: res.Header().Get("Content-Type"), Size: int64(res.Body.Len()), Body: strings.NewReader(res.Body.String())},
			tables.Options{
				Begin: func(int, string, []string, bool) error { return nil },
				Each:  func(_ int, cells [][]byte) error { last = string(cells[1]); return nil },
			})
		if res.Code != 200 || err != nil || last != "many" {
			t.Errorf("Arrow: %d, %q, %v", res.Code, last, err)
		}
	}
}

// What a spreadsheet takes for a formula is data of the file: it stays what it is.
func TestCellsThatLookLikeFormulasStay(t *testing.T) {
	t.Parallel()
	cells := []string{"=1+1", "+43 1 234", "-x", "@home", "=HYPERLINK(\"http://x/\")", "a\x00b", "\u202egnp"}
	h := handler(archiveOf(t, "a.json",
		`[{"a":"=1+1","b":"x"},{"a":"+43 1 `+
			`234","b":"y"},{"a":"-x","b":"y"},{"a":"@home","b":"y"},{"a":"=HYPERLINK(\"http://x/\")","b":"y"},{"a":"a\u0000b","b":"z"},{"`+
			`a":"\u202egnp","b":"z"}]`))
	got, err := csv.NewReader(get(h, "/v_0/table.csv").Body).ReadAll()
	if err != nil || len(got) != len(cells)+1 {
		t.Fatalf("%q, %v", got, err)
	}
	for i, c := range cells {
		if want := strings.ReplaceAll(c, "\x00", "\uFFFD"); got[i+1][0] != want {
			t.Errorf("%q, want %q", got[i+1][0], want)
		}
	}
}

// leaver is a client that goes away when it has got something.
type leaver struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
}

func (l leaver) Write(p []byte) (int, error) {
	l.leave()
	return l.ResponseRecorder.Write(p)
}

// A client that goes away ends the reading, and what is not whole does not end as if it were.
func TestFilesEndWithTheirClients(t *testing.T) {
	t.Parallel()
	a := archiveOf(t, "a.csv", "id,name\n"+strings.Repeat("1,some longer words\n", 100_000))
	h := handler(a)
	for _, f := range rowfile.Formats() {
		a.read = 0
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		aborted := func() (aborted bool) {
			defer func() { aborted = recover() == http.ErrAbortHandler }()
			h.ServeHTTP(leaver{httptest.NewRecorder(), leave}, httptest.NewRequestWithContext(ctx, "GET", "/v_0/table."+f.Name, nil))
			return false
		}()
		if !aborted && f.Name != "parquet" || a.read == 100_000 && !f.Binary {
			t.Errorf("%s: ended as if it were whole: %v, after %d rows", f.Name, !aborted, a.read)
		}
	}
}
