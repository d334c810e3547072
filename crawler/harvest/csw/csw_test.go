package csw

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
)

// catalog is a service with n records, each changed a day after the one before.
type catalog struct {
	n        int
	schemas  string // as declared by the capabilities
	onlyPost bool
	noSince  bool // has no queryable "modified"
	asked    []string
}

func (c *catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/xml")
	ask := func(name string) string { return r.URL.Query().Get(name) }
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		ask = func(name string) string {
			_, rest, _ := strings.Cut(string(body), name+`="`)
			value, _, _ := strings.Cut(rest, `"`)
			if name == "constraint" {
				_, rest, _ = strings.Cut(string(body), "<ogc:Literal>")
				value, _, _ = strings.Cut(rest, "<")
			}
			return value
		}
	} else if ask("request") == "GetCapabilities" {
		fmt.Fprintf(w, `<csw:Capabilities xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ows="http://www.opengis.net/ows"><ows:ServiceIdentification><ows:Title>Maps</ows:Title></ows:ServiceIdentification>
			<ows:OperationsMetadata><ows:Operation name="GetRecords"><ows:Parameter name="outputSchema">%s</ows:Parameter></ows:Operation></ows:OperationsMetadata></csw:Capabilities>`, c.schemas)
		return
	} else if c.onlyPost {
		fmt.Fprint(w,
			`<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"><ows:Exception `+
				`exceptionCode="OperationNotSupported"><ows:ExceptionText>POST `+
				`only.</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`)
		return
	}
	c.asked = append(c.asked, r.Method+" "+ask("startPosition")+" "+ask("constraint"))
	since := strings.Trim(strings.TrimPrefix(ask("constraint"), "modified >= "), "'")
	if since != "" && c.noSince {
		fmt.Fprint(w,
			`<ows:ExceptionReport xmlns:ows="http://www.opengis.net/ows"><ows:Exception exceptionCode="NoApplicableCode" `+
				`locator="modified"/></ows:ExceptionReport>`)
		return
	}
	var records []string
	for i := range c.n {
		if stamp := fmt.Sprintf("2026-01-%02dT00:00:00Z", i+1); stamp >= since {
			records = append(records, c.record(i, stamp, ask("outputSchema")))
		}
	}
	start := max(1, number(ask("startPosition")))
	page := records[min(start-1, len(records)):min(start+2, len(records))]
	next := start + len(page)
	if next > len(records) {
		next = 0
	}
	fmt.Fprintf(w, `<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dct="http://purl.org/dc/terms/">
		<csw:SearchResults numberOfRecordsMatched="%d" numberOfRecordsReturned="%d" nextRecord="%d">%s</csw:SearchResults></csw:GetRecordsResponse>`, len(records), len(page), next, strings.Join(page, ""))
}

func (c *catalog) record(i int, stamp, schema string) string {
	if schema == iso19139 {
		return fmt.Sprintf(
			`<gmd:MD_Metadata><gmd:fileIdentifier><gco:CharacterString>id-%d</gco:CharacterString></gmd:fileIdentifier><gmd:dateStamp><gc`+
				`o:DateTime>%s</gco:DateTime></gmd:dateStamp></gmd:MD_Metadata>`, i, stamp)
	}
	return fmt.Sprintf(`<csw:Record><dc:identifier>id-%d</dc:identifier><dc:title>Map %d</dc:title><dct:modified>%s</dct:modified><dc:rights>https://creativecommons.org/publicdomain/zero/1.0/</dc:rights>
		<dct:references scheme="WWW:DOWNLOAD-1.0-http--download">http://maps.example/%d.zip</dct:references><dct:references scheme="OGC:WMS">http://maps.example/wms</dct:references>
		<ows:BoundingBox xmlns:ows="http://www.opengis.net/ows" crs="urn:x-ogc:def:crs:EPSG:6.11:4326"><ows:LowerCorner>45.8 5.9</ows:LowerCorner><ows:UpperCorner>47.8 10.5</ows:UpperCorner></ows:BoundingBox></csw:Record>`, i, i, stamp, i)
}

func (c *catalog) source() portalapi.Harvester {
	return New(portalapi.Source{URL: "https://maps.example/csw?service=CSW&request=GetCapabilities&map=1", Rows: 3,
		HTTP: &portaltest.Web{Handler: c}, Now: func() time.Time { return time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC) }})
}

func TestRecordsComePageByPage(t *testing.T) {
	t.Parallel()
	notes, err := portaltest.Harvest(t, (&catalog{n: 8}).source(), "")
	if err != nil || len(notes.Datasets) != 8 || !notes.Whole || len(notes.Skipped) > 0 {
		t.Fatalf("%v, %d records, whole %v, skipped %q", err, len(notes.Datasets), notes.Whole, notes.Skipped)
	}
	if notes.Portals[0].Title != "Maps" || notes.Portals[0].IRI != "https://maps.example/csw?map=1" {
		t.Errorf("the portal is %+v", notes.Portals[0])
	}
	if want := "https://maps.example/csw?map=1&elementSetName=full&id=id-0&outputSchema=http%3A%2F%2Fwww.isotc211.org%2F2005%2Fgmd&reques" +
		"t=GetRecordById&service=CSW&version=2.0.2"; notes.Datasets[0].IRI != want {
		t.Errorf("the first is %s", notes.Datasets[0].IRI)
	}
}

func TestACatalogWithoutGETIsAskedByPOST(t *testing.T) {
	t.Parallel()
	c := &catalog{n: 4, onlyPost: true}
	notes, err := portaltest.Harvest(t, c.source(), "")
	if err != nil || len(notes.Datasets) != 4 || strings.Join(c.asked, ",") != "POST 1 ,POST 4 " {
		t.Fatalf("%v, %d records, asked %q", err, len(notes.Datasets), c.asked)
	}
}

func TestTheSecondHarvestAsksForWhatChanged(t *testing.T) {
	t.Parallel()
	c := &catalog{n: 8}
	first, err := portaltest.Harvest(t, c.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	c.n, c.asked = 9, nil
	second, err := portaltest.Harvest(t, c.source(), first.NextMark)
	if err != nil || second.Whole || len(second.Datasets) != 2 { // the last one of before, and the new one
		t.Fatalf("%v, whole %v, %d records; asked %q", err, second.Whole, len(second.Datasets), c.asked)
	}
	c.noSince = true
	third, err := portaltest.Harvest(t, c.source(), first.NextMark)
	if err != nil || !third.Whole || len(third.Datasets) != 9 {
		t.Fatalf("%v, whole %v, %d records of a catalog that cannot tell", err, third.Whole, len(third.Datasets))
	}
}

func TestDublinCoreIsTakenWhereThereIsNothingRicher(t *testing.T) {
	t.Parallel()
	c := &catalog{n: 1, schemas: "<ows:Value>http://www.opengis.net/cat/csw/2.0.2</ows:Value>"}
	notes, err := portaltest.Harvest(t, c.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "dublincore.golden", notes.String())
}

func TestWhatIsNoCatalogIsSaidInOneSentence(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"<html><title>Maps</title>":           `a web page ("Maps") instead of a catalog`,
		`{"error": 1}`:                        "neither a catalog service",
		"<rss/>":                              "neither a catalog service",
		"<csw:Capabilities/>":                 "not answer with a list of records",
		"<csw:GetRecordsResponse><csw:Search": "breaks off",
		`<ows:ExceptionReport><ows:Exception exceptionCode="X"><ows:ExceptionText>Down for` + "\n" +
			`maintenance.</ows:ExceptionText></ows:Exception></ows:ExceptionReport>`: "the catalog says: X Down for maintenance",
	} {
		source := New(portalapi.Source{URL: "https://maps.example/csw",
			HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })}})
		_, err := portaltest.Harvest(t, source, "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want %q in it", body, err, want)
		}
	}
}

// TestEveryFileOfRealCatalogsIsHarvested compares a summary of each file with a golden file.
func TestEveryFileOfRealCatalogsIsHarvested(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "portals")
	var yields, fields strings.Builder
	for _, dir := range []string{"geocat", "udata/udata/harvest/tests/csw_dcat"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			body, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			source := New(portalapi.Source{URL: "https://maps.example/saved.xml",
				HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })}})
			notes, harvestErr := portaltest.Harvest(t, source, "")
			fmt.Fprintf(&yields, "%s\n%s", filepath.ToSlash(name), notes.Yield())
			if harvestErr != nil {
				fmt.Fprintf(&yields, "  error: %v\n", harvestErr)
			}
			if base := filepath.Base(name); base == "result_1.xml" || base == "geonetwork-iso19139-page-3.xml" {
				fmt.Fprintf(&fields, "# %s\n%s\n", filepath.ToSlash(name), notes)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	portaltest.Golden(t, "yields.golden", yields.String())
	portaltest.Golden(t, "fields.golden", fields.String())
}

func FuzzParse(f *testing.F) {
	f.Add(
		[]byte(
			`<a:GetRecordsResponse><a:SearchResults numberOfRecordsMatched="2" ` +
				`nextRecord="3"><gmd:MD_Metadata><gmd:fileIdentifier><gco:CharacterString>x</gco:CharacterString></gmd:fileIdentifier></g` +
				`md:MD_Metadata></a:SearchResults></a:GetRecordsResponse>`))
	f.Add(
		[]byte(
			`<csw:Record><dc:identifier>x</dc:identifier><ows:BoundingBox crs="urn:x"><ows:LowerCorner>1 ` +
				`2</ows:LowerCorner><ows:UpperCorner>3 4</ows:UpperCorner></ows:BoundingBox></csw:Record>`))
	f.Add(
		[]byte(
			`<dcat:Dataset xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ` +
				`rdf:about="http://a.example/"/>`))
	f.Add(
		[]byte(
			`<mdb:MD_Metadata><mdb:identificationInfo><srv:SV_ServiceIdentification><srv:containsOperations><a><srv:connectPoint><b><cit:` +
				`linkage><c>http://a.example/</c></cit:linkage></b></srv:connectPoint></a></srv:containsOperations></srv:SV_ServiceIdenti` +
				`fication></mdb:identificationInfo></mdb:MD_Metadata>`))
	f.Fuzz(func(t *testing.T, body []byte) {
		source := New(portalapi.Source{URL: "https://maps.example/csw",
			HTTP: &portaltest.Web{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })}})
		notes, _ := portaltest.Harvest(t, source, "")
		for _, d := range notes.Datasets {
			d.Quads("https://maps.example/csw")
			d.Seeds(harvest.Portal{})
		}
	})
}
