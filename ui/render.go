package ui

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

//go:embed templates
var templateFiles embed.FS

// policy allows what the pages need and nothing else: no inline code, nothing from other servers.
// Archived bytes have the same origin as the pages, so that 'self' would admit archived scripts and style sheets if
// somebody found a way to name one in a page. A nonce admits those that the page itself names, and what they import.
func policy(nonce string) string {
	return "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
		"'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
}

// templates are the parsed pages by name ("home", "search" ...), each with the layout and the shared parts.
type templates struct {
	parsed map[string]*template.Template // by name; never executed, so they can be cloned
	funcs  template.FuncMap              // of one UI

	mu    sync.Mutex // guards bound
	bound map[string]*template.Template
}

// with returns the same templates with other functions.
func (t *templates) with(funcs template.FuncMap) *templates {
	return &templates{parsed: t.parsed, funcs: funcs, bound: map[string]*template.Template{}}
}

// page returns a template with the functions of its UI, nil if there is none of that name.
func (t *templates) page(name string) (*template.Template, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.bound[name]; p != nil {
		return p, nil
	}
	parsed := t.parsed[name]
	if parsed == nil {
		return nil, fmt.Errorf("ui: no template %q", name)
	}
	p, err := parsed.Clone()
	if err != nil {
		return nil, fmt.Errorf("ui: clone template: %w", err)
	}
	t.bound[name] = p.Funcs(t.funcs)
	return p, nil
}

// view is the data of the layout. Page is the data of the page itself.
type view struct {
	Title     string // without the site's name
	Path      string // of the request
	Section   string // path of the site's section that the navigation marks; "" for Path
	Query     string // text in the search field
	Scripts   []string
	Styles    []string // style sheets besides that of all pages
	Page      any
	Feed      *feedLink      // what the page's feed of changes is about; nil for none
	About     string         // what the page is about, for search engines; "" for nothing
	Canonical string         // IRI of the page; "" for its address
	Data      map[string]any // the page's subject in terms of schema.org, nil for none
	Wide      bool           // the page uses the full width of the window
	Nonce     string         // of the page's scripts and style sheets
	Who       string         // name of the token with which the browser has signed in
	May       bool           // somebody can sign in
	Notice    string         // sentence above the page, if the archive is restricted or damaged
}

func loadTemplates(u *UI) (*templates, error) {
	shared, err := template.New("layout.html").Funcs(u.funcs()).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html",
		"templates/quality.html")
	if err != nil {
		return nil, fmt.Errorf("ui: parse templates: %w", err)
	}
	names, err := templateFiles.ReadDir("templates")
	if err != nil {
		return nil, fmt.Errorf("ui: read templates: %w", err)
	}
	t := &templates{parsed: make(map[string]*template.Template)}
	for _, entry := range names {
		file := entry.Name()
		if file == "layout.html" || file == "parts.html" || file == "quality.html" {
			continue
		}
		page, err := shared.Clone()
		if err != nil {
			return nil, fmt.Errorf("ui: clone templates: %w", err)
		}
		if _, err := page.ParseFS(templateFiles, "templates/"+file); err != nil {
			return nil, fmt.Errorf("ui: parse template %s: %w", file, err)
		}
		t.parsed[strings.TrimSuffix(file, path.Ext(file))] = page
	}
	return t.with(u.funcs()), nil
}

// render answers with a page. It renders the whole page before it sends anything, so that a template's failure is a
// status 500 and the length is known.
func (u *UI) render(w http.ResponseWriter, r *http.Request, status int, name string, v view) error {
	page, err := u.pages.page(name)
	if err != nil {
		return err
	}
	v.Path, v.Notice = r.URL.Path, u.notice()
	u.sign(&v, r)
	if v.Section == "" {
		v.Section = v.Path
	}
	if v.About == "" {
		v.About = purpose(name, v.Title)
	}
	v.Scripts = append([]string{"page.js"}, v.Scripts...)
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, "layout.html", v); err != nil {
		return fmt.Errorf("ui: page %s: %w", name, err)
	}
	text := withoutControls(placed(body.Bytes(), u.mint.Root()))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy(v.Nonce))
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		w.Write(text) // an error means that the client has left
	}
	return nil
}

// sign adds to a view what depends on the request: its nonce, and who has signed in.
func (u *UI) sign(v *view, r *http.Request) {
	v.Nonce, v.May = rand.Text(), u.may()
	if c, _ := access.Of(r.Context()); c.Session {
		v.Who = c.Name
	}
}

// ErrorPage answers a browser with a page about a failure (problem.Options.Page). It returns false for other clients.
func (u *UI) ErrorPage(w http.ResponseWriter, r *http.Request, e *problem.Error) bool {
	if !wantsPage(r) {
		return false
	}
	h := w.Header()
	for _, stale := range []string{"Content-Encoding", "Content-Range", "Content-Disposition", "ETag", "Last-Modified"} {
		h.Del(stale)
	}
	h.Set("Cache-Control", "no-store")
	title := cmp.Or(e.Title, http.StatusText(e.Status))
	page := struct {
		Status        int
		Title, Detail string
		SignIn        string // address of the page to sign in, if that helps
	}{Status: e.Status, Title: title, Detail: e.Detail}
	if e.Status == http.StatusUnauthorized && u.may() {
		page.SignIn = "/sign-in?" + url.Values{"to": {r.URL.RequestURI()}}.Encode()
	}
	return u.render(w, r, e.Status, "error", view{Title: title, Page: page}) == nil
}

// wantsPage reports whether a browser navigates to a page: only then is text/html the first type in Accept.
func wantsPage(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	first, _, _ = strings.Cut(first, ";")
	return r.Method == http.MethodGet && strings.TrimSpace(first) == "text/html"
}

// script returns the address of a built script, or "" if the scripts were not built.
func (u *UI) script(name string) string { return u.assets.address[name] }
