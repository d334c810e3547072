package ui

import (
	"cmp"
	"context"
	"html"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/describe/about"
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
	page := datasetPage{Entry: entry,
		All: withPrefixes("SELECT ?version WHERE {\n  <" + iriText(entry.IRI) +
			"> dcat:distribution ?resource .\n  ?resource dct:hasVersion ?version .\n}")}
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
	v := view{Title: title, Section: "/portals", Page: page, Feed: feedOf("dataset", entry.IRI), Canonical: u.mint.Page(entry.IRI),
		Data: u.datasetData(page)}
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

// shortened returns at most n characters of a text.
func shortened(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// plainText returns a description without the tags and entities of HTML, which portals write into it. The result is
// text, not markup.
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
