package sparqlapi_test

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/hosts"
	"odarchive/ns"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/data"
	sparqlapidescribe "odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/replicate"
	"odarchive/sparqlapi/rest"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
)

const token = "a token that must never reach a log"

// keeper has no tokens.
type keeper struct{}

func (keeper) ListTokens(context.Context) ([]access.Listed, error) { return nil, nil }
func (keeper) RevokeToken(context.Context, string) ([]access.Listed, error) {
	return nil, access.ErrNoName
}

// campaigns is a store with one campaign, "city".
type campaigns struct{}

func (campaigns) List(context.Context) ([]campaign.Campaign, error) { return nil, nil }

func (c campaigns) Show(_ context.Context, name string) (campaign.Shown, error) {
	one, err := c.Pause(context.Background(), name)
	return campaign.Shown{Campaign: one}, err
}

func (campaigns) Run(_ context.Context, d campaign.Document) (c campaign.Campaign, err error) {
	c.Document, err = d.Normalise()
	return c, err
}

func (campaigns) Pause(_ context.Context, name string) (c campaign.Campaign, err error) {
	if c.Document.Name = name; name != "city" {
		err = campaign.ErrUnknown
	}
	return c, err
}

func (c campaigns) Resume(ctx context.Context, name string) (campaign.Campaign, error) {
	return c.Pause(ctx, name)
}
func (c campaigns) Stop(ctx context.Context, name string) (campaign.Campaign, error) {
	return c.Pause(ctx, name)
}

// archive is a small archive in memory: three files with two versions each.
type archive struct {
	mint      ns.Mint
	resources []catalog.Resource
	versions  map[string][]catalog.Version
	posted    []catalog.Seed
}

func newArchive() *archive {
	a := &archive{mint: ns.Mint{Base: "http://archive.example/"}, versions: map[string][]catalog.Version{}}
	for i, address := range []string{"http://data.example/a.csv", "http://data.example:8080/b.json?x=1&y=2",
		"https://other.example/c d.csv"} {
		id := ns.ResourceID(address)
		at := time.Date(2026, 11, 20, 10, 0, i, 0, time.UTC)
		res := catalog.Resource{ID: id, URL: address, Host: []string{"data.example", "data.example:8080", "other.example"}[i],
			Title: "File " + string(rune('A'+i)), Format: "CSV",
			MediaType: []string{"text/csv", "application/json", "text/csv"}[i], FileName: "f.csv",
			Portals: []string{"http://portal.example/"}, Datasets: []string{"http://portal.example/d/" + strconv.Itoa(i)},
			Added: at, Versions: 2, Size: 5, FirstSeen: at, Changed: at.Add(time.Hour), Visits: 3, LastVisit: at.Add(2 * time.Hour),
			NextVisit: at.Add(3 * time.Hour), Interval: time.Hour, Outcome: catalog.Unchanged}
		for n := range 2 {
			data := fmt.Sprint(address, n)
			a.versions[address] = append(a.versions[address],
				catalog.Version{ID: ns.VersionID(id, n), URL: address, N: n, Size: int64(len(data)), Type: res.MediaType, FileName: "f.csv",
					At:      at.Add(time.Duration(n) * time.Hour),
					Digests: catalog.Digests{SHA256: sha256.Sum256([]byte(data)), MD5: md5.Sum([]byte(data))}})
		}
		a.resources = append(a.resources, res)
	}
	return a
}

func (a *archive) Stats(context.Context) (catalog.Stats, error) {
	return catalog.Stats{Resources: 3, Hosts: 3, Versions: 6, Portals: 1, Triples: 99,
		Types: []catalog.Count{{Key: "text/csv", Count: 4}, {Key: "application/json", Count: 2}}}, nil
}

func (a *archive) Archived(_ context.Context, after string, f func(catalog.Resource) bool) error {
	return a.each(after, f, func(catalog.Resource) bool { return true })
}

func (a *archive) ResourcesOfHost(_ context.Context, host, after string, f func(catalog.Resource) bool) error {
	return a.each(after, f, func(r catalog.Resource) bool { return r.Host == host })
}

func (a *archive) ResourcesOfType(_ context.Context, mediaType, after string, f func(catalog.Resource) bool) error {
	return a.each(after, f, func(r catalog.Resource) bool { return r.MediaType == mediaType })
}

func (a *archive) each(after string, f, which func(catalog.Resource) bool) error {
	list := slices.Clone(a.resources)
	slices.SortFunc(list, func(x, y catalog.Resource) int { return strings.Compare(x.ID, y.ID) })
	for _, r := range list {
		if r.ID > after && which(r) && !f(r) {
			break
		}
	}
	return nil
}

// Search finds all files whatever is asked.
func (a *archive) Search(_ context.Context, s catalog.Search) (catalog.Found, error) {
	f := catalog.Found{Total: len(a.resources), Next: "mark", Types: []catalog.Count{{Key: "text/csv", Count: 1, Bytes: 9}},
		Ages: []catalog.Count{{Key: "30", Count: 1}}, About: map[string]catalog.About{}, Partly: true, Missing: []string{"x"},
		Corrected: []catalog.Correction{{Word: "y", By: "z"}}}
	if s.Text == "broken" {
		return f, catalog.BadQuestion("A sentence.")
	}
	for _, r := range a.resources {
		f.Resources = append(f.Resources, r)
		f.About[r.ID] = catalog.About{Score: 1.5, Publisher: "Somebody", Licence: "CC-BY", Rows: 3,
			Text: []catalog.Piece{{Text: "A "}, {Text: "tree", Found: true}}}
	}
	return f, nil
}

func (a *archive) Resource(_ context.Context, urlOrID string) (catalog.Resource, error) {
	for _, r := range a.resources {
		if r.URL == urlOrID || r.ID == urlOrID {
			return r, nil
		}
	}
	return catalog.Resource{}, fmt.Errorf("archive: resource %s: %w", urlOrID, errUnknown)
}

func (a *archive) Events(context.Context, catalog.EventQuery) (catalog.Events, error) {
	return catalog.Events{List: []catalog.Event{a.event()}}, nil
}

func (a *archive) Event(_ context.Context, number uint64) (catalog.Event, error) {
	if number > 0 {
		return catalog.Event{}, fmt.Errorf("archive: event %d: %w", number, errUnknown)
	}
	return a.event(), nil
}

// event returns an event in which nothing is missing.
func (a *archive) event() catalog.Event {
	r := a.resources[0]
	versions := a.versions[r.URL]
	return catalog.Event{Kinds: []string{"rows", "schema"}, At: versions[1].At, URL: r.URL, Title: r.Title, Portals: r.Portals,
		Datasets: r.Datasets, Version: versions[1].ID, N: 1,
		Previous: versions[0].ID, Type: "text/csv", Size: 9, Before: 8, Rows: catalog.RowChange{Added: 1}, From: "a", To: "b",
		Why:     "it is so",
		Columns: catalog.SchemaChange{Added: []string{"x"}, Retyped: []catalog.Retyped{{Name: "y", From: "date", To: "string"}}}}
}

func (a *archive) EventCount() (uint64, error) { return 1, nil }

func (a *archive) VersionsLogged(context.Context, uint64, uint64) ([]catalog.Version, error) {
	return a.versions[a.resources[0].URL][:1], nil
}

func (a *archive) EventBounds(int, uint64) (first, last time.Time, ok bool, err error) {
	return first, last, false, nil
}

func (a *archive) Versions(_ context.Context, address string) ([]catalog.Version, error) {
	return a.versions[address], nil
}

func (a *archive) Hosts(_ context.Context, limit int) ([]catalog.HostHealth, error) {
	return []catalog.HostHealth{{Host: "data.example", Resources: 2, Versions: 4},
		{Host: "other.example", Resources: 1, Versions: 2}}[:min(limit, 2)], nil
}

func (a *archive) Activities(_ context.Context, q catalog.ActivityQuery) ([]catalog.Activity, error) {
	at := a.versions[q.URL][0].At
	return []catalog.Activity{
		{URL: q.URL, Start: at.Add(2 * time.Hour), Outcome: catalog.NoVersion, ErrorClass: catalog.ErrTimeout, Why: "no answer in 30 s"},
		{URL: q.URL, Start: at.Add(time.Hour), Outcome: catalog.Archived}, {URL: q.URL, Start: at, Outcome: catalog.Archived}}, nil
}

func (a *archive) Add(_ context.Context, seeds []catalog.Seed) ([]bool, error) {
	fresh := make([]bool, len(seeds))
	for i, s := range seeds {
		_, err := a.Resource(context.Background(), s.URL)
		fresh[i] = err != nil
	}
	a.posted = append(a.posted, seeds...)
	return fresh, nil
}

func (a *archive) CrawlNow(_ context.Context, id, host string) (n int, err error) {
	for _, r := range a.resources {
		if r.ID == id || r.Host == host {
			n++
		}
	}
	return n, nil
}

var errUnknown = fmt.Errorf("not in the archive")

// pages replaces package ui.
type pages struct{}

func (pages) Routes(r chi.Router) {
	r.Get("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, strings.Repeat("<p>home</p>", 500))
	})
}
func (pages) Version(w http.ResponseWriter, _ *http.Request, id string) error {
	return say(w, "page of "+id)
}
func (pages) Dataset(w http.ResponseWriter, r *http.Request) error {
	return say(w, "page of "+r.URL.Query().Get("url"))
}
func (pages) Vocabulary(w http.ResponseWriter, _ *http.Request, quads []term.Quad) error {
	return say(w, fmt.Sprint(len(quads), " statements"))
}
func (pages) ErrorPage(http.ResponseWriter, *http.Request, *problem.Error) bool { return false }

func say(w http.ResponseWriter, text string) error {
	w.Header().Set("Content-Type", "text/html")
	_, err := io.WriteString(w, text)
	return err
}

func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, name, " ", r.Method)
	})
}

// server serves all routes over the small archive.
// noCommands runs no command.
type noCommands struct{}

func (noCommands) Run(w http.ResponseWriter, _ *http.Request) error  { return say(w, "run") }
func (noCommands) Stop(w http.ResponseWriter, _ *http.Request) error { return say(w, "stop") }

func server(t testing.TB, change func(*sparqlapi.Options)) (http.Handler, *archive) {
	t.Helper()
	a := newArchive()
	var quads []term.Quad
	for _, r := range a.resources {
		quads = append(quads, describe.Resource(r)...)
		for _, v := range a.versions[r.URL] {
			quads = append(quads, describe.Version(a.mint, v)...)
		}
	}
	store := naive.New(quads...)
	o := sparqlapi.Options{
		Errors: problem.Table{{Err: catalog.ErrQuestion, Status: 400, Title: "Not a search", Public: true},
			{Err: errUnknown, Status: 404, Title: "Not in the archive", Public: true}},
		Guard:  sparqlapi.NewGuard(access.NewTokens(access.Single(token)), sparqlapi.Site{Base: "http://archive.example/"}),
		SPARQL: echo("sparql"), GraphStore: echo("graph store"), Versions: fakeFiles{}, Members: fakeFiles{}, Zips: fakeFiles{},
		Mementos: fakeFiles{}, CDX: echo("cdx"), Metrics: echo("metrics"), Check: echo("check"), Replicate: &replicate.API{},
		Figures: echo("figures"),
		Changes: &data.ChangesAPI{}, ChangeLog: data.NewLog(data.LogOptions{}), Dumps: &files.DumpsAPI{}, Related: &files.RelatedAPI{},
		Rows: data.NewRows(nil), Histories: data.NewHistories(nil),
		Search: &data.SearchAPI{Archive: a, Mint: a.mint, Now: func() time.Time { return time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC) }},
		Feeds:  &sparqlapidescribe.FeedsAPI{Archive: a, Mint: a.mint}, LDES: &sparqlapidescribe.StreamAPI{Archive: a, Mint: a.mint},
		Audits: &operate.AuditAPI{}, Evidence: &files.EvidenceAPI{},
		Citations: &sparqlapidescribe.CitationAPI{Collector: &sparqlapidescribe.Collector{Mint: a.mint}},
		Access:    &access.API{Keeper: keeper{}},
		Control: &operate.ControlAPI{HarvestTable: harvests{}, Withdrawals: withdrawals{}, Retained: withdrawals{},
			CampaignStore: campaigns{}, Settings: hostSettings{}, Scope: noRules()}, REST: rest.New(a, a, a.mint), UI: pages{},
		Assistants: echo("assistants"),
		LinkedData: sparqlapidescribe.NewLinkedData(sparqlapidescribe.LinkedOptions{Archive: a, Mint: a.mint,
			View: func(_ context.Context, f func(term.Dataset) error) error { return f(store.Snapshot()) },
			Page: func(w http.ResponseWriter, _ *http.Request, iri string) error { return say(w, "page of "+iri) }}),
	}
	o.Commands = noCommands{}
	if change != nil {
		change(&o)
	}
	return sparqlapi.New(o), a
}

// ask sends a request; headers are alternating names and values.
func ask(h http.Handler, method, address, body string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, address, strings.NewReader(body))
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec.Result()
}

func text(t testing.TB, res *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fakeFiles replaces the packages that serve bytes and time maps. It lists one member, a.csv.
type fakeFiles struct{}

func (fakeFiles) Version(w http.ResponseWriter, r *http.Request, id string) error {
	return sayPlain(w, r, "file", id)
}
func (fakeFiles) Latest(w http.ResponseWriter, r *http.Request) error {
	address, own, err := target.URL(r)
	return cmp.Or(err, sayPlain(w, r, "latest", address, own.Encode()))
}
func (fakeFiles) Member(w http.ResponseWriter, r *http.Request, id, path string) error {
	return sayPlain(w, r, "member", id, path)
}
func (fakeFiles) Listed(_ context.Context, _, path string) (bool, error) { return path == "a.csv", nil }
func (fakeFiles) SPARQL(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "zip of a query")
}
func (fakeFiles) WARC(w http.ResponseWriter, r *http.Request) error  { return sayPlain(w, r, "warc") }
func (fakeFiles) WACZ(w http.ResponseWriter, r *http.Request) error  { return sayPlain(w, r, "wacz") }
func (fakeFiles) Count(w http.ResponseWriter, r *http.Request) error { return sayPlain(w, r, "count") }
func (fakeFiles) OfType(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "zip of type", target.Value(r, "*"))
}
func (fakeFiles) ByID(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "zip of ids")
}
func (fakeFiles) TimeGate(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "time gate", target.Value(r, "*"))
}
func (fakeFiles) Web(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "web", target.Value(r, "*"))
}
func (fakeFiles) TimeMapLink(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "time map in links", target.Value(r, "*"))
}
func (fakeFiles) TimeMapJSON(w http.ResponseWriter, r *http.Request) error {
	return sayPlain(w, r, "time map in JSON", target.Value(r, "*"))
}

func sayPlain(w http.ResponseWriter, r *http.Request, what string, details ...string) error {
	w.Header().Set("Content-Type", "text/plain")
	_, err := fmt.Fprint(w, what, " ", r.Method, " ", strings.Join(details, " "))
	return err
}

func noRules() *scope.Scope {
	s, err := scope.Open(nil, scope.Options{})
	if err != nil {
		panic(err)
	}
	return s
}

// hostSettings has no rules.
type hostSettings struct{ operate.HostSettings }

func (hostSettings) HostRules() []hosts.Listed       { return []hosts.Listed{} }
func (hostSettings) ViewHost(name string) hosts.View { return hosts.View{Host: name} }

// withdrawals withdraws nothing.
type withdrawals struct{}

func (withdrawals) PlanRetention(context.Context) (catalog.RetentionPlan, error) {
	return catalog.RetentionPlan{}, nil
}

func (withdrawals) ApplyRetention(context.Context) (catalog.RetentionPlan, error) {
	return catalog.RetentionPlan{}, nil
}

func (withdrawals) Withdraw(context.Context, catalog.WithdrawalOrder) (catalog.Withdrawn, error) {
	return catalog.Withdrawn{}, nil
}
