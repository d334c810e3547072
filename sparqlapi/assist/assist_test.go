package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
)

var errUnknown = errors.New("not in the archive")

// fake is an archive with one file of one version, a table.
type fake struct {
	table string
	p     *csvprofile.Profile
}

const versionID = "0123456789abcdef01234567_0"

func newFake(t testing.TB, table string) *fake {
	t.Helper()
	p, err := csvprofile.Read(t.Context(), strings.NewReader(table), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &fake{table, p}
}

func (f *fake) Version(_ context.Context, id string) (catalog.Version, error) {
	if id != versionID {
		return catalog.Version{}, errUnknown
	}
	return catalog.Version{ID: id, URL: "http://a.example/t.csv", Type: "text/csv", Charset: "utf-8", Size: int64(len(f.table))}, nil
}
func (f *fake) Latest(ctx context.Context, _ string) (catalog.Version, error) {
	return f.Version(ctx, versionID)
}
func (f *fake) Versions(ctx context.Context, _ string) ([]catalog.Version, error) {
	v, err := f.Version(ctx, versionID)
	return []catalog.Version{v}, err
}
func (f *fake) Resource(_ context.Context, url string) (catalog.Resource, error) {
	if url != "http://a.example/t.csv" {
		return catalog.Resource{}, errUnknown
	}
	return catalog.Resource{ID: versionID[:24], URL: url, Versions: 1}, nil
}
func (f *fake) Search(context.Context, catalog.Search) (catalog.Found, error) {
	panic("a bug of the search")
}
func (f *fake) Tables(context.Context, catalog.Version) ([]archive.Table, *inspect.Inside, error) {
	return []archive.Table{{Type: "text/csv", Charset: "utf-8", Profile: f.p}}, nil, nil
}
func (f *fake) EachRowFrom(ctx context.Context, _ catalog.Version, t archive.Table, marks inspect.Marks, each func([][]byte) error) error {
	in := inspect.Input{Size: int64(len(f.table)), Body: strings.NewReader(f.table)}
	return inspect.EachRowFrom(ctx, in, "", t.Type, t.Charset, 0, t.Profile, inspect.Limits{}, marks, each)
}
func (f *fake) Compare(context.Context, catalog.Version, catalog.Version, diff.Options) (*diff.Report, error) {
	return nil, errors.New("a secret path")
}
func (f *fake) Excerpt(context.Context, catalog.Version, int64) ([]byte, error) {
	return []byte(f.table), nil
}

// server serves an archive of a table. query answers queries; nil answers nothing.
func server(t testing.TB, table string, query func(context.Context) (Result, error)) (*Server, http.Handler) {
	t.Helper()
	f := newFake(t, table)
	if query == nil {
		query = func(context.Context) (Result, error) { return Result{}, nil }
	}
	s := New(Options{Archive: f, Rows: data.NewRows(f),
		Query:     func(ctx context.Context, _ string, _, _ int) (Result, error) { return query(ctx) },
		Describe:  func(context.Context, string, int) (out, in []term.Quad, err error) { return nil, nil, nil },
		MediaType: func(string) string { return "" }, Mint: ns.Mint{Base: "http://archive.example/"},
		Errors: problem.Table{{Err: errUnknown, Status: 404, Title: "Not in the archive", Public: true}}, Release: "1"})
	return s, s.Handler()
}

// callTool sends one call, as a client, and returns its text and structured answer.
func callTool(ctx context.Context, h http.Handler, client, tool, arguments string) (text string, structured map[string]any) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments)
	r := httptest.NewRequestWithContext(access.WithClient(ctx, client), "POST", "/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var answer struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent map[string]any
		}
		Error *struct{ Message string }
	}
	raw, err := io.ReadAll(w.Body)
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	switch {
	case err != nil:
		return fmt.Sprint(w.Code, " ", err, " ", string(raw)), nil
	case answer.Error != nil:
		return answer.Error.Message, nil
	case len(answer.Result.Content) > 0:
		text = answer.Result.Content[0].Text
	}
	return text, answer.Result.StructuredContent
}

func TestACallEndsWithTheRequestOfItsClient(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	_, h := server(t, "a,b\n1,2\n", func(ctx context.Context) (Result, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return Result{}, ctx.Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	answered := make(chan struct{})
	go func() {
		callTool(ctx, h, "x", "sparql", `{"query":"ASK {}"}`)
		close(answered)
	}()
	<-begun
	leave()
	<-ended
	<-answered
}

func TestCallsOfOneClientLeavePlacesToOthers(t *testing.T) {
	t.Parallel()
	in, free := make(chan struct{}, 1000), make(chan struct{})
	_, h := server(t, "a,b\n1,2\n", func(context.Context) (Result, error) {
		in <- struct{}{}
		<-free
		return Result{Warnings: []string{"answered"}}, nil
	})
	texts := make(chan string, 1000)
	call := func(client string) {
		text, _ := callTool(t.Context(), h, client, "sparql", `{"query":"ASK {}"}`)
		texts <- text
	}
	for range 1000 {
		go call("greedy")
	}
	for range 990 { // 2 run, and 8 wait
		if text := <-texts; !strings.Contains(text, "as many calls running and waiting as one client may have") {
			t.Fatalf("refused with %q", text)
		}
	}
	go call("modest")
	for range 3 {
		<-in
	}
	close(free)
	for range 11 {
		if text := <-texts; !strings.Contains(text, "answered") {
			t.Error(text)
		}
	}
}

func TestWhatFailsInsideIsNotTold(t *testing.T) {
	t.Parallel()
	_, h := server(t, "a,b\n1,2\n", nil)
	for tool, arguments := range map[string]string{"search": `{}`, "differences": `{"from":"` + versionID + `","to":"` + versionID + `"}`} {
		text, _ := callTool(t.Context(), h, "x", tool, arguments)
		if text == "" || strings.Contains(text, "bug") || strings.Contains(text, "secret") {
			t.Errorf("%s: %q", tool, text)
		}
	}
	if text, _ := callTool(t.Context(), h, "x", "rows", `{"version":"http://a.example/t.csv"}`); !strings.Contains(text, `"total":1`) {
		t.Errorf("after a panic: %q", text)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 5000)
	var table strings.Builder
	table.WriteString("id,text\n")
	for i := range 300 {
		fmt.Fprintf(&table, "%d,%s\n", i, long)
	}
	_, h := server(t, table.String(), func(context.Context) (Result, error) {
		return Result{Turtle: strings.Repeat("x", 2*maxAnswer)}, nil
	})
	at, seen := 0, 0
	for {
		text, page := callTool(t.Context(), h, "x", "rows", fmt.Sprintf(`{"version":%q,"limit":200,"offset":%d}`, versionID, at))
		list, _ := page["rows"].([]any)
		if len(text) > 2*maxText || len(list) == 0 {
			t.Fatalf("%d bytes, %d rows: %.300s", len(text), len(list), text)
		}
		for _, row := range list {
			cells := row.([]any)
			if cells[0] != float64(seen) || !strings.HasSuffix(cells[1].(string), "… (cut)") {
				t.Fatalf("row %d is %.60v", seen, row)
			}
			seen++
		}
		next, more := page["next"].(float64)
		if !more {
			break
		}
		at = int(next)
	}
	if seen != 300 {
		t.Errorf("%d rows in all pages", seen)
	}
	if text, _ := callTool(t.Context(), h, "x", "sparql", `{"query":"ASK {}"}`); !strings.Contains(text, "the answer is larger than") {
		t.Errorf("a large answer: %.200q", text)
	}
}

func TestArgumentsThatDoNotFitAreExplained(t *testing.T) {
	t.Parallel()
	_, h := server(t, "name,people\nWien,2\n", nil)
	for _, c := range []struct{ tool, arguments, want string }{
		{"rows", `{"version":"` + versionID + `","columns":["size"]}`, `there is no column "size"; there are "name", "people"`},
		{"rows", `{"version":"` + versionID + `","offset":-1}`, "offset"},
		{"rows", `{"version":"` + versionID + `","size":5}`, "size"},
		{"rows", `{}`, "version"},
		{"versions", `{"url":"http://a.example/t.csv","before":"yesterday"}`, "2026-05-01T00:00:00Z"},
		{"differences", `{"url":"http://a.example/t.csv"}`, "no version of http://a.example/t.csv before"},
		{"search", `{"type":"nonsense"}`, "neither a media type"},
		{"search", `{"sort":"best"}`, "changed, versions, size or title"},
		{"sparql", `{"query":" "}`, "empty"},
		{"nonsense", `{}`, "nonsense"},
	} {
		if text, _ := callTool(t.Context(), h, "x", c.tool, c.arguments); !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %q, want %q", c.tool, c.arguments, text, c.want)
		}
	}
}

func TestNoRequestStaysOpenForNews(t *testing.T) {
	t.Parallel()
	_, h := server(t, "a,b\n1,2\n", nil)
	for _, version := range []string{"", "2025-06-18", "2026-07-28"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourcesListChanged":true},
			"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": version, "Mcp-Method": "subscriptions/listen"} {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r) // returns
		if body := w.Body.String(); !strings.Contains(body, "error") && w.Code < 400 {
			t.Errorf("version %q: %d %s", version, w.Code, body)
		}
		t.Log(w.Code, w.Body)
	}
}

func FuzzMessages(f *testing.F) {
	_, h := server(f, "a,b\n1,2\n", nil)
	for _, seed := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"rows","arguments":{"version":"` + versionID + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"http://archive.example/api/v1/get/file/id/` + versionID + `"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/mcp", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}
