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
	states := web.hosts["city"].files["/environment/trees.csv"]
	if len(states) < 2 {
		t.Fatalf("%d states", len(states))
	}
	for n, state := range states {
		want := state.bytes
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
	for _, host := range Names() {
		if host == "town" { // which has no catalog
			continue
		}
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

func TestHostsWithNamesListenWhereTheyDidIfThatIsFree(t *testing.T) {
	t.Parallel()
	first, err := Start(Options{Named: true, At: map[string]string{"city": "127.0.0.1:0"}})
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{"city": first.At("city"), "town": first.At("town")}
	second, err := Start(Options{Named: true, At: at, State: func() int { return 1 }})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if second.At("city") == at["city"] || second.At("town") == at["town"] || second.Base("city") != "http://city.example/" {
		t.Errorf("the first is at %v; the second at %s and %s, with %s", at, second.At("city"), second.At("town"), second.Base("city"))
	}
	if status, body, _ := get(t, "http://"+second.At("town")+"/", ""); status != 200 || !strings.Contains(body, "parks.csv") {
		t.Errorf("the home page of town: %d, %q", status, body)
	}
	if status, _, _ := get(t, "http://"+second.At("city")+"/transport/parking.csv", ""); status != 410 {
		t.Errorf("a file that is gone: %d", status)
	}
	first.Close()
	third, err := Start(Options{Named: true, At: at})
	if err != nil {
		t.Fatal(err)
	}
	defer third.Close()
	if third.At("city") != at["city"] {
		t.Errorf("city was at %s and is at %s", at["city"], third.At("city"))
	}
}
