package ui_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"odarchive/sparqlapi/operate/access"
	"odarchive/ui"
)

// as sends a request of a browser that has signed in with some rights; 0 for none.
func as(h http.Handler, rights access.Right, method, path string, form url.Values) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	if rights != 0 {
		r = r.WithContext(access.With(r.Context(), access.Caller{Name: "me<b>", Rights: rights, Session: true}))
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

func TestSigningInGoesToPathsOfThisServerOnly(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for to, want := range map[string]string{"/hosts?host=a.example": "/hosts?host=a.example", "": "/", "//evil.example": "/",
		"https://evil.example/": "/", "/\\evil.example": "/", "javascript:alert(1)": "/", "hosts": "/", "/a\nb": "/",
		"/%0d%0aX: y":  "/%0d%0aX: y",
		"/get/file//x": "/get/file//x", "/get/file/http://a.example//b/../c": "/get/file/http://a.example//b/../c",
		"/;//evil": "/;//evil", "/ü": "/%C3%BC"} {
		res := as(h, 0, "POST", "/sign-in", url.Values{"token": {"right"}, "to": {to}})
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != want &&
			got != strings.ReplaceAll(want, " ", "%20") {
			t.Errorf("to %q: %d %q", to, res.StatusCode, got)
		}
		if page := body(t, as(h, 0, "GET", "/sign-in?"+url.Values{"to": {to}}.Encode(), nil)); strings.Contains(page, "evil.") {
			t.Errorf("to %q is in the form", to)
		}
	}
}

func TestAWrongTokenIsNotShownAgain(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for _, path := range []string{"/sign-in", "/hosts", "/portals", "/operation", "/campaign"} {
		res := as(h, 0, "POST", path, url.Values{"token": {"my wrong secret"}})
		page := body(t, res)
		if res.StatusCode != http.StatusForbidden || strings.Contains(page, "my wrong secret") ||
			res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, Cache-Control %q, %.300s", path, res.StatusCode, res.Header.Get("Cache-Control"), page)
		}
	}
}

func TestWhoeverHasSignedInNeedsNoTokenInForms(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	for _, path := range []string{"/hosts", "/campaign", "/campaign?name=city"} {
		for rights, want := range map[access.Right]bool{0: true, access.Add: true, access.Crawl: false, access.Admin: false} {
			page := body(t, as(h, rights, "GET", path, nil))
			if got := strings.Contains(page, `name="token"`); got != want {
				t.Errorf("%s with the rights %q: a field for the token: %v", path, rights, got)
			}
			if rights != 0 && (!strings.Contains(page, "Signed in as me&lt;b&gt;") || strings.Contains(page, "me<b>")) {
				t.Errorf("%s does not say who has signed in", path)
			}
		}
	}
	if page := body(t, as(h, 0, "GET", "/hosts?host=data.example", nil)); strings.Contains(page, "What is set") {
		t.Error("strangers see what is set for hosts")
	}
	if page := body(t, as(h, access.Crawl, "GET", "/hosts?host=data.example", nil)); !strings.Contains(page, "What is set") {
		t.Error("who has signed in does not see what is set for hosts")
	}
	if res := as(h, access.Crawl, "POST", "/hosts", url.Values{"order": {"show"}}); res.StatusCode != http.StatusOK {
		t.Errorf("an order without a token: %d", res.StatusCode)
	}
	closed := siteOf(newWorld(), func(o *ui.Options) { o.Guard = nil })
	if page := body(t, as(closed, 0, "GET", "/", nil)); strings.Contains(page, "Sign in") {
		t.Error("a server without tokens offers to sign in")
	}
}

func TestOnlyScriptsThatThePageNamesRun(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	seen := map[string]bool{}
	for _, path := range []string{"/", "/search?q=x", "/hosts", "/console", "/sign-in", "/nowhere"} {
		res := as(h, 0, "GET", path, nil)
		m := regexp.MustCompile(`^default-src 'none'; script-src 'nonce-(\w{20,})'; style-src 'nonce-(\w+)';`).FindStringSubmatch(
			res.Header.Get("Content-Security-Policy"))
		if m == nil || m[1] != m[2] || seen[m[1]] {
			t.Errorf("%s: %q", path, res.Header.Get("Content-Security-Policy"))
			continue
		}
		seen[m[1]] = true
		page := body(t, res)
		for _, tag := range regexp.MustCompile(`<(?:script|link rel="stylesheet")[^>]*>`).FindAllString(page, -1) {
			if !strings.Contains(tag, `nonce="`+m[1]+`"`) || !strings.Contains(tag, `="/assets/`) {
				t.Errorf("%s: %s", path, tag)
			}
		}
		if strings.Count(page, m[1]) > 5 {
			t.Errorf("%s repeats its nonce", path)
		}
	}
}
