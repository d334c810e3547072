package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/about"
	"odarchive/ui/plot"
)

// About returns what portals say of datasets, by IRI.
type About func(ctx context.Context, iris ...string) (map[string]about.Dataset, error)

// datasetPage is the page of a dataset of a portal.
type datasetPage struct {
	Entry       catalog.DatasetEntry
	Says        about.Dataset
	Description string
	Others      []about.Text // descriptions in other languages
	Facts       []fact
	Files       []datasetFile
	Lost        int // files that cannot be fetched any more
	Versions    int
	Bytes       int64 // of the latest versions
	Changed     time.Time
	Changes     string // how often it changes, in a sentence
	Every       string // the same in a few words
	Timeline    template.HTML
	First       *glance
	Quality     *qualityTable
	Cite        Citation
	All         string // query for all its versions
	Crumbs      []crumb
}

// fact is a line of what the portal says.
type fact struct {
	Name  string
	Items []factItem
}

type factItem struct {
	Text string
	Href template.URL
}

// datasetFile is a file of a dataset.
type datasetFile struct {
	listed
	Label string // the format that the portal names
	Lost  *lost
}

// glance is the beginning of a table.
type glance struct {
	Title, URL string
	Header     []string
	Rows       [][]string
	Columns    int // that are not shown
}

const (
	filesOfDataset = 50   // on the page of a dataset
	daysDrawn      = 50   // on the timeline
	versionsRead   = 5000 // of all files together, for the timeline
	filesRead      = 20   // of which the versions are read for the timeline
	glanceRows     = 4
	glanceColumns  = 7
	glanceCell     = 40
)

// said returns what portals say of a dataset, the zero value if nothing is known.
func (u *UI) said(ctx context.Context, iri string) (about.Dataset, error) {
	if u.says == nil || iri == "" {
		return about.Dataset{}, nil
	}
	all, err := u.says(ctx, iri)
	return all[iri], err
}

func (u *UI) portalDataset(w http.ResponseWriter, r *http.Request, entry catalog.DatasetEntry) error {
	ctx := r.Context()
	page := datasetPage{Entry: entry, All: withPrefixes("SELECT ?version WHERE {\n  <" + iriText(entry.IRI) + "> dcat:distribution ?resource .\n  ?resource dct:hasVersion ?version .\n}")}
	if entry.Portal != "" {
		portal, _, err := u.portal(ctx, entry.Portal)
		if err != nil {
			return err
		}
		page.Crumbs = []crumb{{"Portals", "/portals"}, {cmp.Or(portal.Title, hostOf(entry.Portal)), pagePath(entry.Portal)}}
	}
	var err error
	if page.Says, err = u.said(ctx, entry.IRI); err != nil {
		return err
	}
	page.describe()
	if err := u.filesOf(ctx, &page); err != nil {
		return err
	}
	if err := u.changesOf(ctx, &page); err != nil {
		return err
	}
	if page.First, err = u.glance(ctx, page.Files); err != nil {
		return err
	}
	if entry.Portal != "" {
		if page.Quality, err = u.qualityAbout(ctx, entry.Portal, entry.IRI); err != nil {
			return err
		}
	}
	if page.Cite, err = u.citation(ctx, w.Header(), catalog.Resource{URL: entry.IRI}, catalog.Version{}); err != nil {
		return err
	}
	title := cmp.Or(entry.Title, entry.IRI)
	v := view{Title: title, Section: "/portals", Page: page, Feed: feedOf("dataset", entry.IRI), Canonical: u.mint.Page(entry.IRI), Data: u.datasetData(page)}
	v.About = v.Data["description"].(string)
	return u.render(w, r, http.StatusOK, "portaldataset", v)
}

// describe chooses the texts of the page, and lists what the portal says.
func (p *datasetPage) describe() {
	d := p.Says
	best := about.Best(d.Description, "en")
	p.Description = plainText(best.Value)
	for _, t := range d.Description {
		if t != best && len(p.Others) < 3 {
			p.Others = append(p.Others, about.Text{Value: plainText(t.Value), Lang: t.Lang})
		}
	}
	add := func(name string, items ...factItem) {
		items = slices.DeleteFunc(items, func(i factItem) bool { return i.Text == "" })
		if len(items) > 0 {
			p.Facts = append(p.Facts, fact{name, items[:min(len(items), 30)]})
		}
	}
	things := func(all []about.Thing) (items []factItem) {
		for _, t := range all {
			items = append(items, itemOf(t))
		}
		return items
	}
	agent := func(a about.Agent) factItem {
		return factItem{cmp.Or(a.Name, a.Mail, a.IRI), linkTo(cmp.Or(a.Page, a.IRI))}
	}
	add("Publisher", agent(d.Publisher))
	creators := []factItem{}
	for _, a := range d.Creators {
		creators = append(creators, agent(a))
	}
	add("Author", creators...)
	add("Licence", itemOf(d.Licence))
	add("Rights", itemOf(d.Rights))
	add("Access", itemOf(d.AccessRights))
	contact := agent(d.Contact)
	if mail := mailTo(d.Contact.Mail); mail != "" {
		contact.Href = mail
	}
	add("Contact", contact)
	var themes, keywords, periods []factItem
	for _, t := range d.Themes {
		item := factItem{Text: cmp.Or(about.ThemeOf(t.Label), t.Label, t.IRI)}
		if !slices.Contains(themes, item) {
			themes = append(themes, item)
		}
	}
	for _, k := range d.Keywords {
		keywords = append(keywords, factItem{k.Value, template.URL(with(nil, "q", k.Value))})
	}
	add("Theme", themes...)
	add("Keywords", keywords...)
	for _, t := range d.Temporal {
		periods = append(periods, factItem{Text: cmp.Or(day(t.Start), "…") + " – " + cmp.Or(day(t.End), "…")})
	}
	add("Period", periods...)
	add("Place", things(d.Spatial)...)
	add("Language", things(d.Languages)...)
	add("Conforms to", things(d.Conforms)...)
	add("Published", factItem{Text: day(d.Issued)})
	add("Updated", factItem{Text: day(d.Modified)})
	add("Updates", itemOf(d.Frequency))
	add("Page", factItem{d.Landing, linkTo(d.Landing)})
}

func itemOf(t about.Thing) factItem { return factItem{cmp.Or(t.Label, t.IRI), linkTo(t.IRI)} }

// mailTo returns a link to a mail address, "" if the text cannot be one.
func mailTo(s string) template.URL {
	if at := strings.IndexByte(s, '@'); at <= 0 || at == len(s)-1 || strings.ContainsAny(s, " \"'<>()?&%#,;:\\") {
		return ""
	}
	return template.URL("mailto:" + s)
}

// day formats a date or time of a portal as a date; it returns other texts as they are.
func day(s string) string {
	if len(s) >= len(time.DateOnly) {
		if t, err := time.Parse(time.DateOnly, s[:len(time.DateOnly)]); err == nil {
			return t.Format("2 January 2006")
		}
	}
	return s
}

// filesOf reads the files of the dataset.
func (u *UI) filesOf(ctx context.Context, p *datasetPage) error {
	formats := map[string]string{}
	for _, f := range p.Says.Files {
		for _, address := range f.URLs {
			formats[address] = f.Format.Label
		}
	}
	for _, address := range p.Entry.URLs[:min(len(p.Entry.URLs), filesOfDataset)] {
		res, err := u.archive.Resource(ctx, address)
		if err != nil {
			if errors.Is(err, ctx.Err()) {
				return err
			}
			res = catalog.Resource{URL: address, Host: hostOf(address)} // listed, but not known to the crawler
		}
		f := datasetFile{listed: listed{Resource: res}, Label: formats[address]}
		if f.Lost, err = u.lost(ctx, res); err != nil {
			return err
		}
		if f.Lost != nil {
			p.Lost++
		}
		p.Versions += res.Versions - res.ErrorPages
		p.Bytes += res.Size
		if res.Changed.After(p.Changed) {
			p.Changed = res.Changed
		}
		p.Files = append(p.Files, f)
	}
	return nil
}

// changesOf finds out how often the files change. Files that change on one day are one change.
func (u *UI) changesOf(ctx context.Context, p *datasetPage) error {
	var moments []plot.Moment // at most one a day
	var last time.Time        // when the files were visited last
	days, at := map[string]bool{}, map[string]int{}
	read := 0
	for _, f := range p.Files[:min(len(p.Files), filesRead)] {
		if f.Versions == 0 || read+f.Versions > versionsRead {
			continue
		}
		read += f.Versions
		versions, err := u.archive.Versions(ctx, f.URL)
		if err != nil {
			return err
		}
		for i, v := range versions {
			if i > 0 {
				days[v.At.UTC().Format(time.DateOnly)] = true
			}
		}
		for _, v := range thinned(versions, daysDrawn) {
			date := v.At.UTC().Format("2 Jan 2006")
			if _, drawn := at[date]; !drawn {
				at[date] = 0
				moments = append(moments, plot.Moment{At: v.At, Href: u.versionPath(v.ID)})
			}
			at[date]++
		}
		if f.LastVisit.After(last) {
			last = f.LastVisit
		}
	}
	slices.SortStableFunc(moments, func(a, b plot.Moment) int { return a.At.Compare(b.At) })
	moments = thinned(moments, daysDrawn)
	for i, m := range moments {
		date := m.At.UTC().Format("2 Jan 2006")
		moments[i].Title = date + ": " + plural(at[date], "version")
	}
	p.Timeline = plot.Timeline(moments, "When versions of the files were archived")
	if len(moments) == 0 {
		return nil
	}
	first := moments[0].At
	span := last.Sub(first)
	switch n := len(days); {
	case span < 24*time.Hour:
		p.Every, p.Changes = "not known yet", "It was first archived on "+first.UTC().Format("2 January 2006")+", too recently to say how often it changes."
	case n == 0:
		p.Every, p.Changes = "no change seen", fmt.Sprintf("No file has changed from %s to %s.", first.UTC().Format("2 January 2006"), last.UTC().Format("2 January 2006"))
	default:
		p.Every = "about every " + humanSpan(span/time.Duration(n))
		p.Changes = fmt.Sprintf("Files changed on %s from %s to %s, %s.", plural(n, "day"), first.UTC().Format("2 January 2006"), last.UTC().Format("2 January 2006"), p.Every)
	}
	if f := cmp.Or(p.Says.Frequency.Label, p.Says.Frequency.IRI); f != "" {
		p.Changes += " According to its portal, it is updated: " + f + "."
	}
	return nil
}

// glance returns the first rows of the first file that is a table of text.
func (u *UI) glance(ctx context.Context, files []datasetFile) (*glance, error) {
	for _, f := range files {
		if f.MediaType != "text/csv" && f.MediaType != "text/tab-separated-values" || f.LatestN() < 0 {
			continue
		}
		versions, err := u.archive.Versions(ctx, f.URL)
		if err != nil || len(versions) == 0 {
			return nil, err
		}
		v := versions[len(versions)-1]
		if v.Withdrawn != nil {
			continue
		}
		in, err := u.archive.Inside(ctx, v.ID)
		if err != nil || in == nil || len(in.Tables) == 0 {
			return nil, err
		}
		p, err := u.preview(ctx, v, in.Tables[0])
		if err != nil || p.Kind != "table" {
			return nil, err
		}
		g := &glance{Title: titleOf(f.Resource), URL: f.URL, Header: p.Header[:min(len(p.Header), glanceColumns)], Columns: max(0, len(p.Header)-glanceColumns)}
		for i := range g.Header {
			g.Header[i] = shortened(g.Header[i], glanceCell)
		}
		for _, row := range p.Rows[:min(len(p.Rows), glanceRows)] {
			row = row[:min(len(row), glanceColumns)]
			for i := range row {
				row[i] = shortened(row[i], glanceCell)
			}
			g.Rows = append(g.Rows, row)
		}
		return g, nil
	}
	return nil, nil
}

// shortened returns at most n characters of a text.
func shortened(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// plainText returns a description without the tags and entities of HTML, which portals write into it. The result is text, not markup.
func plainText(s string) string {
	var b strings.Builder
	for s != "" {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:open])
		end := strings.IndexByte(s[open:], '>')
		next := byte(0)
		if open+1 < len(s) {
			next = s[open+1] | 0x20
		}
		if end < 0 || next != '/' && (next < 'a' || next > 'z') { // a sign of comparison
			b.WriteByte('<')
			s = s[open+1:]
			continue
		}
		b.WriteByte(' ')
		s = s[open+end+1:]
	}
	lines := strings.Split(html.UnescapeString(b.String()), "\n")
	for i := range lines {
		lines[i] = line(lines[i])
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
