package portals

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// dataciteFake is an API with n entries.
type dataciteFake struct {
	n     int
	entry string
	asked []string
}

func (f *dataciteFake) source() portalapi.Harvester {
	return NewDataCite(portalapi.Source{URL: "https://api.example/dois?client-id=herbarium", HTTP: &portaltest.Web{Handler: f}, Rows: 3,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *dataciteFake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	q := r.URL.Query()
	if r.URL.Path != "/dois" || q.Get("client-id") != "herbarium" || q.Get("resource-type-id") != "dataset" {
		http.NotFound(w, r)
		return
	}
	first := 0
	fmt.Sscanf(q.Get("page[cursor]"), "c%d", &first)
	var list []string
	for i := first; i < min(first+3, f.n); i++ {
		if f.entry != "" {
			list = append(list, f.entry)
			continue
		}
		list = append(list, fmt.Sprintf(
			`{"id":"10.1/%d","type":"dois","attributes":{"doi":"10.1/%d","titles":[{"title":"T"}],"updated":"2026-01-0%dT00:00:00Z","stat`+
				`e":"findable"}}`, i, i, i%9+1))
	}
	next := ""
	if first+3 < f.n {
		next = fmt.Sprintf(`"next":"https://api.example/dois?page%%5Bcursor%%5D=c%d"`, first+3)
	}
	fmt.Fprintf(w, `{"data":[%s],"meta":{"total":%d},"links":{%s}}`, strings.Join(list, ","), f.n, next)
}

func TestEntriesComeByTheirCursorAndChangesAfterwards(t *testing.T) {
	t.Parallel()
	f := &dataciteFake{n: 8}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || len(notes.Datasets) != 8 || len(notes.Skipped) > 0 {
		t.Fatalf("%v, %d entries, %v", err, len(notes.Datasets), notes.Skipped)
	}
	f.asked = nil
	again, err := portaltest.Harvest(t, f.source(), notes.NextMark)
	if err != nil || again.Whole || !strings.Contains(f.asked[0], "query=updated%3A%5B2026-01-07T23%3A50%3A00Z+TO+%2A%5D") {
		t.Fatalf("%v, asked %q", err, f.asked)
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	f := &dataciteFake{n: 1, entry: `{"id":"10.1/x","attributes":{"doi":"10.1/x","titles":[{"title":"Bark","lang":"en"},{"title":"Rinde","lang":"de"}],"descriptions":[{"description":"All","descriptionType":"Abstract"}],"subjects":[{"subject":"bark"}],
		"creators":[{"name":"Ann","nameType":"Personal","nameIdentifiers":[{"nameIdentifier":"https://orcid.org/0000-0001"}]}],"publisher":{"name":"Herbarium"},"publicationYear":2025,"dates":[{"date":"2010/2012","dateType":"Collected"},{"date":"2025-02-03","dateType":"Issued"}],
		"rightsList":[{"rights":"CC BY","rightsUri":"https://cc.example/by"}],"geoLocations":[{"geoLocationBox":{"westBoundLongitude":"16","eastBoundLongitude":"17","southBoundLatitude":"48","northBoundLatitude":"49"},"geoLocationPlace":"Wien"},{"geoLocationPoint":{"pointLongitude":16.3,"pointLatitude":48.2}}],
		"relatedIdentifiers":[{"relationType":"IsPartOf","relatedIdentifier":"10.1/all","relatedIdentifierType":"DOI"}],"url":"https://herbarium.example/x","contentUrl":["https://herbarium.example/x.csv"],"formats":["text/csv"],"sizes":["12 bytes"],"version":"1","updated":"2026-01-01T00:00:00Z"}}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "fields.golden", notes.String())
}

func FuzzEntries(f *testing.F) {
	f.Add(
		[]byte(
			`{"titles":[{"title":"x","lang":"en"}],"geoLocations":[{"geoLocationPoint":{"pointLongitude":1}}],"dates":[{"date":"1","dateT` +
				`ype":"Issued"}],"contentUrl":"x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := loose.Parse(text); err == nil {
			dataciteDataset("10.1/x", v)
		}
	})
}
