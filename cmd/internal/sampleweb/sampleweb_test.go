package sampleweb

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func get(t *testing.T, url, etag string) (int, string, http.Header) {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header
}

func TestFilesAreServedWithEntityTagsAndGoThroughTheirStates(t *testing.T) {
	t.Parallel()
	web, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	url := web.Base("city") + "environment/trees.csv"
	for n, want := range web.States("city/environment/trees.csv") {
		web.hosts["city"].age = func() int { return n }
		status, body, header := get(t, url, "")
		if status != 200 || body != string(want) {
			t.Errorf("state %d: status %d, %d bytes, want 200 and %d bytes", n, status, len(body), len(want))
		}
		if status, _, _ := get(t, url, header.Get("ETag")); status != 304 {
			t.Errorf("state %d asked for again with its ETag: status %d, want 304", n, status)
		}
	}
}

func TestTheCatalogNamesTheAddressesOfThisRun(t *testing.T) {
	t.Parallel()
	web, err := Start(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	catalog, err := web.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(catalog[strings.Index(catalog, "@prefix"):], "{{") {
		t.Error("a placeholder was left in the catalog")
	}
	for _, host := range web.Hosts() {
		if !strings.Contains(catalog, "<"+web.Base(host)+">") {
			t.Errorf("the catalog does not list %s", host)
		}
	}
	if status, _, _ := get(t, web.Base("city")+"environment/felled.csv", ""); status != 404 {
		t.Errorf("the withdrawn file: status %d, want 404", status)
	}
	if status, body, _ := get(t, web.Base("library")+"robots.txt", ""); status != 200 || !strings.Contains(body, "Disallow: /internal/") {
		t.Errorf("robots.txt: status %d, %q", status, body)
	}
}
