package sparqlapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate/access"

	"github.com/go-chi/chi/v5"
)

// guardOf returns a guard with a token for each right, which is the right's name, and some that are not valid.
func guardOf(t *testing.T) (*sparqlapi.Guard, *access.Tokens) {
	t.Helper()
	var list []access.Token
	for _, name := range access.All.Names() {
		right, err := access.ParseRight(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, access.Token{Name: name, Rights: right, Digest: access.Digest(name)})
	}
	list = append(list, access.Token{Name: "old", Rights: access.Admin, Digest: access.Digest("old"), Expires: time.Unix(1, 0)},
		access.Token{Name: "slow", Rights: access.Read, Digest: access.Digest("slow"), Rate: 0.001})
	tokens := access.NewTokens(list)
	return sparqlapi.NewGuard(tokens, sparqlapi.Site{Base: "https://archive.example/"}), tokens
}

// rightOf is what each write needs; a route that is missing here fails the test below.
var rightOf = []struct {
	route string // a regular expression
	right string // "" for anybody
}{
	{`^POST /post/resources?$`, "add"},
	{`^(GET|POST|DELETE) /crawl/settings`, "crawl"},
	{`^POST /crawl/(inject|requeue|drop|boost|pause|resume|scope/.*)$`, "crawl"}, {`^POST /crawl$`, "crawl"}, {`^POST /campaigns`, "crawl"},
	{`^(POST|DELETE) /harvests`, "crawl"},
	{`^(PUT|POST|DELETE) /rdf-graph-store`, "update"},
	{`^POST /(check|backup|withdraw|retention)$`, "admin"}, {`^GET /retention$`, "admin"}, {`^DELETE /get/file/id/`, "admin"},
	{`^(GET|DELETE) /tokens`, "admin"}, {`^GET /audit`, "admin"}, {`^GET /replicate`, "replicate"},
	{`^POST /(sparql|get/files|get/(files|warc|wacz)/sparql(/count)?)$`, ""}, // reads; SPARQL asks itself
	{`^POST /mcp$`, ""}, // reads
	// each command asks for its own right; the id of one that is stopped is the secret
	{`^(POST|DELETE) /commands/`, ""},
	{`^POST /log/sign$`, "admin"}, {`^POST /log/cosignatures$`, ""}, // it is signed
}

func TestEachWriteNeedsItsRightAndNoOther(t *testing.T) {
	t.Parallel()
	guard, _ := guardOf(t)
	h, _ := server(t, func(o *sparqlapi.Options) { o.Guard = guard })
	err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		plain := method + " " + strings.TrimPrefix(route, "/api/v1")
		i := slices.IndexFunc(rightOf, func(r struct{ route, right string }) bool { return regexp.MustCompile(r.route).MatchString(plain) })
		if i < 0 {
			if method != "GET" && method != "HEAD" {
				t.Errorf("%s %s: nobody has said which right it needs", method, route)
			}
			return nil
		}
		if rightOf[i].right == "" {
			return nil
		}
		path := regexp.MustCompile(`\{\w+\}|\*`).ReplaceAllString(route, "x")
		if got := ask(h, method, path, "{}").StatusCode; got != 401 {
			t.Errorf("%s %s of anybody: %d", method, path, got)
		}
		for _, name := range access.All.Names() {
			res := ask(h, method, path, "{}", "Authorization", "Bearer "+name)
			body := text(t, res)
			refused := res.StatusCode == 403 && strings.Contains(body, "lacks a right")
			if want := name != "admin" && name != rightOf[i].right; refused != want {
				t.Errorf("%s %s with the right %s: %d %.200s", method, path, name, res.StatusCode, body)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestTokensEndExpireAndAreSlowedByThemselves(t *testing.T) {
	t.Parallel()
	guard, tokens := guardOf(t)
	h, _ := server(t, func(o *sparqlapi.Options) { o.Guard = guard })
	post := func(token string) (int, string) {
		res := ask(h, "POST", "/post/resource", `{"href":"http://new.example/x.csv"}`, "Authorization", "Bearer "+token)
		return res.StatusCode, text(t, res)
	}
	if status, body := post("add"); status != 200 {
		t.Errorf("a valid token: %d %s", status, body)
	}
	if status, body := post("old"); status != 403 || !strings.Contains(body, "expired") {
		t.Errorf("an expired token: %d %s", status, body)
	}
	tokens.Revoke(tokens.Named("add")...)
	if status, body := post("add"); status != 403 || !strings.Contains(body, "revoked") {
		t.Errorf("a revoked token: %d %s", status, body)
	}
	tokens.Replace([]access.Token{{Name: "add", Rights: access.Add, Digest: access.Digest("add")},
		{Name: "slow", Rights: access.Read, Digest: access.Digest("slow"), Rate: 0.001}})
	if status, body := post("add"); status != 403 || !strings.Contains(body, "revoked") {
		t.Errorf("a revoked token that the settings bring again: %d %s", status, body)
	}
	if status, _ := post("crawl"); status != 403 {
		t.Errorf("a token that is gone: %d", status)
	}
	first, second := ask(h, "GET", "/healthz", "", "Authorization", "Bearer slow"),
		ask(h, "GET", "/healthz", "", "Authorization", "Bearer slow")
	if first.StatusCode != 200 || second.StatusCode != 429 || second.Header.Get("Retry-After") == "" {
		t.Errorf("a token with a rate of its own: %d, then %d, Retry-After %q", first.StatusCode, second.StatusCode,
			second.Header.Get("Retry-After"))
	}
}

func TestAClosedArchiveShowsStrangersNothing(t *testing.T) {
	t.Parallel()
	guard, _ := guardOf(t)
	h, a := server(t, func(o *sparqlapi.Options) { o.Guard, o.Closed = guard, true })
	shown := []string{"/healthz", "/readyz", "/robots.txt", "/assets/{name}", "/favicon.ico", "/favicon.svg", "/sign-in", "/sign-out"}
	err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := regexp.MustCompile(`\{\w+\}|\*`).ReplaceAllString(route, "x")
		got := ask(h, method, path, "").StatusCode
		if slices.Contains(shown, route) {
			if got == 401 {
				t.Errorf("%s %s: %d", method, path, got)
			}
		} else if got != 401 {
			t.Errorf("%s %s of a stranger: %d", method, path, got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/assets/../sparql", "//sparql", "/assets/%2e%2e/sparql", "/nowhere"} {
		if got := ask(h, "GET", path, ""); got.StatusCode/100 == 2 {
			t.Errorf("%s of a stranger: %d", path, got.StatusCode)
		}
	}
	res := ask(h, "GET", "/get/file/id/"+a.resources[0].ID+"_1", "", "Authorization", "Bearer read")
	if res.StatusCode != 200 || strings.Contains(res.Header.Get("Cache-Control"), "public") ||
		!strings.Contains(strings.Join(res.Header.Values("Vary"), ","), "Authorization") {
		t.Errorf("for a reader: %d %v", res.StatusCode, res.Header)
	}
	if res.Header.Get("Cache-Control") == "" {
		t.Error("shared caches may keep an answer of a closed archive")
	}
}
