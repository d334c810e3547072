package ckan

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
)

// all returns the names of packages(n).
func all(n int) []string {
	var iris []string
	for i := range n {
		iris = append(iris, fmt.Sprintf("https://data.example/dataset/set-%02d", i))
	}
	return iris
}

func TestEveryPackageOfAPortalComesOnceWhateverItsQuirks(t *testing.T) {
	t.Parallel()
	denied := `403 {"success":false,"error":{"__type":"Authorization Error","message":"Access denied"}}`
	for _, c := range []struct {
		about string
		fake  fake
	}{
		{"as it should be", fake{}},
		{"fewer rows than asked for", fake{maxRows: 3}},
		{"one row at a time", fake{maxRows: 1}},
		{"without order", fake{noSort: true}},
		{"without filter", fake{noFilter: true}},
		{"without both", fake{noSort: true, noFilter: true}},
		{"an order is refused", fake{badSort: true}},
		{"an older address", fake{apis: []string{"/api/action/"}}},
		{"no status", fake{wrong: map[string]string{"status_show": `404 {"success":false,"error":{"message":"no"}}`}}},
		{"search denied", fake{wrong: map[string]string{"package_search": denied}}},
		{"search is a page", fake{wrong: map[string]string{"package_search": "<!doctype html><title>Down for maintenance</title>"}}},
		{"search lists nothing", fake{wrong: map[string]string{"package_search": `{"success":true,"result":{"count":0,"results":[]}}`}}},
		{"search has no result", fake{wrong: map[string]string{"package_search": `{"success":true,"result":null}`}}},
		{"search and lists denied",
			fake{wrong: map[string]string{"package_search": denied, "current_package_list_with_resources": denied}}},
		{
			"search by names",
			fake{
				wrong: map[string]string{
					"package_search": `{"success":true,"result":["set-00","set-01","set-02","set-03","set-04","set-05","set-06","set-07",` +
						`"set-08","set-09"]}`}}},
		{"POST only", fake{before: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				q := parseBody(r)
				r.URL.RawQuery = q
				return false
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return true
		}}},
	} {
		c.fake.packages = packages(10)
		notes, err := portaltest.Harvest(t, c.fake.source(), "")
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		got := slices.Sorted(slices.Values(notes.IRIs()))
		if !slices.Equal(got, all(10)) || !notes.Whole {
			t.Errorf("%s: got %d: %v", c.about, len(got), got)
		}
		if len(c.fake.asked) > 80 {
			t.Errorf("%s: %d requests", c.about, len(c.fake.asked))
		}
		portaltest.Resumes(t, c.fake.source())
	}
}

func TestAPackageThatThePortalFailsToShowIsUnknownAndOneThatItRefusesIsNot(t *testing.T) {
	t.Parallel()
	denied := `403 {"success":false,"error":{"__type":"Authorization Error","message":"Access denied"}}`
	f := fake{packages: packages(10), wrong: map[string]string{"package_search": denied, "current_package_list_with_resources": denied}}
	shows := 0
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "package_show") {
			return false
		}
		switch shows++; r.FormValue("id") {
		case "set-04":
			http.Error(w, "<html><title>Oops</title>", http.StatusNotImplemented) // like 500, but not worth another attempt
		case "set-06":
			http.Error(w, `{"success":false,"error":{"message":"Not found"}}`, http.StatusNotFound)
		default:
			return false
		}
		return true
	}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || len(notes.Datasets) != 8 || !slices.Equal(notes.Unread, []string{"https://data.example/dataset/set-04"}) ||
		len(notes.Skipped) != 2 {
		t.Fatalf("%v, %d packages, unknown %q, skipped %q", err, len(notes.Datasets), notes.Unread, notes.Skipped)
	}
}

func parseBody(r *http.Request) string {
	text := make([]byte, 4096)
	n, _ := r.Body.Read(text)
	v, _ := loose.Parse(text[:n])
	q := r.URL.Query()
	for k, m := range v.Members() {
		q.Set(k, m.Text())
	}
	return q.Encode()
}

func TestTheFirstVersionsAreReadThroughTheirOwnInterface(t *testing.T) {
	t.Parallel()
	web := http.NewServeMux()
	web.HandleFunc("/api/rest/package", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `["b","a"]`) })
	web.HandleFunc("/api/rest/package/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"id":"1-%[1]s","name":%[1]q,"title":"Old","tags":["x","y"],"groups":["g"],"license":"OKD Compliant::Other","license_id":"other-open",
			"extras":{"update_frequency":"\"monthly\""},"resources":[{"url":"http://old.example/%[1]s.xls","format":"","description":"the table"}]}`, r.PathValue("name"))
	})
	notes, err := portaltest.Harvest(t, New(portalapi.Source{URL: "http://old.example/", HTTP: &portaltest.Web{Handler: web}}), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "rest.golden", notes.String())
}

func TestAnIncrementalHarvestBringsWhatChangedAndSomethingIsDeletedForGood(t *testing.T) {
	t.Parallel()
	f := &fake{packages: packages(10)}
	first, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || first.NextMark == "" {
		t.Fatalf("%v, next %q", err, first.NextMark)
	}
	portaltest.Counts(t, f.source(), 10)
	f.packages = append(slices.Delete(f.packages, 3, 6),
		parse(`{"id":"new","name":"new","metadata_modified":"2026-02-01T00:00:00.5"}`),
		parse(`{"id":"id-03","name":"set-03","state":"deleted","metadata_modified":"2026-02-02T00:00:00"}`),
		parse(`{"id":"id-04","name":"set-04","private":"True","metadata_modified":"2026-02-02T00:00:01"}`),
		parse(`{"id":"id-05","name":"set-05","state":"draft","metadata_modified":"2026-02-02T00:00:02"}`))
	f.asked = nil
	second, err := portaltest.Harvest(t, f.source(), first.NextMark)
	if err != nil || second.Whole || !slices.Contains(second.IRIs(), "https://data.example/dataset/new") || len(second.Datasets) == 10 {
		t.Fatalf("%v, whole %v, %v", err, second.Whole, second.IRIs())
	}
	want := []string{"https://data.example/dataset/set-03", "https://data.example/dataset/set-04", "https://data.example/dataset/set-05"}
	if !slices.Equal(second.GoneIRIs, want) {
		t.Fatalf("gone: %v", second.GoneIRIs)
	}
	if !strings.Contains(second.NextMark, "2026-02-02") || !strings.Contains(second.NextMark, "whole=2026-03-01") {
		t.Fatalf("next %q", second.NextMark)
	}
	weekOld := strings.Replace(second.NextMark, "2026-03-01", "2026-02-20", 1)
	if third, err := portaltest.Harvest(t, f.source(), weekOld); err != nil || !third.Whole {
		t.Fatalf("after a week: whole %v, %v", third.Whole, err)
	}
}

// In CKAN's logic/action/get.py, package_list selects the names of all active packages that are not private, of each
// type; the second version of the interface has their IDs instead.
func TestTheNamesOfAPortalAreTheIRIsOfItsPackages(t *testing.T) {
	t.Parallel()
	f := &fake{packages: append(packages(2), parse(`{"id":"3","name":"Übersicht 1"}`))}
	whole, err := portaltest.Harvest(t, f.source(), "")
	names, ok := f.source().Names(t.Context())
	if err != nil || !ok || !slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(whole.IRIs()))) {
		t.Errorf("%v, %v: %q, and packages %q", err, ok, names, whole.IRIs())
	}
	f.wrong = map[string]string{"package_list": `403 {"success":false,"error":{"__type":"Authorization Error","message":"Access denied"}}`}
	if names, ok := f.source().Names(t.Context()); ok {
		t.Errorf("a portal that refuses its list: %q", names)
	}
}

func TestPackagesThatChangeMeanwhileAreNeitherLostNorPushOthersOut(t *testing.T) {
	t.Parallel()
	f := &fake{packages: packages(30)}
	searches := 0
	f.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "package_search") {
			if searches++; searches < 8 { // the first package moves to the end
				oldest := slices.MinFunc(f.packages, func(a, b loose.Value) int {
					return strings.Compare(a.Get("metadata_modified").Text(), b.Get("metadata_modified").Text())
				})
				name := oldest.Get("name").Text()
				f.packages = slices.DeleteFunc(f.packages, func(v loose.Value) bool { return v.Get("name").Text() == name })
				f.packages = append(f.packages,
					parse(fmt.Sprintf(`{"id":%q,"name":%q,"metadata_modified":"2026-02-01T00:00:0%d"}`, oldest.Get("id").Text(), name,
						searches)))
			}
		}
		return false
	}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if got := slices.Sorted(slices.Values(notes.IRIs())); err != nil || !slices.Equal(got, all(30)) {
		t.Fatalf("%v, %d packages: %v", err, len(got), got)
	}
}

func TestAPartIsWhatChangedSinceADate(t *testing.T) {
	t.Parallel()
	f := &fake{packages: packages(10)}
	h, err := harvest.Select(f.source(), harvest.Selection{Since: "2026-01-01T00:05:00Z"})
	if err != nil {
		t.Fatal(err)
	}
	notes, err := portaltest.Harvest(t, h, "")
	if err != nil || notes.Whole || len(notes.Datasets) != 5 || notes.NextMark != "" {
		t.Fatalf("%v, whole %v, %d packages, next %q", err, notes.Whole, len(notes.Datasets), notes.NextMark)
	}
	portaltest.Resumes(t, h)
	for want, part := range map[string]harvest.Selection{`"lately" is not a date`: {Since: "lately"},
		"cannot be narrowed by set=x": {Since: "2026-01-01", Sets: []string{"x"}}} {
		if _, err := harvest.Select(f.source(), part); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", part, err)
		}
	}
}

func TestABrokenPackageCostsItselfOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{packages: packages(10), poison: "id-06"}
		notes, err := portaltest.Harvest(t, f.source(), "")
		if err != nil || len(notes.Datasets) != 9 || len(notes.Skipped) != 1 || !strings.Contains(notes.Skipped[0], "package number 2: ") ||
			!strings.Contains(notes.Skipped[0], "500") {
			t.Fatalf("%v, %d packages, skipped %q", err, len(notes.Datasets), notes.Skipped)
		}
	})
}

func TestWhatIsWrongIsSaidInOneSentenceAndWhatWasGoodIsKept(t *testing.T) {
	t.Parallel()
	later := func(answer string, status int) func(http.ResponseWriter, *http.Request) bool {
		searches := 0
		return func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "package_search") {
				searches++
			}
			if searches < 3 {
				return false
			}
			w.WriteHeader(status)
			fmt.Fprint(w, answer)
			return true
		}
	}
	half := `{"success":true,"result":{"count":10,"results":[{"id":"id-20","name":"set-20","metadata_modified":"2026-01-05T00:00:00"},{"i` +
		`d":"x","na`
	for _, c := range []struct {
		about, want string
		fake        fake
		kept        int
	}{
		{"a login page later", "answered with a login page instead of JSON",
			fake{before: later(`<html><form><input type="password"></form></html>`, 200)}, 7},
		{"a page later", `answered with a web page ("Zürich öffnet") instead of JSON`,
			fake{before: later("<html><head><title>Zürich\n öffnet</title>", 200)}, 7},
		{"half a JSON later", "breaks off after", fake{before: later(half, 200)}, 8},
		{"gone later", "410 Gone", fake{before: later("", 410)}, 7},
		{"not a portal at all", "404 Not Found", fake{apis: []string{"/none/"}}, 0},
		{"nothing but pages", `a web page ("Welcome")`, fake{before: func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprint(w, "<!doctype html><html><title>Welcome</title>")
			return true
		}}, 0},
		{"the same page for ever", "the same packages again and again", fake{before: func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "package_search") {
				fmt.Fprint(w, `{"success":true,"result":{"count":99999,"results":[{"id":"a","name":"a"}]}}`)
				return true
			}
			return false
		}}, 1},
	} {
		c.fake.packages = packages(10)
		notes, err := portaltest.Harvest(t, c.fake.source(), "")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(notes.Datasets) != c.kept ||
			notes.NextMark != "" {
			t.Errorf("%s: %d packages, %v", c.about, len(notes.Datasets), err)
		}
	}
}

// The files are packages as portals return them and as they are sent to portals.
func TestAPortalThatCountsPackagesAndReturnsNoneSaysBoth(t *testing.T) {
	t.Parallel()
	counts := fake{wrong: map[string]string{
		"current_package_list_with_resources": `{"success":true,"result":[]}`,
		"package_list":                        `{"success":true,"result":[]}`,
	}}
	for _, n := range []int{10, 10_000} { // on one page, and on several
		counts.wrong["package_search"] = fmt.Sprintf(`{"success":true,"result":{"count":%d,"results":[]}}`, n)
		notes, err := portaltest.Harvest(t, counts.source(), "")
		if want := fmt.Sprintf("the portal says that it lists %d packages but returned 0", n); err != nil || len(notes.Unread) != 1 ||
			!slices.Contains(notes.Skipped, want) {
			t.Errorf("%v; %q, %q", err, notes.Unread, notes.Skipped)
		}
	}
}

func TestRealPackages(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(shared.Data(t, "portals", "ckanext-dcat", "examples", "ckan"), "ckan_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var yields strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := loose.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		f := &fake{packages: []loose.Value{v}} // two of them share a name, so each has a portal to itself
		notes, err := portaltest.Harvest(t, f.source(), "")
		if err != nil || len(notes.Datasets) != 1 || len(notes.Skipped) > 0 {
			t.Fatalf("%s: %v, %d, %v", name, err, len(notes.Datasets), notes.Skipped)
		}
		fmt.Fprintf(&yields, "%s: %s", filepath.Base(name), notes.Yield())
	}
	portaltest.Golden(t, "yields.golden", yields.String())
}

func TestFieldsAreFoundWhereverPortalsPutThem(t *testing.T) {
	t.Parallel()
	f := &fake{packages: []loose.Value{
		parse(`{"id":"1","name":"swiss","title":{"de":"Bäume","fr":"Arbres","it":""},"description":{"de":"<p>Alle <b>Bäume</b></p>"},"keywords":{"de":["baum","stadt"],"fr":["arbre"]},
			"publisher":"{\"name\":\"Stadt Zürich\",\"url\":\"https://zuerich.example\"}","contact_points":[{"name":"OGD","email":"ogd@example.org"}],"accrual_periodicity":"http://publications.europa.eu/resource/authority/frequency/ANNUAL",
			"temporals":[{"start_date":"2010-01-01T00:00:00","end_date":"2011-01-01T00:00:00"}],"groups":[{"name":"env","display_name":{"de":"Umwelt","fr":"Environnement"}}],"spatial":"Zürich","language":["de"],
			"resources":[{"id":"r1","download_url":"https://zuerich.example/b.csv","url":"https://zuerich.example/page","title":{"de":"Tabelle"},"byte_size":"1024","media_type":"text/csv","rights":"NonCommercialAllowed-CommercialAllowed-ReferenceRequired"}]}`),
		parse(`{"id":"2","name":"canada","title":"Trees","title_translated":{"en":"Trees","fr-t-en":"Arbres"},"notes_translated":{"en":"All"},"keywords":{"en":["tree"]},"frequency":"P1M","time_period_coverage_start":"2001-02-03",
			"license_id":"ca-ogl-lgo","license_title":"Open Government Licence","license_url":"http://open.example/licence","spatial":"{\"type\": \"Polygon\", \"coordinates\": [[[1,2],[3,4],[5,6],[1,2]]]}",
			"resources":[{"id":"r","url":"/dataset/x/a.csv","name_translated":{"en":"The table"},"hash":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","state":"active"},{"id":"gone","url":"/b.csv","state":"deleted"},
			{"id":"w","url":"https://a.example/wms?","format":"WMS"},{"id":"none","url":""},null,"https://a.example/bare.csv"]}`),
		parse(`{"id":"3","name":"austria","title":"Bäume","tags":"wrong","extras":[{"key":"begin_datetime","value":"2015-01-01T00:00:00"},{"key":"geographic_bbox","value":"POLYGON ((16.18 48.11, 16.57 48.11, 16.57 48.32, 16.18 48.32, 16.18 48.11))"},
			{"key":"geographic_toponym","value":"Wien"},{"key":"update_frequency","value":"jährlich"},{"key":"theme","value":"[\"http://a.example/t1\", \"http://a.example/t2\"]"},{"key":"","value":1},null,7],
			"organization":{"name":"wien","title":"Stadt Wien"},"author":"Ann","author_email":"mailto:ann@example.org","resources":{"url":"www.wien.example/no-list.csv"}}`),
		parse(
			`{"id":"4","name":"wrong ` +
				`everywhere","title":["x"],"notes":7,"extras":"no","tags":{"a":1},"groups":null,"organization":"org","resources":"none","` +
				`spatial":{"type":7},"temporal":{"x":[]},"license_id":[],"private":"no"}`),
	}}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "fields.golden", notes.String())
}

func FuzzPackages(f *testing.F) {
	f.Add(
		[]byte(
			`{"id":"1","name":"a","title":{"de":"x"},"extras":[{"key":"k","value":"[1]"}],"tags":[{"name":"t"}],"resources":[{"url":"u","` +
				`size":"1","hash":"md5:0"}],"spatial":"{\"type\":\"Point\",\"coordinates\":[1,2]}"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := loose.Parse(text)
		if err != nil {
			return
		}
		if d := dataset("https://data.example", v); d.IRI == "" {
			t.Fatalf("no IRI for %q", text)
		}
	})
}
