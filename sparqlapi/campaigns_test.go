package sparqlapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestDocumentsOfCampaignsMayBeJSONOrTOMLAndTheirFaultsAreSaid(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	const api = "name = \"sets\"\nkind = \"api\"\n[api]\nbase = \"https://a.example\"\n[[api.request]]\npath = \"/list\"\n[api.dataset]\nid = \"id\"\n"
	for _, c := range []struct {
		kind, body string
		status     int
		want       string
	}{
		{"application/toml", api, 200, `"base":"https://a.example"`},
		{"application/toml; charset=utf-8", strings.Replace(api, `"id"`, `"id["`, 1), 400, "line 8: api.dataset.id"},
		{"application/toml", strings.Replace(api, "base", "bass", 1), 400, `line 4: there is no setting \"api.bass\"`},
		{"application/toml", "keywords-file = \"/etc/passwd\"\n" + api, 400, "read by the command line only"},
		{"application/json", `{"name":"sets","kind":"api","api":{"base":"https://a.example","request":[{"path":"/list"}],"dataset":{"id":"id"}}}`, 200, `"maxRequests":10000`},
		{"application/json", `{"name":"sets","kind":"api","api":{"base":"https://a.example","request":[{"path":"/list"}],"dataset":{"id":"id["}}}`, 400, "api.dataset.id: the expression"},
		{"application/json", `{"name":"site","kind":"discover","discover":{"url":"https://city.example","keywords":["trees"],"budget":500}}`, 200, `"budget":500`},
		{"application/json", `{"name":"site","kind":"discover","discover":{"url":"https://city.example","buget":500}}`, 400, "buget"},
		{"application/json", `{"name":"site","kind":"discover","seeds":["https://city.example"]}`, 400, "are not for a campaign of the kind discover"},
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
