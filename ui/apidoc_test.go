package ui_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestReadingCallsAreTriedWithoutScripts(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for address, want := range map[string]string{
		"/api-doc?call=query&query=ASK+%7B%7D&format=": "/sparql?query=ASK+%7B%7D",
		"/api-doc?call=getRows&id=0123456789abcdef01234567_0&limit=2&where=": "/get/file/id/0123456789abcdef01234567_0/rows" +
			"?limit=2",
		"/api-doc?call=getDatasetByURL&url=http%3A%2F%2Fa.example%2Fb%3Fc%23d&token=t0k": "/get/dataset/url/http:%2F%2Fa.example%2Fb%3F" +
			"c%23d",
		"/api-doc?call=getDatasetByURL&url=%2F%2Fevil.example":       "/get/dataset/url/%2F%2Fevil.example",
		"/api-doc?call=getDatasetByURL&url=x%0d%0aSet-Cookie:+a%3Db": "/get/dataset/url/x%0D%0ASet-Cookie:%20a=b",
		"/api-doc?call=getRows&id=x&unknown=1&order=a&order=-b&" +
			"call=zipVersions&limit=%26": "/get/file/id/x/rows?limit=%26&order=a&order=-b",
	} {
		res := get(t, h, address)
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != want ||
			res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d to %q, want %q", address, res.StatusCode, got, want)
		}
	}
	for address, want := range map[string]int{
		"/api-doc?call=getRows": 400, "/api-doc?call=getRows&id=..": 400, "/api-doc?call=nothing": 404,
		"/api-doc?call=zipVersions": 404, // changes nothing, but it is a POST
	} {
		if res := get(t, h, address); res.StatusCode != want || res.Header.Get("Location") != "" {
			t.Errorf("%s: %d to %q, want %d", address, res.StatusCode, res.Header.Get("Location"), want)
		}
	}
}

// The page must work without scripts, and no browser may put the token into an address.
func TestFormsOfTheAPIPageSendNoToken(t *testing.T) {
	t.Parallel()
	text := everyPart(t)
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	forms, tokens, snippets := 0, 0, 0
	for n := range doc.Descendants() {
		attr := map[string]string{}
		for _, a := range n.Attr {
			attr[a.Key] = a.Val
		}
		_, try := attr["data-try"]
		switch {
		case try:
			forms++
			if (attr["action"] == "/api-doc") != (attr["data-method"] == "GET") {
				t.Errorf("form of %s %s goes to %q", attr["data-method"], attr["data-path"], attr["action"])
			}
		case attr["data-in"] == "token":
			tokens++
			if name, ok := attr["name"]; ok || attr["autocomplete"] != "off" || attr["id"] != "" {
				t.Errorf("the field of a token: name %q, %v", name, attr)
			}
		case n.Data == "pre":
			snippets++
			if curl := n.FirstChild.FirstChild.Data; strings.HasPrefix(curl, "curl") {
				if out, err := exec.CommandContext(t.Context(), "sh", "-n", "-c", curl).CombinedOutput(); err != nil {
					t.Errorf("%s: %v %s", curl, err, out)
				}
			}
		}
	}
	if forms < 100 || tokens < 20 || snippets != 3*forms {
		t.Errorf("%d forms, %d fields of tokens, %d snippets", forms, tokens, snippets)
	}
	for _, want := range []string{
		`curl -X POST -H &#39;Content-Type: application/sparql-query&#39; --data-binary &#39;SELECT`,
		`urllib.request.Request(&#34;http://localhost:8080/sparql&#34;, method=&#34;POST&#34;, ` +
			`headers={&#34;Content-Type&#34;:&#34;application/sparql-query&#34;}, data=&#34;SELECT`,
		`await fetch(&#34;http://localhost:8080/get/file/id/ID/rows&#34;, { method: &#34;GET&#34; });`, `Bearer TOKEN`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// everyPart returns the pages of all parts of the API, to which its first page links.
func everyPart(t *testing.T) string {
	t.Helper()
	h := site(newWorld())
	var pages strings.Builder
	for _, link := range strings.Split(body(t, get(t, h, "/api-doc")), `<h2><a href="`)[1:] {
		address, _, _ := strings.Cut(link, `"`)
		pages.WriteString(body(t, get(t, h, address)))
	}
	return pages.String()
}

func TestThePageOfAnOperationHasItOpenAmongItsPart(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	list := body(t, get(t, h, "/api-doc"))
	if !strings.Contains(list, `<a href="/api-doc?operation=getRows#getRows"><code>/get/file/id/{id}/rows</code></a>`) ||
		strings.Contains(list, "<form data-try") {
		t.Error("the first page must list the operations, without their forms")
	}
	page := body(t, get(t, h, "/api-doc?operation=getRows"))
	if n := strings.Count(page, `<details class="route" id="`); n < 2 || strings.Count(page, " open>") != 1 ||
		!strings.Contains(page, `id="getRows" open>`) {
		t.Errorf("%d operations, of which getRows is not the only open one", n)
	}
	for _, address := range []string{"/api-doc?part=nothing", "/api-doc?operation=nothing", "/api-doc?part=%3Cscript%3E"} {
		if res := get(t, h, address); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", address, res.StatusCode)
		}
	}
}
