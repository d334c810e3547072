package sparqlapi_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// Whatever a route answers, for browsers and for programs, with and without rights, a browser must take no code from
// it.
func TestEveryRouteSaysThatItsAnswersRunNoCode(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		path := regexp.MustCompile(`\{\w+\}|\*`).ReplaceAllString(route, "x")
		for _, accept := range []string{"text/html", "*/*"} {
			for _, authorization := range []string{"", "Bearer " + token, "Bearer wrong"} {
				res := ask(h, method, path+"?<script>=<script>", "{}", "Accept", accept, "Authorization", authorization)
				for name, wants := range map[string][]string{
					"X-Content-Type-Options":  {"nosniff"},
					"Referrer-Policy":         {"same-origin"},
					"Content-Security-Policy": {"default-src 'none'", "frame-ancestors 'none'", "sandbox"},
				} {
					for _, want := range wants {
						if got := res.Header.Get(name); !strings.Contains(got, want) || strings.Contains(got, "allow-scripts") {
							t.Errorf("%s %s for %s: %d, %s: %q lacks %q", method, path, accept, res.StatusCode, name, got, want)
						}
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
