package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

var errUnknown = errors.New("not in the archive")

// oneFile is an archive with one version, "v_0".
type oneFile struct {
	in     inspect.Input
	inside *inspect.Inside
	read   int                   // rows that were passed on
	wait   func(context.Context) // is called before the rows are read
}

func archiveOf(t testing.TB, name, body string) *oneFile {
	t.Helper()
	a := &oneFile{in: inspect.Input{Name: name, Size: int64(len(body)), Body: strings.NewReader(body)}}
	var err error
	if a.in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: a.in.Size, Body: a.in.Body}); err != nil {
		t.Fatal(err)
	}
	if a.inside, err = inspect.File(t.Context(), a.in, inspect.Limits{}); err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *oneFile) Version(_ context.Context, id string) (catalog.Version, error) {
	if id != "v_0" {
		return catalog.Version{}, errUnknown
	}
	return catalog.Version{ID: id, Type: a.in.Found.Type}, nil
}

func (a *oneFile) Tables(context.Context, catalog.Version) (list []archive.Table, in *inspect.Inside, err error) {
	if a.inside == nil {
		return nil, nil, nil
	}
	for i, p := range a.inside.Tables {
		list = append(list, archive.Table{Type: a.in.Found.Type, Charset: a.in.Found.Charset, Index: i, Profile: p})
	}
	for _, m := range a.inside.Members {
		for i, p := range m.Tables {
			list = append(list, archive.Table{Member: m.Path, Type: m.Type, Charset: m.Charset, Index: i, Profile: p})
		}
	}
	return list, a.inside, nil
}

func (a *oneFile) EachRowFrom(ctx context.Context, _ catalog.Version, t archive.Table, marks inspect.Marks, f func([][]byte) error) error {
	if a.wait != nil {
		a.wait(ctx)
	}
	return inspect.EachRowFrom(ctx, a.in, t.Member, t.Type, t.Charset, t.Index, t.Profile, inspect.Limits{}, marks,
		func(cells [][]byte) error {
			a.read++
			return f(cells)
		})
}

const towns = "name;people;share;since;big\nWien;1.911.191;50,5 %;31.12.1955;ja\nGraz;291.072;;01.01.2000;nein\nBruck and " +
	"Leitha;7.912;0,5 %;02.03.1980;nein\nLinz;206.595;10 %;n/a;ja\n"

// short returns the cells of an answer, rows joined by "|".
func short(a *RowsAnswer) string {
	var lines []string
	for _, r := range a.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, fmt.Sprint(c))
		}
		lines = append(lines, strings.Join(cells, ","))
	}
	return strings.Join(lines, "|")
}

func names(a *RowsAnswer) string {
	var list []string
	for _, r := range a.Rows {
		list = append(list, fmt.Sprint(r[0]))
	}
	return strings.Join(list, ",")
}

func TestRowsAreSelectedAndOrderedByTheirValues(t *testing.T) {
	t.Parallel()
	api := NewRows(archiveOf(t, "towns.csv", towns))
	for _, c := range []struct {
		where string
		order []string
		want  string
		total int64
	}{
		{"", nil, "Wien,Graz,Bruck and Leitha,Linz", 4},
		{"people > 200000", nil, "Wien,Graz,Linz", 3},
		{"people>=206595 and people<=291.072", nil, "Graz,Linz", 2},
		{"name = Bruck and Leitha", nil, "Bruck and Leitha", 1},
		{"name = Bruck and Leitha and people < 10000", nil, "Bruck and Leitha", 1},
		{`"name" = 'Graz' AND "people" != "1"`, nil, "Graz", 1},
		{"name ~ IN", nil, "Linz", 1},
		{"share = ", nil, "Graz", 1},
		{"since < 1981-01-01", nil, "Wien,Bruck and Leitha", 2},
		{"since > 31.12.1955", nil, "Graz,Bruck and Leitha", 2},
		{"big = ja", nil, "Wien,Linz", 2},
		{"big = true and people < 1000000", nil, "Linz", 1},
		{"", []string{"people"}, "Bruck and Leitha,Linz,Graz,Wien", 4},
		{"", []string{"-people"}, "Wien,Graz,Linz,Bruck and Leitha", 4},
		{"", []string{"big desc, name"}, "Linz,Wien,Bruck and Leitha,Graz", 4},
		{"", []string{"big", "-name"}, "Graz,Bruck and Leitha,Wien,Linz", 4},
		{"", []string{"share"}, "Bruck and Leitha,Linz,Wien,Graz", 4},
		{"people < 1000000", []string{"since desc"}, "Graz,Bruck and Leitha,Linz", 3},
		{"people < 0", nil, "", 0},
	} {
		got, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Where: c.where, Order: c.order})
		if err != nil {
			t.Errorf("%q %q: %v", c.where, c.order, err)
			continue
		}
		if names(got) != c.want || got.Total != c.total {
			t.Errorf("%q %q: %s of %d, want %s of %d", c.where, c.order, names(got), got.Total, c.want, c.total)
		}
	}
}

func TestPagesTogetherAreTheWhole(t *testing.T) {
	t.Parallel()
	api := NewRows(archiveOf(t, "towns.csv", towns))
	for _, r := range []RowsRequest{{}, {Where: "people < 1000000"}, {Order: []string{"name"}},
		{Where: "big=nein", Order: []string{"-people"}}} {
		r.Version = "v_0"
		whole, err := api.Read(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, bytes := range []int{0, 1} { // in bytes, a page has one row at least
			var list []string
			for r.Offset, r.Limit, r.Bytes = 0, 2, bytes; ; {
				page, err := api.Read(t.Context(), r)
				if err != nil || page.Total != whole.Total || page.Offset != r.Offset || len(list) > 10 {
					t.Fatalf("%+v: %+v, %v", r, page, err)
				}
				list = append(list, short(page))
				if r.Offset = page.Next; page.Next == 0 {
					break
				}
			}
			if got := strings.Join(list, "|"); got != short(whole) {
				t.Errorf("%+v: pages %s, whole %s", r, got, short(whole))
			}
		}
	}
	beyond, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Offset: 1 << 39})
	if err != nil || len(beyond.Rows) != 0 || beyond.Total != 4 || beyond.Next != 0 {
		t.Errorf("beyond the end: %+v, %v", beyond, err)
	}
}

func TestTypedCellsAreJSONValues(t *testing.T) {
	t.Parallel()
	api := NewRows(archiveOf(t, "towns.csv", towns))
	got, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Typed: true})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(got.Rows)
	if want := `[["Wien",1911191,0.505,"1955-12-31",true],["Graz",291072,null,"2000-01-01",false],["Bruck and ` +
		`Leitha",7912,0.005,"1980-03-02",false],["Linz",206595,0.1,null,true]]`; err != nil || string(body) != want {
		t.Errorf("%s, %v; want %s", body, err, want)
	}
}

func TestAPageOfALargeTableReadsNoMoreThanItsBeginning(t *testing.T) {
	t.Parallel()
	a := archiveOf(t, "a.csv", "id,name\n"+strings.Repeat("1,a\n", 200_000))
	if got, err := NewRows(a).Read(t.Context(), RowsRequest{Version: "v_0", Offset: 50, Limit: 10}); err != nil || len(got.Rows) != 10 ||
		got.Total != 200_000 || got.Next != 60 || a.read != 60 {
		t.Errorf("%d rows were read, %v", a.read, err)
	}
}

func TestTablesAreChosenByNameOrNumber(t *testing.T) {
	t.Parallel()
	api := NewRows(archiveOf(t, "lists.json", `{"a":[{"x":1},{"x":2}],"b":{"c":[{"y":"q"},{"y":"r"},{"y":"s"}]}}`))
	for table, want := range map[string]int64{"": 2, "a": 2, "b.c": 3, "1": 3, "0": 2} {
		got, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Table: table})
		if err != nil || got.Total != want || !slices.Equal(got.Tables, []string{"a", "b.c"}) {
			t.Errorf("%q: %+v, %v", table, got, err)
		}
	}
}

func TestFaultsOfARequestAreToldSoThatTheyCanBeMended(t *testing.T) {
	t.Parallel()
	h := handler(archiveOf(t, "towns.csv", towns))
	for query, want := range map[string]string{
		"where=size>1": `400 there is no column "size"; there are "name", "people", "share", "since", "big"`,
		"where=people": "400 there is no column", "where=people>many": `400 "many" is not of the datatype`,
		"where=" + url.QueryEscape(`name="a" or name="b"`): "400 after the value", "order=size": "400 there is no column",
		"table=x": `404 version v_0 has no table "x"; it has 0`,
		"limit=0": "400 limit", "limit=10001": "400 limit", "offset=-1": "400 offset", "order=name&offset=99990": "400 with an order",
		"where=" + strings.Repeat("x", 5000):                                   "400 where is longer",
		"where=" + url.QueryEscape(strings.Repeat("name=a and ", 60)+"name=a"): "400 where has more",
	} {
		res := get(h, "/v_0/rows?"+query)
		var p struct{ Detail string }
		json.Unmarshal(res.Body.Bytes(), &p)
		if got := fmt.Sprint(res.Code, " ", p.Detail); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	if res := get(handler(archiveOf(t, "a.bin", "\x00\x01\x02")), "/v_0/rows"); res.Code != 404 ||
		!strings.Contains(res.Body.String(), "No table") {
		t.Errorf("a file without tables: %d %s", res.Code, res.Body)
	}
}

func TestTheHeaderNamesTheNextPage(t *testing.T) {
	t.Parallel()
	h := handler(archiveOf(t, "towns.csv", towns))
	res := get(h, "/v_0/rows?limit=3&where=people+%3E+0")
	if got := res.Header().Get("Link"); got != `</v_0/rows?limit=3&offset=3&where=people+%3E+0>; rel="next"` {
		t.Errorf("Link: %s", got)
	}
	if again := get(h, "/v_0/rows?limit=3&where=people+%3E+0", "If-None-Match", res.Header().Get("ETag")); again.Code != 304 {
		t.Errorf("again: %d", again.Code)
	}
}

func TestOneClientLeavesPlacesToOthers(t *testing.T) {
	t.Parallel()
	a := archiveOf(t, "towns.csv", towns)
	in, free := make(chan struct{}, 100), make(chan struct{})
	a.wait = func(context.Context) { in <- struct{}{}; <-free }
	api := NewRows(a)
	done := make(chan error, 100)
	read := func(client string) {
		_, err := api.Read(access.WithClient(t.Context(), client), RowsRequest{Version: "v_0"})
		done <- err
	}
	for range 30 { // more than may run and wait
		go read("greedy")
	}
	refusals := 0
	for refusals < 20 { // 2 run and 8 wait
		err := <-done
		p, ok := errors.AsType[*problem.Error](err)
		if !ok || p.Status != http.StatusTooManyRequests || p.RetryAfter < time.Second {
			t.Fatalf("refused: %v", err)
		}
		refusals++
	}
	go read("modest")
	for range 3 { // two of the greedy and the modest one get in
		<-in
	}
	close(free)
	for range 11 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestSortingIsBounded(t *testing.T) {
	t.Parallel()
	wide := strings.Repeat("x", 100_000)
	s := sorter{columns: []column{{name: "a"}, {name: "b"}}, order: []by{{0, false}}, keep: 5}
	for i := range 2000 {
		if err := s.offer(int64(i), [][]byte{[]byte(fmt.Sprint(1000 - i%1000)), []byte(wide)}); err != nil {
			t.Fatal(err)
		}
	}
	if s.trim(); len(s.rows) != 5 || s.rows[0].number != 999 {
		t.Errorf("%d rows, first %d", len(s.rows), s.rows[0].number)
	}
	s = sorter{columns: s.columns, order: s.order, keep: 100_000}
	var err error
	for i := 0; err == nil && i < 2000; i++ {
		err = s.offer(int64(i), [][]byte{[]byte(wide)})
	}
	if !errors.Is(err, errSorting) {
		t.Errorf("200 MB were sorted: %v", err)
	}
}

func FuzzWhere(f *testing.F) {
	p, err := csvprofile.Read(f.Context(), strings.NewReader(towns), csvprofile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	var columns []column
	for _, c := range p.Columns {
		columns = append(columns, newColumn(c))
	}
	for _, seed := range []string{"people > 3 and name = Bruck and Leitha", `"name"='a''b' and since<2000-01-01`, "big~x", " and ", `"`} {
		f.Add(seed, "1.5 %")
	}
	f.Fuzz(func(t *testing.T, where, cell string) {
		clauses, err := parseWhere(where, columns)
		if err != nil {
			return
		}
		for i := range clauses {
			c := clauses[i]
			yes := c.fits(&columns[c.at], cell)
			for op, negated := range map[string]string{"=": "!=", "==": "<>"} {
				if c.op == op {
					if c.op = negated; c.fits(&columns[c.at], cell) == yes {
						t.Errorf("%q: %q is both equal and not", where, cell)
					}
				}
			}
		}
		for i := range columns {
			if _, err := json.Marshal(columns[i].typed(cell)); err != nil {
				t.Errorf("%s of %q: %v", columns[i].datatype, cell, err)
			}
		}
	})
}

func handler(a RowsArchive) http.Handler {
	r := chi.NewRouter()
	r.Use(problem.Use(problem.Options{Table: problem.Table{{Err: errUnknown, Status: 404, Title: "Not in the archive", Public: true}}}))
	api := NewRows(a)
	r.Get("/{id}/rows", problem.Handler(api.Rows))
	r.Get("/{id}/table.{ext}", problem.Handler(api.Table))
	return r
}

func get(h http.Handler, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, bytes.NewReader(nil))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
