package sparqlapi_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
)

// TestEachRouteNamesTheMethodsThatItTakes asks every route by methods that it does not know.
func TestEachRouteNamesTheMethodsThatItTakes(t *testing.T) {
	t.Parallel()
	h, _ := server(t, nil)
	takes := map[string][]string{}
	err := chi.Walk(h.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		takes[route] = append(takes[route], method)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(takes) < 80 {
		t.Errorf("only %d routes", len(takes))
	}
	for route, methods := range takes {
		path := strings.ReplaceAll(regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(route, "x"), "*", "http://a.example/x")
		for _, method := range []string{"PATCH", "TRACE", "CONNECT", "PROPFIND", "BREW", "get"} {
			if slices.Contains(methods, method) {
				continue
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
			allowed := strings.Split(w.Header().Get("Allow"), ", ")
			if w.Code != http.StatusMethodNotAllowed || !slices.Contains(allowed, "OPTIONS") {
				t.Errorf("%s %s: %d, Allow: %s", method, path, w.Code, allowed)
			}
			for _, m := range methods {
				if !slices.Contains(allowed, m) {
					t.Errorf("%s %s: Allow: %s lacks %s", method, path, allowed, m)
				}
			}
		}
	}
}
