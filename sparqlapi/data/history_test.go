package data

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/diff"
	"odarchive/sparqlapi/problem"
)

// past is an archive with the versions of one file, "v_0", "v_1" and so on.
type past struct {
	files    []*oneFile
	versions []catalog.Version
	changes  map[string]*diff.Summary
	read     []int // versions whose rows were read
	wait     func(ctx context.Context, n int)
}

// pastOf returns an archive of versions of a file. An empty body is an error page, "-" a version that was withdrawn.
func pastOf(t testing.TB, name string, bodies ...string) *past {
	t.Helper()
	p := &past{changes: map[string]*diff.Summary{}}
	for i, body := range bodies {
		v := catalog.Version{ID: fmt.Sprintf("v_%d", i), N: i, URL: "http://a.example/" + name,
			At: time.Date(2026, 1, i+1, 0, 0, 0, 0, time.UTC)}
		switch body {
		case "":
			v.ErrorPage = "it says 404"
		case "-":
			v.Withdrawn = &catalog.Withdrawal{}
		}
		if i > 0 {
			v.Previous = p.versions[i-1].ID
		}
		v.Digests.SHA256 = sha256.Sum256([]byte(body))
		f := archiveOf(t, name, body)
		v.Type = f.in.Found.Type
		p.files, p.versions = append(p.files, f), append(p.versions, v)
	}
	return p
}

func (p *past) Versions(context.Context, string) ([]catalog.Version, error) { return p.versions, nil }

func (p *past) Change(_ context.Context, id string) (*diff.Summary, error) { return p.changes[id], nil }

func (p *past) Version(_ context.Context, id string) (catalog.Version, error) {
	for _, v := range p.versions {
		if v.ID == id {
			return v, nil
		}
	}
	return catalog.Version{}, errUnknown
}

func (p *past) Tables(ctx context.Context, v catalog.Version) ([]archive.Table, *inspect.Inside, error) {
	return p.files[v.N].Tables(ctx, v)
}

func (p *past) EachRowFrom(ctx context.Context, v catalog.Version, t archive.Table, marks inspect.Marks, f func([][]byte) error) error {
	p.read = append(p.read, v.N)
	if p.wait != nil {
		p.wait(ctx, v.N)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return p.files[v.N].EachRowFrom(ctx, v, t, marks, f)
}

// told writes a history as a test expects it.
func told(h *History) string {
	var parts []string
	for _, p := range h.Periods {
		s := fmt.Sprintf("%d-%d %s", p.First.N, p.Last.N, p.State)
		if p.Change != "" {
			s += " " + p.Change
		}
		if p.State == Present {
			s += fmt.Sprintf(" @%d", p.Row)
		}
		for _, c := range p.Changes {
			word := func(s *string) string {
				if s == nil {
					return "none"
				}
				return *s
			}
			s += fmt.Sprintf(" %s:%s>%s", c.Column, word(c.From), word(c.To))
		}
		if p.Rows > 0 {
			s += fmt.Sprintf(" of %d", p.Rows)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, "; ")
}

func TestTheHistoryOfARowNamesEachChange(t *testing.T) {
	t.Parallel()
	const (
		first  = "id,name,people\n1,Favoriten,200\n2,Simmering,100\n3,Meidling,90\n"
		second = "id,name,people\n3,Meidling,90\n1,Favoriten,210\n2,Simmering,100\n"
		gone   = "id,name,people\n3,Meidling,90\n2,Simmering,100\n4,Hietzing,50\n"
		wider  = "id,people,name,area\n4,50,Hietzing,3\n1,210,Favoriten,31.8\n2,100,Simmering,23\n"
		other  = "colour,size\nred,1\nblue,2\ngreen,3\n"
	)
	for _, test := range []struct {
		what, where, column string
		bodies              []string
		want                string
	}{
		{"cells and columns", "id=1", "", []string{first, second, wider},
			"2-2 present changed @1 area:none>31.8; 1-1 present changed @1 people:200>210; 0-0 present @0"},
		{"one cell", "id=1", "name", []string{first, second, wider}, "0-2 present @1"},
		{"gone and back", "id=1", "", []string{second, gone, gone, second}, "3-3 present added @1; 1-2 absent removed; 0-0 present @1"},
		{"never there", "id=9", "", []string{first, gone}, "0-1 absent"},
		{"what is no data", "id=2", "", []string{first, "", "-", first}, "3-3 present @1; 2-2 withdrawn; 1-1 not data; 0-0 present @1"},
		{"another table", "id=2", "", []string{other, first}, "1-1 present @1; 0-0 no column"},
		{"two columns", "name=Favoriten and id=1", "people", []string{first, second},
			"1-1 present changed @1 people:200>210; 0-0 present @0"},
		{"dates written otherwise", "day=03.01.2026", "",
			[]string{"day,n\n2026-01-02,1\n2026-01-03,2\n2026-01-04,3\n", "day,n\n02.01.2026,1\n03.01.2026,5\n14.01.2026,3\n"},
			"1-1 present changed @1 day:2026-01-03>03.01.2026 n:2>5; 0-0 present @1"},
		{"several rows", "kind=a", "", []string{"kind,n\na,1\nb,2\na,3\n", "kind,n\na,1\nb,2\nb,7\n"},
			"1-1 present changed @0; 0-0 present @0 of 2"},
	} {
		p := pastOf(t, "t.csv", test.bodies...)
		h, err := NewHistories(p).Read(t.Context(), HistoryRequest{URL: "http://a.example/t.csv", Where: test.where, Column: test.column})
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		if got := told(h); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.what, got, test.want)
		}
		if h.Versions != len(test.bodies) || h.Total != len(test.bodies) || h.Next != 0 {
			t.Errorf("%s: %d of %d versions read, next %d", test.what, h.Versions, h.Total, h.Next)
		}
	}
}

func TestTheKeyOfARowIsFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		what, body string
		row        int64
		key        []string
		want       string
	}{
		{"an id", "people,name,id\n7,a,11\n8,b,12\n9,c,13\n", 1, nil, "id=12"},
		{"two names", "district,year,people\nA,2020,1\nA,2021,2\nB,2020,3\nB,2021,4\n", 2, nil, "district=B and year=2020"},
		{"a name before a description",
			"about,name\nthe garage that is below the opera and has two floors,Oper\nthe garage that is below the station and has one " +
				"floor,Bahnhof\n", 1, nil, "name=Bahnhof"},
		{"as asked", "district,year,people\nA,2020,1\nA,2021,2\nB,2020,3\nB,2021,4\n", 2, []string{"people"}, "people=3"},
		{"hostile words", "name,x\n\"it's and x=\"\"1\"\"\",1\nb,1\nc,1\n", 0, nil, `"name" = 'it''s and x="1"'`},
		{"the same twice", "a,b\nx,y\nx,y\nz,y\n", 0, nil, "No key"},
	} {
		p := pastOf(t, "t.csv", test.body)
		h, err := NewHistories(p).Read(t.Context(), HistoryRequest{Version: "v_0", Row: test.row, Key: test.key})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = h.Where
			if again, err := NewHistories(p).Read(t.Context(), HistoryRequest{Version: "v_0", Where: h.Where}); err != nil ||
				told(again) != told(h) || again.Periods[0].Row != test.row {
				t.Errorf("%s: by its condition %v, %v", test.what, again, err)
			}
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", test.what, got, test.want)
		}
	}
}

func TestAHistoryIsReadInPages(t *testing.T) {
	t.Parallel()
	var bodies []string
	for i := range 9 {
		bodies = append(bodies, fmt.Sprintf("id,n\n1,%d\n2,0\n3,0\n", i/2))
	}
	p := pastOf(t, "t.csv", bodies...)
	h := NewHistories(p)
	all, err := h.Read(t.Context(), HistoryRequest{URL: "u", Where: "id=1"})
	if err != nil {
		t.Fatal(err)
	}
	changes, before := 0, 0
	for range 20 {
		part, err := h.Read(t.Context(), HistoryRequest{URL: "u", Where: "id=1", Limit: 2, Before: before})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range part.Periods {
			if p.Change != "" {
				changes++
			}
		}
		if before = part.Next; before == 0 {
			break
		}
	}
	if before != 0 || changes != len(all.Periods)-1 || changes != 4 {
		t.Errorf("%d changes page by page, %d periods at once, next %d", changes, len(all.Periods), before)
	}
}

// A version that says the same as its successor is not read, and time that is over ends the page.
func TestAHistoryReadsNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	p := pastOf(t, "t.csv", "id,n\n1,1\n2,1\n3,1\n", "id,n\n2,1\n1,1\n3,1\n", "id,n\n1,2\n2,1\n3,1\n", "id,n\n1,2\n2,1\n3,1\n")
	p.changes["v_1"] = &diff.Summary{Kind: diff.Tables, Same: true}
	h := NewHistories(p)
	found, err := h.Read(t.Context(), HistoryRequest{URL: "u", Where: "id=1"})
	if err != nil || told(found) != "2-3 present changed @0 n:1>2; 0-1 present @1" || fmt.Sprint(p.read) != "[3 1]" {
		t.Errorf("%v, %v; read %v", found, err, p.read)
	}
	p = pastOf(t, "t.csv", "id,n\n1,1\n2,1\n", "id,n\n1,2\n2,1\n", "id,n\n1,3\n2,1\n")
	var timeIsOver context.CancelFunc
	p.wait = func(_ context.Context, n int) {
		if n == 0 {
			timeIsOver()
		}
	}
	h = NewHistories(p)
	h.limit = func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, timeIsOver = context.WithCancel(ctx)
		return ctx, timeIsOver
	}
	found, err = h.Read(t.Context(), HistoryRequest{URL: "u", Where: "id=1"})
	if err != nil || found.Next != 2 || found.Versions != 2 {
		t.Errorf("with a version that takes for ever: %+v, %v", found, err)
	}
	p.wait = func(context.Context, int) { timeIsOver() }
	if _, err = h.Read(t.Context(), HistoryRequest{URL: "u", Where: "id=1"}); err == nil || !errors.Is(err, context.Canceled) {
		t.Errorf("with versions that take for ever: %v", err)
	}
}

func TestHistoriesOverHTTP(t *testing.T) {
	t.Parallel()
	p := pastOf(t, "t.csv", "id,n\n1,1\n2,1\n", "id,n\n1,2\n2,1\n", "id,n\n1,3\n2,1\n")
	h := NewHistories(p)
	for _, test := range []struct {
		query  string
		status int
		want   string
	}{
		{"url=u&where=" + url.QueryEscape("id=1"), 200, `"where":"id=1"`},
		{"version=v_2&row=0", 200, `"where":"id=1"`},
		{"url=u&where=id%3D1&limit=2", 200, `"next":2`},
		{"url=u&where=id%3D1&column=n", 200, `"column":"n"`},
		{"url=u", 400, ""}, {"version=v_2", 400, ""}, {"url=u&where=id%3E1", 400, ""}, {"url=u&where=no%3D1", 400, ""},
		{"url=u&where=id%3D1&column=no", 400, ""},
		{"version=v_2&row=9", 404, ""}, {"version=v_2&row=0&key=no", 400, ""}, {"url=u&where=id%3D1&format=pdf", 400, ""},
		{"url=u&where=id%3D1&table=no", 404, ""},
		{"url=u&where=id%3D1&limit=1", 400, ""},
	} {
		w := httptest.NewRecorder()
		err := h.ServeHistory(w, httptest.NewRequest("GET", "/history?"+test.query, nil))
		status := w.Code
		if err != nil {
			status = statusOf(err)
		}
		if status != test.status || !strings.Contains(w.Body.String(), test.want) || test.status == http.StatusOK &&
			!json.Valid(w.Body.Bytes()) {
			t.Errorf("%s: %d %s %v", test.query, status, w.Body, err)
		}
		if strings.Contains(test.want, "next") != (w.Header().Get("Link") != "") {
			t.Errorf("%s: Link: %s", test.query, w.Header().Get("Link"))
		}
	}
}

func statusOf(err error) int {
	if e, ok := errors.AsType[*problem.Error](err); ok {
		return e.Status
	}
	return http.StatusInternalServerError
}
