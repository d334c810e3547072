package portaltest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/harvest"
)

// Dialect is how portals of one kind are asked and answer: all that a kind adds to the suite.
type Dialect struct {
	Source func(harvest.Doer) harvest.Harvester // asks for pages of PageSize entries, if it can
	// Answer answers a request, "" if there is nothing. A page of the list is one of Portal.Page.
	Answer func(p *Portal, r *http.Request) string
	IRI    func(e Entry) string
	File   func(e Entry) string // address of an entry's file, if that is the portal's choice
	// Document says that all entries are one document, without pages.
	Document bool
	NoCount  bool // the portal does not say how many datasets it lists
	NoTotal  bool // the pages of the list do not say it
}

// Entry is a dataset that the portal of the suite lists.
type Entry struct {
	N       int
	Title   string // may be missing
	File    string // address, may be missing
	Changed string // RFC 3339
}

// PageSize is the number of entries of a page.
const PageSize = 3

// Portal is the portal of the suite: the same few datasets in every dialect, one of them without a title, one without
// a file. Its pages from the third on may fail.
type Portal struct {
	Entries []Entry

	dialect Dialect
	fault   string // of later pages: "cut", "500", "empty", or "login" of every answer
	pages   int    // that were listed
	listing bool   // the present answer is one
}

// Now is when the portal is harvested first.
func Now() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }

func newPortal(d Dialect) *Portal {
	p := portalOf(d, 10)
	p.Entries[4].Title, p.Entries[5].File = "", ""
	return p
}

func portalOf(d Dialect, n int) *Portal {
	p := &Portal{dialect: d}
	for i := range n {
		p.Entries = append(p.Entries, entry(i, fmt.Sprintf("Set %d", i), fmt.Sprintf("2026-01-%02dT00:00:00Z", i+1)))
	}
	return p
}

func entry(n int, title, changed string) Entry {
	return Entry{N: n, Title: title, File: fmt.Sprintf("https://files.example/%d.csv", n), Changed: changed}
}

// Since returns the entries that changed since a time, all if it is "".
func (p *Portal) Since(since string) []Entry {
	return slices.DeleteFunc(slices.Clone(p.Entries), func(e Entry) bool { return e.Changed < since })
}

// Page returns a page of a list, from an entry on, and where the next one begins, 0 after the last.
func (p *Portal) Page(list []Entry, from int) (page []Entry, next int) {
	p.listing = true
	if p.pages++; p.fault == "empty" && p.pages > 2 {
		return nil, 0
	}
	if p.dialect.Document {
		return list, 0
	}
	from = min(max(from, 0), len(list))
	to := min(from+PageSize, len(list))
	if to < len(list) {
		next = to
	}
	return list[from:to], next
}

// Join returns entries as texts of a dialect, separated by commas.
func Join(entries []Entry, text func(Entry) string) string {
	var all []string
	for _, e := range entries {
		all = append(all, text(e))
	}
	return strings.Join(all, ",")
}

// ServeHTTP implements http.Handler.
func (p *Portal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.listing = false
	body := p.dialect.Answer(p, r)
	late := p.listing && (p.pages > 2 || p.dialect.Document)
	switch {
	case p.fault == "login":
		body = `<!doctype html><title>Log in</title><form><input type="password"></form>`
	case p.fault == "500" && late:
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case p.fault == "cut" && late:
		body = body[:len(body)*2/3]
	case body == "":
		http.NotFound(w, r)
		return
	}
	if header, rest, ok := strings.Cut(body, "\n"); ok && strings.HasPrefix(header, "Content-Type: ") {
		w.Header().Set("Content-Type", strings.TrimPrefix(header, "Content-Type: "))
		body = rest
	}
	fmt.Fprint(w, body)
}

// Conform tests what harvesters of every kind do with the portal of the suite.
func Conform(t *testing.T, d Dialect) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, Dialect){
		"every dataset comes once":                          comesOnce,
		"an interrupted harvest continues":                  continues,
		"the next harvest brings what changed":              brings,
		"what a broken page kept is continued":              survives("cut"),
		"what a failing server kept is continued":           survives("500"),
		"a list that is shorter than it says is not passed": tellsShort,
		"a page for people is said":                         tellsPage,
	} {
		t.Run(name, func(t *testing.T) { // servers that fail are asked again later
			synctest.Test(t, func(t *testing.T) { test(t, d) })
		})
	}
}

// harvest harvests the portal and returns the error beside.
func (p *Portal) harvest(t *testing.T, from string) (*Notes, error) {
	t.Helper()
	p.pages = 0
	notes, err := Harvest(t, p.dialect.Source(&Web{Handler: p}), from)
	if err != nil && (strings.Contains(err.Error(), "\n") || len(err.Error()) > 500) {
		t.Errorf("the error is not one sentence: %v", err)
	}
	return notes, err
}

// iris returns the IRIs of the entries, sorted.
func (p *Portal) iris() []string {
	var all []string
	for _, e := range p.Entries {
		all = append(all, p.dialect.IRI(e))
	}
	slices.Sort(all)
	return all
}

func comesOnce(t *testing.T, d Dialect) {
	p := newPortal(d)
	notes, err := p.harvest(t, "")
	if got := slices.Sorted(slices.Values(notes.IRIs())); err != nil || !slices.Equal(slices.Compact(got), p.iris()) {
		t.Fatalf("%v, datasets\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(p.iris(), "\n"))
	}
	if len(notes.Portals) != 1 {
		t.Errorf("%d portals", len(notes.Portals))
	}
	for _, e := range p.Entries {
		dataset := notes.Datasets[slices.Index(notes.IRIs(), d.IRI(e))]
		if e.Title != "" && (len(dataset.Title) != 1 || dataset.Title[0].Value != e.Title) {
			t.Errorf("the title of %s is %+v, want %q", dataset.IRI, dataset.Title, e.Title)
		}
		file := e.File
		if d.File != nil {
			file = d.File(e)
		}
		var files []string
		for _, seed := range dataset.Seeds(harvest.Portal{}) {
			files = append(files, seed.URL)
		}
		if file != "" && !slices.Contains(files, file) || e.File == "" && slices.Contains(files, entry(e.N, "", "").File) {
			t.Errorf("%s has the files %q, want %q", dataset.IRI, files, file)
		}
	}
	if _, counts := d.Source(&Web{Handler: p}).(harvest.Counter); counts && !d.NoCount {
		Counts(t, d.Source(&Web{Handler: p}), len(p.Entries))
	}
}

func continues(t *testing.T, d Dialect) {
	for _, n := range []int{10, 9, 1} { // the last page is full, or the only one
		p := portalOf(d, n)
		notes, err := p.harvest(t, "")
		if got := slices.Sorted(slices.Values(notes.IRIs())); err != nil || !slices.Equal(slices.Compact(got), p.iris()) {
			t.Fatalf("%d datasets: %v, %q", n, err, got)
		}
		Resumes(t, d.Source(&Web{Handler: p}))
	}
}

// brings tests a second harvest, after a dataset was changed, one withdrawn and one added.
func brings(t *testing.T, d Dialect) {
	p := newPortal(d)
	first, err := p.harvest(t, "")
	if err != nil {
		t.Fatal(err)
	}
	withdrawn := d.IRI(p.Entries[7])
	p.Entries = append(slices.Delete(p.Entries, 7, 8), entry(10, "Set 10", "2026-03-03T00:00:00Z"))
	p.Entries[2].Title, p.Entries[2].Changed = "Set 2, revised", "2026-03-02T00:00:00Z"
	second, err := p.harvest(t, first.NextMark)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Entry{p.Entries[2], p.Entries[len(p.Entries)-1]} {
		i := slices.Index(second.IRIs(), d.IRI(e))
		if i < 0 || len(second.Datasets[i].Title) != 1 || second.Datasets[i].Title[0].Value != e.Title {
			t.Errorf("%q does not come: %q", e.Title, second.IRIs())
		}
	}
	if got := slices.Compact(slices.Sorted(slices.Values(second.IRIs()))); second.Whole && !slices.Equal(got, p.iris()) {
		t.Errorf("the whole portal is %q, want %q", got, p.iris())
	}
	counter, counts := d.Source(&Web{Handler: p}).(harvest.Counter)
	if counts {
		_, counts = counter.Count(t.Context())
	}
	if slices.Contains(second.IRIs(), withdrawn) || !second.Whole && !counts && !d.NoCount && !slices.Contains(second.GoneIRIs, withdrawn) {
		t.Errorf("nobody can tell that %s was withdrawn: whole %t, gone %q", withdrawn, second.Whole, second.GoneIRIs)
	}
}

// survives tests a harvest whose later pages fail, and the one after it.
func survives(fault string) func(*testing.T, Dialect) {
	return func(t *testing.T, d Dialect) {
		p := newPortal(d)
		p.fault = fault
		first, err := p.harvest(t, "")
		if err == nil && len(first.Unread) == 0 && (first.Whole || len(first.Skipped) == 0) {
			t.Fatalf("the harvest is complete with %d of %d datasets", len(first.Datasets), len(p.Entries))
		}
		if err == nil && !first.Whole && fault == "cut" {
			return // a page that is as it is: there is nothing to come back for
		}
		if kept := PageSize; !d.Document && err != nil && len(first.Datasets) < kept {
			t.Errorf("%d datasets are kept, want at least %d: %v", len(first.Datasets), kept, err)
		}
		p.fault = ""
		from, kept, came := first.LastMark(), first.kept, first.IRIs()
		if err == nil {
			from, kept = first.NextMark, len(came)
		}
		rest, err := p.harvest(t, from)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.Compact(slices.Sorted(slices.Values(append(came[:kept], rest.IRIs()...))))
		if !slices.Equal(got, p.iris()) && from != "" {
			t.Errorf("with the rest, from %q on, %q, want %q", from, got, p.iris())
		}
	}
}

// tellsShort tests a list whose later pages are empty, although the portal says that it has more.
func tellsShort(t *testing.T, d Dialect) {
	if d.Document {
		t.Skip("only of kinds with pages")
	}
	p := newPortal(d)
	p.fault = "empty"
	notes, err := p.harvest(t, "")
	if err == nil && len(notes.Unread) == 0 && notes.Whole && len(notes.Datasets) < len(p.Entries) && !d.NoTotal {
		t.Errorf("%d of %d datasets are all of it", len(notes.Datasets), len(p.Entries))
	}
}

func tellsPage(t *testing.T, d Dialect) {
	p := newPortal(d)
	p.fault = "login"
	notes, err := p.harvest(t, "")
	if err == nil || len(notes.Datasets) > 0 || errors.Is(err, ErrCut) {
		t.Errorf("%d datasets, %v", len(notes.Datasets), err)
	}
}
