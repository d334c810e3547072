package sparqlapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/sparqlapi"
)

func TestDocumentsOfCampaignsMayBeJSONOrTOMLAndTheirFaultsAreSaid(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	const api = "name = \"sets\"\nkind = \"api\"\n[api]\nbase = \"https://a.example\"\n[[api.request]]\npath = " +
		"\"/list\"\n[api.dataset]\nid = \"id\"\n"
	for _, c := range []struct {
		kind, body string
		status     int
		want       string
	}{
		{"application/toml", api, 200, `"base":"https://a.example"`},
		{"application/toml; charset=utf-8", strings.Replace(api, `"id"`, `"id["`, 1), 400, "line 8: api.dataset.id"},
		{"application/toml", strings.Replace(api, "base", "bass", 1), 400, `line 4: there is no setting \"api.bass\"`},
		{"application/toml", "keywords-file = \"/etc/passwd\"\n" + api, 400, "read by the command line only"},
		{
			"application/json",
			`{"name":"sets","kind":"api","api":{"base":"https://a.example","request":[{"path":"/list"}],"dataset":{"id":"id"}}}`, 200,
			`"maxRequests":10000`},
		{
			"application/json",
			`{"name":"sets","kind":"api","api":{"base":"https://a.example","request":[{"path":"/list"}],"dataset":{"id":"id["}}}`, 400,
			"api.dataset.id: the expression"},
		{
			"application/json",
			`{"name":"site","kind":"discover","discover":{"url":"https://city.example","keywords":["trees"],"budget":500}}`, 200,
			`"budget":500`},
		{"application/json", `{"name":"site","kind":"discover","discover":{"url":"https://city.example","buget":500}}`, 400, "buget"},
		{"application/json", `{"name":"site","kind":"discover","seeds":["https://city.example"]}`, 400,
			"are not for a campaign of the kind discover"},
		{"application/json", `{"name":"site","kind":"walk","seeds":["https://city.example"]}`, 400, "expected follow, discover or api"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/campaigns", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%.80s: %d %s, want %d %s", c.body, w.Code, w.Body, c.status, c.want)
		}
	}
}

// Who may direct the crawl must not have the server's secrets sent to a host of their choice.
func TestOnlyAnAdministratorMayRunADocumentThatNamesASecret(t *testing.T) {
	t.Parallel()
	guard, _ := guardOf(t)
	h, _ := server(t, func(o *sparqlapi.Options) { o.Guard = guard })
	const plain = "name = \"sets\"\nkind = \"api\"\n[api]\nbase = \"https://a.example\"\n[[api.request]]\npath = " +
		"\"/list\"\n[api.dataset]\nid = \"id\"\n"
	secret := strings.Replace(plain, "[[api.request]]", "auth = { kind = \"bearer\", env = \"API_OTHERS\" }\n[[api.request]]", 1)
	const asJSON = `{"name":"sets","kind":"api","api":{"base":"https://a.example","auth":{"kind":"bearer","env":"API_OTHERS"},"request":[` +
		`{"path":"/list"}],"dataset":{"id":"id"}}}`
	for _, c := range []struct {
		token, kind, body string
		status            int
		want              string
	}{
		{"crawl", "application/toml", plain, 200, `"base"`},
		{"crawl", "application/toml", secret, 403, "API_OTHERS"},
		{"crawl", "application/json", asJSON, 403, "this needs the right admin"},
		{"admin", "application/toml", secret, 200, `"base"`},
		{"admin", "application/json", asJSON, 200, `"base"`},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/campaigns", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.kind)
		r.Header.Set("Authorization", "Bearer "+c.token)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
			t.Errorf("%s: %.60s: %d %s, want %d %s", c.token, c.body, w.Code, w.Body, c.status, c.want)
		}
	}
}
