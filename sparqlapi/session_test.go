package sparqlapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate/access"
)

// signIn returns the cookie of a session; nil if the token is refused.
func signIn(t *testing.T, g *sparqlapi.Guard, token string, headers ...string) *http.Cookie {
	t.Helper()
	r := httptest.NewRequest("POST", "http://archive.example/sign-in", nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	if err := g.SignIn(rec, r, token); err != nil {
		if len(rec.Result().Cookies()) > 0 {
			t.Error("a refused sign-in sets a cookie")
		}
		return nil
	}
	cookies := rec.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	return cookies[0]
}

func TestTheCookieOfASessionIsKeptFromScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	tokens := access.NewTokens(access.Single(token))
	for base, want := range map[string]string{
		"https://archive.example/":      "__Host-odarchive-session= Path=/ secure",
		"https://archive.example/data/": "odarchive-session= Path=/data/ secure",
		"http://localhost:8080/":        "odarchive-session= Path=/",
	} {
		c := signIn(t, sparqlapi.NewGuard(tokens, sparqlapi.Site{Base: base}), token)
		if c == nil {
			t.Fatalf("%s: refused", base)
		}
		got := c.Name + "= Path=" + c.Path
		if c.Secure {
			got += " secure"
		}
		if got != want || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.MaxAge <= 0 || c.Domain != "" || len(c.Value) < 40 ||
			strings.Contains(c.Value, token) {
			t.Errorf("%s: %s", base, c)
		}
	}
	g := sparqlapi.NewGuard(tokens, sparqlapi.Site{})
	if signIn(t, g, "wrong") != nil || signIn(t, g, "") != nil {
		t.Error("a wrong token signs in")
	}
	for _, evil := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"},
		{"Origin", "null"}} {
		if signIn(t, g, token, evil...) != nil {
			t.Errorf("another site (%v) signs a browser in", evil)
		}
	}
}

func TestASessionWritesOnlyFromPagesOfTheArchive(t *testing.T) {
	t.Parallel()
	tokens := access.NewTokens(access.Single(token))
	guard := sparqlapi.NewGuard(tokens, sparqlapi.Site{Base: "https://archive.example/"})
	h, _ := server(t, func(o *sparqlapi.Options) { o.Guard, o.Closed = guard, true })
	cookie := signIn(t, guard, token)
	send := func(method, path string, headers ...string) int {
		return ask(h, method, "http://archive.example"+path, `{"href":"http://new.example/x.csv"}`,
			append(headers, "Cookie", cookie.Name+"="+cookie.Value)...).StatusCode
	}
	for _, c := range []struct {
		want    int
		headers []string
	}{
		{200, []string{"Sec-Fetch-Site", "same-origin"}}, {200, []string{"Origin", "https://archive.example"}},
		{200, []string{"Origin", "http://archive.example"}},
		{403, []string{"Sec-Fetch-Site", "cross-site"}}, {403, []string{"Sec-Fetch-Site", "same-site"}}, {403, []string{"Origin", "null"}},
		{403, []string{"Origin", "https://evil.example"}},
		{403, []string{"Origin", "https://archive.example.evil.example"}}, {403, []string{"Origin", "://"}}, {403, nil},
		{403, []string{"Sec-Fetch-Site", "cross-site", "Origin", "https://archive.example"}},
	} {
		if got := send("POST", "/post/resource", c.headers...); got != c.want {
			t.Errorf("POST %v: %d, want %d", c.headers, got, c.want)
		}
	}
	if got := send("GET", "/stats/basic"); got != 200 {
		t.Errorf("reading: %d", got)
	}
	res := ask(h, "GET", "/stats/basic", "", "Cookie", cookie.Name+"="+cookie.Value)
	if !strings.Contains(res.Header.Get("Cache-Control"), "private") {
		t.Errorf("Cache-Control %q for who has signed in", res.Header.Get("Cache-Control"))
	}
	tokens.Revoke(tokens.Named("token")...)
	if got := send("GET", "/stats/basic"); got != 401 {
		t.Errorf("a session of a revoked token: %d", got)
	}
}

func TestSessionsEndAndAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	tokens := access.NewTokens(access.Single(token))
	one, err := tokens.Find(token, now)
	if err != nil {
		t.Fatal(err)
	}
	s := access.NewSessions(tokens, func() time.Time { return now })
	idle, ended, busy := s.Begin(one), s.Begin(one), s.Begin(one)
	s.End(ended)
	for range 11 {
		now = now.Add(time.Hour)
		if s.Find(busy) == nil {
			t.Fatalf("a session in use ended after %s", now)
		}
	}
	if s.Find(idle) != nil || s.Find(ended) != nil || s.Find("") != nil {
		t.Error("a session that has ended is valid")
	}
	if now = now.Add(time.Hour); s.Find(busy) != nil {
		t.Error("a session never ends")
	}
	first := s.Begin(one)
	for range 1000 {
		now = now.Add(time.Millisecond)
		s.Begin(one)
	}
	if s.Find(first) != nil {
		t.Error("the number of sessions has no bound")
	}
	fresh := s.Begin(one)
	if now = now.Add(-time.Hour); s.Find(fresh) != nil {
		t.Error("a session from the future is valid: the clock was set back")
	}
}

func TestSigningOutEndsTheSession(t *testing.T) {
	t.Parallel()
	guard := sparqlapi.NewGuard(access.NewTokens(access.Single(token)), sparqlapi.Site{Base: "http://archive.example/"})
	h, _ := server(t, func(o *sparqlapi.Options) { o.Guard, o.Closed = guard, true })
	cookie := signIn(t, guard, token)
	is := func() int {
		return ask(h, "GET", "/stats/basic", "", "Cookie", cookie.Name+"="+cookie.Value).StatusCode
	}
	out := func(headers ...string) *http.Cookie {
		r := httptest.NewRequest("POST", "http://archive.example/sign-out", nil)
		r.AddCookie(cookie)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		rec := httptest.NewRecorder()
		guard.SignOut(rec, r)
		if all := rec.Result().Cookies(); len(all) > 0 {
			return all[0]
		}
		return nil
	}
	if c := out("Sec-Fetch-Site", "cross-site"); c != nil || is() != 200 {
		t.Error("another site signs a browser out")
	}
	if c := out("Sec-Fetch-Site", "same-origin"); c == nil || c.MaxAge >= 0 || is() != 401 {
		t.Errorf("after signing out: %s, %d", c, is())
	}
}
