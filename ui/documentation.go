package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/ui/docs"
)

// manualPage is the data of a page of the documentation. Its links are relative, as those in the text are.
type manualPage struct {
	*docs.Page
	manual        *docs.Library
	Up            string // relative address of /docs/
	Groups        []docs.Group
	Before, After *docs.Page
	Query         string
	Hits          []docs.Hit // of Query
}

// Contents are the sections to list above the text, none for short pages.
func (m manualPage) Contents() []docs.Section {
	var list []docs.Section
	for _, s := range m.Sections {
		if s.Level == 2 {
			list = append(list, s)
		}
	}
	if len(list) < 3 || m.Path == "" {
		return nil
	}
	return list
}

// Listed reports whether the navigation lists a page: children only beside their parent and each other, and pages of
// subcommands ("log-sign") only beside that of their command ("log") and each other.
func (m manualPage) Listed(p *docs.Page) bool {
	if p.Parent != "" && p.Parent != m.Path && p.Parent != m.Parent {
		return false
	}
	command, _, sub := strings.Cut(path.Base(p.Path), "-")
	above := path.Join(p.Parent, command)
	if !sub || p.Parent == "" || m.manual.Page(above) == nil {
		return true
	}
	return m.Path == above || strings.HasPrefix(m.Path, above+"-")
}

// docsHome leads to the address below which relative links of the documentation work.
func (u *UI) docsHome(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Location", "docs/") // http.Redirect would make it absolute, without the prefix that a proxy strips
	w.WriteHeader(http.StatusPermanentRedirect)
	return nil
}

// docsPage answers GET /docs/PAGE with a page, PAGE.md with its Markdown, pictures/NAME with a picture, and ?q= with
// what a search finds.
func (u *UI) docsPage(w http.ResponseWriter, r *http.Request) error {
	at := strings.TrimPrefix(r.URL.Path, "/docs/")
	if name, ok := strings.CutPrefix(at, "pictures/"); ok {
		return sendPicture(w, r, name)
	}
	if plain, ok := strings.CutSuffix(at, ".md"); ok && plain != "" {
		if p := u.docs.Page(strings.TrimSuffix(plain, "README")); p != nil {
			w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
			w.Header().Set("Cache-Control", "no-cache")
			http.ServeContent(w, r, "", time.Time{}, strings.NewReader(p.Source))
			return nil
		}
	}
	p := u.docs.Page(at)
	if p == nil {
		return problem.Newf(http.StatusNotFound, "No such page", "the documentation has no page %q; /docs/ lists all", at)
	}
	m := manualPage{Page: p, manual: u.docs, Groups: u.docs.Groups, Up: "./" + strings.Repeat("../", strings.Count(at, "/"))}
	m.Before, m.After = u.docs.Around(p)
	title := p.Title
	if q := strings.TrimSpace(r.URL.Query().Get("q")); q != "" {
		m.Query, m.Hits, title = q, u.docs.Search(q), "Search the documentation"
	}
	return u.render(w, r, http.StatusOK, "docs", view{Title: title, Section: "/docs/", Page: m, Styles: []string{"manual.css"}})
}

func sendPicture(w http.ResponseWriter, r *http.Request, name string) error {
	data, err := docs.Picture(name)
	if err != nil {
		return problem.Newf(http.StatusNotFound, "No such picture", "the documentation has no picture %q", name)
	}
	sum := sha256.Sum256(data)
	h := w.Header()
	h.Set("Content-Type", mimeOf(path.Base(name)))
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("ETag", `"`+hex.EncodeToString(sum[:8])+`"`)
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(data)))
	return nil
}
