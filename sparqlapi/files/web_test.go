package files

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"

	"github.com/go-chi/chi/v5"
)

func TestAddressesOfWebArchivesLeadToTheNearestVersion(t *testing.T) {
	t.Parallel()
	const url = "http://data.example/a.csv?x=1"
	m, _ := mementoWorld(url, 4) // 1 to 4 November 2026, 12:00:00.5
	m.Serve = func(w http.ResponseWriter, r *http.Request, id string) error {
		_, err := io.WriteString(w, "version "+id[len(id)-1:])
		return err
	}
	r := chi.NewRouter()
	r.Use(problem.Use(problem.Options{}), target.Escaped)
	r.Get("/web/{timestamp}/*", problem.Handler(m.Web))
	s := httptest.NewServer(r)
	defer s.Close()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	for path, want := range map[string]string{
		"20261102120000/" + url:    "version 1",
		"20261102120000id_/" + url: "version 1",
		"20261102120001/" + url:    "20261102120000/" + url,
		"20261103id_/" + url:       "20261103120000id_/" + url, // midnight is as near to both: the later one
		"2026/" + url:              "20261101120000/" + url,
		"20300101000000mp_/" + url: "20261104120000mp_/" + url,
		url:                        "20261104120000/" + url,
		"20261102120000/http%3A%2F%2Fdata.example%2Fa.csv%3Fx%3D1": "version 1",
		"20261302120000/" + url:            "400",
		"*/" + url:                         "dataset",
		"202611*/" + url:                   "dataset&year=2026",
		"2026**/" + url:                    "400",
		"2026/ftp//x":                      "400",
		"2026/http://unknown.example/":     "500", // the test has no table of errors
		"20261102120000123456/" + url + "": "400",
	} {
		res, err := client.Get(s.URL + "/web/" + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		got := string(body)
		switch location := res.Header.Get("Location"); {
		case location != "":
			got = strings.TrimPrefix(location, m.Mint.Base+"web/")
			if page, ok := strings.CutPrefix(location, m.Mint.Base+"dataset?url=http%3A%2F%2Fdata.example%2Fa.csv%3Fx%3D1"); ok {
				got = "dataset" + strings.TrimSuffix(page, "#versions")
			}
		case res.StatusCode != 200:
			got = res.Status[:3]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
