package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// assistant is a session of a client of the Model Context Protocol.
type assistant struct{ *mcp.ClientSession }

func connect(t *testing.T, transport mcp.Transport) assistant {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return assistant{session}
}

// call calls a tool and reads its answer into out. It returns the text of an error, which is for the assistant.
func (a assistant) call(t *testing.T, tool string, arguments map[string]any, out any) string {
	t.Helper()
	res, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if res.IsError {
		return res.Content[0].(*mcp.TextContent).Text
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err == nil && out != nil {
		err = json.Unmarshal(raw, out)
	}
	if err != nil {
		t.Fatalf("%s: %s: %v", tool, raw, err)
	}
	return ""
}

func (s served) assistantsFindReadAndCompareFiles(t *testing.T) {
	playSession(t, connect(t, &mcp.StreamableClientTransport{Endpoint: s.base + "/mcp"}))
}

// playSession finds a table of the sample web, reads its rows, and compares its versions.
func playSession(t *testing.T, a assistant) {
	t.Helper()
	if about := a.InitializeResult(); about == nil || !strings.Contains(about.Instructions, "dct:hasVersion") {
		t.Errorf("the server says of itself %+v", about)
	}
	tools, err := a.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		if tool.OutputSchema == nil || tool.Description == "" || tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: no schema, description or hint", tool.Name)
		}
	}
	if slices.Sort(names); strings.Join(names, " ") != "describe differences rows search sparql versions" {
		t.Errorf("tools %q", names)
	}

	var found struct {
		Total int
		Hits  []struct {
			URL, Latest string
			Versions    int
		}
	}
	if text := a.call(t, "search", map[string]any{"type": "csv", "sort": "versions"}, &found); text != "" || found.Total == 0 ||
		found.Hits[0].Versions < 2 {
		t.Fatalf("search: %s %+v", text, found)
	}
	file := found.Hits[0]
	var kept struct {
		Versions []struct {
			IRI string
			N   int
		}
	}
	if text := a.call(t, "versions", map[string]any{"url": file.URL}, &kept); text != "" || len(kept.Versions) < 2 ||
		kept.Versions[0].IRI != file.Latest {
		t.Fatalf("versions: %s %+v", text, kept)
	}
	var table struct {
		Columns []struct{ Name, Datatype string }
		Total   int
		Rows    [][]any
	}
	if text := a.call(t, "rows", map[string]any{"version": file.Latest, "limit": 3}, &table); text != "" || len(table.Rows) != 3 ||
		len(table.Rows[0]) != len(table.Columns) {
		t.Fatalf("rows: %s %+v", text, table)
	}
	var changed struct {
		Summary string
		Counts  struct{ Kind string }
	}
	if text := a.call(t, "differences", map[string]any{"url": file.URL}, &changed); text != "" || changed.Summary == "" ||
		changed.Counts.Kind != "table" {
		t.Fatalf("differences: %s %+v", text, changed)
	}
	var about struct {
		Turtle string
		Tables []struct{ Rows int }
	}
	if text := a.call(t, "describe", map[string]any{"iri": file.URL}, &about); text != "" ||
		!strings.Contains(about.Turtle, "dct:hasVersion") || len(about.Tables) == 0 {
		t.Fatalf("describe: %s %+v", text, about)
	}
	var answer struct{ Rows [][]string }
	query := fmt.Sprintf("PREFIX dct: <http://purl.org/dc/terms/> SELECT (COUNT(*) AS ?n) { <%s> dct:hasVersion ?v }", file.URL)
	if text := a.call(t, "sparql", map[string]any{"query": query}, &answer); text != "" || len(answer.Rows) != 1 ||
		answer.Rows[0][0] != fmt.Sprint(file.Versions) {
		t.Fatalf("sparql: %s %+v", text, answer)
	}
	read, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: file.Latest})
	if err != nil || len(read.Contents) == 0 || !strings.Contains(read.Contents[0].Text, "dct:isVersionOf") {
		t.Fatalf("resource: %+v, %v", read, err)
	}

	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"rows", map[string]any{"version": file.Latest, "where": "nonsense > 3"}, `there is no column "nonsense"; there are`},
		{"rows", map[string]any{"version": "http://nowhere.example/"}, "Not in the archive"},
		{"rows", map[string]any{"version": file.Latest, "limit": 100_000}, "from 1 to 200"},
		{"versions", map[string]any{"url": "http://nowhere.example/"}, "Not in the archive"},
		{"differences", map[string]any{}, "give url, or both from and to"},
		{"describe", map[string]any{"iri": "http://nowhere.example/"}, "use search"},
		{"sparql", map[string]any{"query": "SELEKT *"}, "Syntax error"},
		{"sparql", map[string]any{"query": "INSERT DATA { <http://a.example/> <http://a.example/> 1 }"}, "Syntax error"},
		{"sparql", map[string]any{"query": "SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }"}, "no other endpoints"},
		{"sparql", map[string]any{"query": "SELECT * { ?s ?p ?o FILTER EXISTS { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } } }"},
			"switched off"},
	} {
		if text := a.call(t, c.tool, c.arguments, nil); !strings.Contains(text, c.want) {
			t.Errorf("%s %v: %q, want %q", c.tool, c.arguments, text, c.want)
		}
	}
}

// postMessage sends one message as it is, and returns the status and the body of the response.
func postMessage(ctx context.Context, base, body string, headers ...string) (int, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/mcp", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(raw), err
}

func (s served) hostileMessagesAreRefused(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for _, c := range []struct {
		what, body string
		headers    []string
		status     int
	}{
		{"a plain call", list, nil, 200},
		{"a script of another site", list, []string{"Origin", "https://elsewhere.example"}, 403},
		{"a site that leads to this machine by name", list, []string{"Origin", "http://rebound.example", "Host", "rebound.example"}, 403},
		{"a page of a sandbox", list, []string{"Origin", "null"}, 403},
		{"a page of the archive", list, []string{"Origin", "http://archive.example"}, 200},
		{"a page of this machine", list, []string{"Origin", "http://localhost:6274"}, 200},
		{"many calls in one", "[" + strings.Repeat(list+",", 1000) + list + "]", nil, 400},
		{"deep nesting", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.Repeat("[", 100_000), nil, 400},
		{
			"a large argument",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sparql","arguments":{"query":"` + strings.Repeat("x", 1<<20) +
				`"}}}`, nil, 413},
		{"no message", "", nil, 400},
	} {
		status, body, err := postMessage(t.Context(), s.base, c.body, c.headers...)
		if err != nil || status != c.status {
			t.Errorf("%s: %d %.200s, %v; want %d", c.what, status, body, err, c.status)
		}
	}
	resp, err := http.Get(s.base + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 405 || !strings.Contains(resp.Header.Get("Allow"), "POST") {
		t.Errorf("GET: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}
