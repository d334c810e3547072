//go:build browser

package ui_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const viennaCSV = "http://data.stadt-wien.example/daten/wien/population.csv"

// TestBrowserTenJourneys goes the ways of people who come with a question, from the home page, over the real program.
func TestBrowserTenJourneys(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	h := startHistory(t, ctx)
	for name, journey := range map[string]func(*testing.T, *history){
		"every CSV about population in Vienna that changed since last month": func(t *testing.T, h *history) {
			everyCSV(t, newPerson(t, h, 1440), h)
		},
		"the same without scripts and with the keyboard alone": func(t *testing.T, h *history) {
			p := newPerson(t, h, 1440)
			p.withoutScripts()
			everyCSV(t, p, h)
		},
		"which columns go with this one": whichColumnsGoWithThisOne,
		"how did this row change":        howDidThisRowChange,
		"what was here on that day":      whatWasHereOnThatDay,
		"cite it":                        citeIt,
		"is it complete":                 isItComplete,
		"which portals are broken":       whichPortalsAreBroken,
		"subscribe":                      subscribe,
		"register":                       register,
		"use it from Python":             useItFromPython,
	} {
		t.Run(name, func(t *testing.T) { journey(t, h) })
	}
}

func everyCSV(t *testing.T, p *person, h *history) {
	p.search("bevölkerung wien")
	p.press("#narrow", "CSV")
	p.until(`location.search.includes("type=text%2Fcsv")`)
	p.press("#narrow", "in the last month")
	p.until(`location.search.includes("since=")`)
	if got := p.reads("main .summary strong"); got != "1" {
		t.Errorf("%s files", got)
	}
	name, data := p.downloads(func() { p.press("form.zip", "Download all as ZIP") })
	files := unzipped(t, name, data)
	if want := h.get(t, "/get/file/"+viennaCSV, "*/*"); len(files) != 1 || !slices.Contains(slices.Collect(maps.Values(files)), want) {
		t.Errorf("%s has %d files, and not just the latest version of %s", name, len(files), viennaCSV)
	}
	p.report("every CSV")
}

// population goes to the page of the CSV file about Vienna's population.
func (p *person) population() {
	p.t.Helper()
	p.search("bevölkerung bezirke wien type:csv")
	p.press("main .hits", "Bevölkerung nach Bezirken in Wien (CSV)")
	p.until(`location.pathname === "/dataset" && document.querySelector("#versions")`)
}

func whichColumnsGoWithThisOne(t *testing.T, h *history) {
	p := newPerson(t, h, 1440)
	p.population()
	join := `section[aria-labelledby=joins]`
	row := p.reads(join + ` tbody tr`)
	if row != "BEZIRK BEZIRK Hunde pro Bezirk in Wien (CSV) 100 % 100 %" && row != "BEZIRKBEZIRKHunde pro Bezirk in Wien (CSV)100 %100 %" {
		t.Errorf("the first column to join with is %q", row)
	}
	_, here := p.downloads(func() { p.press("section[aria-labelledby=versions] tbody tr:first-child", "Download") })
	p.press(join, "Hunde pro Bezirk in Wien (CSV)")
	p.until(`document.querySelector("h1").textContent.includes("Hunde") && document.querySelector("#versions")`)
	_, there := p.downloads(func() { p.press("section[aria-labelledby=versions] tbody tr:first-child", "Download") })
	if a, b := districts(t, here), districts(t, there); len(a) != 19 || !slices.Equal(a, b) {
		t.Errorf("the columns are said to have the same values: %q and %q", a, b)
	}
	p.report("columns that go together")
}

func howDidThisRowChange(t *testing.T, h *history) {
	p := newPerson(t, h, 390)
	versions := versionsOf(t, h, viennaCSV)
	before, after := rowsOf(t, h, versions[3]), rowsOf(t, h, versions[4])
	changed := slices.IndexFunc(after, func(row []string) bool {
		return !slices.ContainsFunc(before, func(old []string) bool { return slices.Equal(old, row) }) &&
			slices.ContainsFunc(before, func(old []string) bool { return slices.Equal(old[:2], row[:2]) })
	})
	if changed < 0 {
		t.Fatal("no row changed")
	}
	row := after[changed]
	old := before[slices.IndexFunc(before, func(old []string) bool { return slices.Equal(old[:2], row[:2]) })]
	p.population()
	p.press("main", "All rows: filter, sort, download")
	for i, name := range []string{"BEZIRK", "JAHR"} {
		p.until(`document.querySelector("form.pick[role=search]")`)
		p.fill("form.pick[role=search]", "Rows where", name)
		p.fill("form.pick[role=search]", "Value", row[i])
		p.press("form.pick[role=search]", "Filter")
		p.until(fmt.Sprintf(`document.querySelectorAll(".summary .chip").length === %d`, i+1))
	}
	p.press(".explore", strconv.Itoa(changed)) // the number of the row, without the head
	p.press("main", "History of this row")
	p.until(`location.pathname === "/history" && document.querySelector("td ins")`)
	text := p.reads("main")
	for i, name := range after[0] {
		if i >= 2 && old[i] != row[i] && !strings.Contains(text, fmt.Sprintf("%s: %s → %s", name, old[i], row[i])) {
			t.Errorf("%s was %s and is %s; the page says %.600s", name, old[i], row[i], text)
		}
	}
	p.report("the history of a row")
}

func whatWasHereOnThatDay(t *testing.T, h *history) {
	p := newPerson(t, h, 768)
	versions := versionsOf(t, h, viennaCSV)
	p.population()
	on := versions[2].at.AddDate(0, 0, 3).Format(time.DateOnly)
	p.fill("section[aria-labelledby=versions]", "What was here on", on)
	p.press("section[aria-labelledby=versions]", "Show")
	p.until(`document.querySelector("h1").textContent.startsWith("Version 2")`)
	_, data := p.downloads(func() { p.press("main", "Download") })
	if want := h.get(t, versions[2].path, "*/*"); string(data) != want {
		t.Errorf("%d bytes of that day, want the %d of version 2", len(data), len(want))
	}
	p.report("that day")
	p.population()
	p.fill("section[aria-labelledby=versions]", "What was here on", "2001-01-01")
	p.press("section[aria-labelledby=versions]", "Show")
	p.until(`document.body.textContent.includes("the first version of ` + viennaCSV + ` was archived on")`)
}

func citeIt(t *testing.T, h *history) {
	p := newPerson(t, h, 390)
	p.population()
	_, bibtex := p.downloads(func() { p.press("section[aria-labelledby=use]", "BibTeX") })
	for _, must := range []string{"Bevölkerung nach Bezirken in Wien", "Stadt Wien", viennaCSV} {
		if !strings.Contains(string(bibtex), must) {
			t.Errorf("the citation has no %q: %s", must, bibtex)
		}
	}
	p.open("/")
	p.population()
	p.press("section[aria-labelledby=versions] tbody tr:last-child", "Version 0")
	p.until(`document.querySelector("h1").textContent.startsWith("Version 0")`)
	_, data := p.downloads(func() { p.press("main", "Download") })
	if sum := sha256.Sum256(data); !strings.Contains(p.reads("main .facts-list"), hex.EncodeToString(sum[:])) {
		t.Error("the page of a version has another checksum than its bytes")
	}
	if cite, when := p.reads("section[aria-labelledby=use] .cite"),
		versionsOf(t, h, viennaCSV)[0].at; !strings.Contains(cite, when.Format(time.DateOnly)) || !strings.Contains(cite, "_0") {
		t.Errorf("the citation of version 0 of %s is %s", when, cite)
	}
	p.report("citing")
}

func isItComplete(t *testing.T, h *history) {
	p := newPerson(t, h, 1440)
	p.press("nav", "Portals")
	p.press("main table", "Open Riverside")
	p.until(`document.querySelector("main .state a")`)
	failing, _, _ := strings.Cut(p.reads("main .state a"), " ")
	p.press("main .state", failing+" files")
	p.until(`location.search.includes("outcome=no-version")`)
	if got := p.reads("main .summary strong"); got != failing {
		t.Errorf("%s files, the page of the portal says %s", got, failing)
	}
	eval[bool](p.window,
		`(() => { [...document.querySelectorAll(".hits li")].find((li) => /gone or `+
			`failing/.test(li.textContent)).querySelector(".title").click(); return true; })()`)
	p.until(`document.querySelector(".state.held") && /since/.test(document.querySelector(".state.held").textContent)`)
	p.until(`document.readyState === "complete"`)
	p.do(clickCSS(`.crumbs a[href*="%2Fdataset%2F"]`))
	p.until(`document.querySelector("#files")`)
	files := eval[[]string](p.window, `[...document.querySelectorAll(".resources .address")].map((e) => e.textContent)`)
	kept := eval[[]string](p.window,
		`[...document.querySelectorAll('.resources a[href^="/get/file/"]')].map((e) => e.getAttribute("href").slice("/get/file/".length))`)
	if state := p.reads(".state.held"); !strings.Contains(state, "The archive keeps") || len(kept) == 0 {
		t.Errorf("%s; of %q there are %q", state, files, kept)
	}
	name, data := p.downloads(func() { p.press("form.zip", "Download all as ZIP") })
	inside := slices.Collect(maps.Values(unzipped(t, name, data)))
	for _, file := range kept { // also those that are gone
		if !slices.Contains(inside, h.get(t, "/get/file/"+file, "*/*")) {
			t.Errorf("the zip lacks %s", file)
		}
	}
	p.report("whether it is complete")
}

func whichPortalsAreBroken(t *testing.T, h *history) {
	p := newPerson(t, h, 1440)
	p.press("nav", "Portals")
	p.press("main table thead", "Failing")
	failing := `[...document.querySelectorAll("main table tbody tr")].map((r) => Number(r.cells[5].dataset.value))`
	p.until(`document.querySelector("main table thead th:nth-child(6)[aria-sort]")`)
	if eval[bool](p.window, `((list) => list[0] < list.at(-1))(`+failing+`)`) {
		p.press("main table thead", "Failing")
	}
	p.until(`((list) => list[0] > 0 && list.every((n, i) => i === 0 || list[i - 1] >= n))(` + failing + `)`)
	said := p.reads("main table tbody tr td:nth-child(6)")
	p.press("main table tbody tr:first-child", said)
	p.until(`location.pathname === "/search" && document.querySelector(".hits .title")`)
	if got := p.reads("main .summary strong"); !strings.HasPrefix(said, got+" (") {
		t.Errorf("%s files, the table says %s", got, said)
	}
	for _, file := range eval[[]string](p.window, `[...document.querySelectorAll(".hits .title")].map((a) => a.getAttribute("href"))`) {
		p.open(file)
		if text := p.reads("main"); !regexp.MustCompile(`(Gone at the source|Failing) since|No version has been kept yet: `).MatchString(
			text) {
			t.Errorf("%s does not say what is wrong: %.300s", file, text)
		}
	}
	p.report("broken portals")
}

func subscribe(t *testing.T, h *history) {
	p := newPerson(t, h, 1440)
	p.population()
	p.until(loaded + found(".feed", pressed, "Atom"))
	address := eval[string](p.window, found(".feed", pressed, "Atom")+`.getAttribute("href")`) // which people copy into their readers
	if discovered := eval[string](p.window,
		`document.querySelector('link[rel=alternate][type="application/atom+xml"]').getAttribute("href")`); discovered != address {
		t.Errorf("readers find the feed %s, people see %s", discovered, address)
	}
	feed := h.get(t, address, "application/atom+xml")
	var atom struct {
		Entries []struct {
			Title string `xml:"title"`
			Links []struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(feed), &atom); err != nil {
		t.Fatal(err)
	}
	if versions := versionsOf(t, h, viennaCSV); len(atom.Entries) < len(versions) {
		t.Errorf("%d entries of %d versions", len(atom.Entries), len(versions))
	}
	for _, e := range atom.Entries {
		if len(e.Links) == 0 || !strings.HasPrefix(e.Links[0].Href, ofThis) {
			t.Errorf("the entry %q leads to %v", e.Title, e.Links)
			continue
		}
		p.open("/" + strings.TrimPrefix(e.Links[0].Href, ofThis))
		p.until(`document.querySelector("h1")`)
	}
	p.report("the feed")
}

// register is the way of somebody whose file is not there: in an archive of its own, which crawls.
func register(t *testing.T, with *history) {
	const file, content = "http://data.newtown.example/bicycles.csv", "street,bicycles\nMain Street,17\nCastle Lane,4\n"
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { // as a proxy
		if r.URL.String() != file {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, content)
	}))
	defer web.Close()
	h := &history{browser: with.browser, program: with.program}
	h.base = serve(t, h.program, "--data", t.TempDir()+"/new", "--base", ofThis, "--token", "sesame", "--proxy", web.URL,
		"--proxy-resolves", "--allow-private-hosts", "--host-delay", "0s", "--sitemaps=false")
	p := newPerson(t, h, 390)
	p.press("nav", "Portals")
	form := "section[aria-labelledby=register]"
	p.fill(form, "Addresses", file)
	p.fill(form, "Token of this server", "open sesame")
	p.press(form, "Register them")
	p.until(`document.querySelector("[role=alert]")`)
	if !strings.Contains(eval[string](p.window, `document.querySelector("#register-urls").value`), file) {
		t.Error("after a wrong token, the address must be typed again")
	}
	p.fill(form, "Token of this server", "sesame")
	p.press(form, "Register them")
	p.until(`document.querySelector("[role=status]")`)
	if said := p.reads("[role=status]"); !strings.HasPrefix(said, "1 new file registered") {
		t.Errorf("the page says %s", said)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		p.search("bicycles")
		if eval[bool](p.window,
			`Boolean(document.querySelector(".hits .title")) && /1 version/.test(document.querySelector(".hits").textContent)`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the registered file is not archived: %s", p.reads("main"))
		}
	}
	p.until(`document.readyState === "complete"`)
	p.do(clickCSS(".hits .title"))
	p.until(`document.querySelector("#versions")`)
	if _, data := p.downloads(func() { p.press("section[aria-labelledby=versions] tbody", "Download") }); string(data) != content {
		t.Errorf("the archive has %q", data)
	}
	p.report("registering")
}

func useItFromPython(t *testing.T, h *history) {
	p := newPerson(t, h, 1440)
	p.population()
	p.press("main", "All rows: filter, sort, download")
	p.until(`document.querySelector(".uses")`)
	snippet := func(name string) string {
		code := eval[string](p.window,
			fmt.Sprintf(
				`[...document.querySelectorAll(".uses h3")].find((e) => e.textContent === `+
					`%q).nextElementSibling.querySelector("code").textContent`, name))
		return strings.ReplaceAll(code, ofThis, h.base+"/") // the archive's name is not that of the test's server
	}
	p.report("the snippets")
	rows := rowsOf(t, h, versionsOf(t, h, viennaCSV)[4])
	sum := 0
	for _, row := range rows[1:] {
		n, err := strconv.Atoi(row[4])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	ran := false
	for _, try := range []struct{ needs, snippet, then string }{
		{"import pandas", "Python, pandas", "\nprint(len(table), table['GESAMT'].sum())"},
		{"import polars", "Python, polars", "\nprint(len(table), table['GESAMT'].sum())"},
		{
			"", "",
			"import csv, io, sys, urllib.request\ntable = list(csv.DictReader(io.TextIOWrapper(urllib.request.urlopen(sys.argv[1]), " +
				"'utf-8')))\nprint(len(table), sum(int(row['GESAMT']) for row in table))"},
	} {
		for _, python := range []string{"python3", "/usr/bin/python3"} {
			if exec.CommandContext(t.Context(), python, "-c", try.needs).Run() != nil {
				continue
			}
			code, address := try.then, ""
			if try.snippet != "" {
				code = snippet(try.snippet) + code
			} else if m := regexp.MustCompile(`https?://[^"']+`).FindString(snippet("Python, pandas")); m != "" {
				// the address that the page names
				address = m
			}
			out, err := exec.CommandContext(t.Context(), python, "-c", code, address).CombinedOutput()
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), fmt.Sprint(len(rows)-1, " ", sum)) {
				t.Errorf("%s\nprints %s, %v; want %d rows and the sum %d", code, out, err, len(rows)-1, sum)
			}
			ran = true
			break
		}
	}
	if !ran {
		t.Skip("no Python is installed")
	}
}

// kept is a version of a file.
type kept struct {
	at   time.Time
	path string
}

// versionsOf returns the versions of a file, oldest first, by the archive's TimeMap.
func versionsOf(t *testing.T, h *history, file string) (list []kept) {
	t.Helper()
	for _, m := range regexp.MustCompile(`<([^>]+)>; *rel="[^"]*memento[^"]*"; *datetime="([^"]+)"`).FindAllStringSubmatch(h.get(t,
		"/timemap/link/"+file, "*/*"), -1) {
		at, err := time.Parse(time.RFC1123, m[2])
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(m[1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, kept{at.UTC(), u.RequestURI()})
	}
	if len(list) == 0 {
		t.Fatalf("%s has no versions", file)
	}
	return list
}

// rowsOf returns the rows of a version of a CSV file, the head among them.
func rowsOf(t *testing.T, h *history, v kept) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(h.get(t, v.path, "*/*"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// districts returns the distinct values of the column BEZIRK, sorted.
func districts(t *testing.T, data []byte) []string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], "BEZIRK")
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		seen[row[at]] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// unzipped returns the archived files of a zip.
func unzipped(t *testing.T, name string, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		if !strings.Contains(f.Name, "/") { // the manifest, and metadata
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		files[f.Name] = b.String()
	}
	return files
}
