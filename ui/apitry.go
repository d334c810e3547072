package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/sparqlapi/problem"
)

// apiDoc answers GET /api-doc: all operations of the API with a line each; with ?part=, those of one part with a form
// and snippets each; with ?operation=, the same with that operation open. The forms of GET operations work without
// scripts: they come back here with the operation in call, and lead to its address.
func (u *UI) apiDoc(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if id := q.Get("call"); id != "" {
		return u.tryGet(w, r, id)
	}
	page := apiPage{About: u.apiAbout, Groups: u.apiGroups, Open: q.Get("operation")}
	v := view{Title: "API", Scripts: []string{"api.js"}, Styles: []string{"manual.css"}}
	if part := q.Get("part"); part != "" || page.Open != "" {
		at := slices.IndexFunc(u.apiGroups, func(g routeGroup) bool { return g.Name == part || page.Open != "" && g.has(page.Open) })
		if at < 0 {
			return problem.Newf(http.StatusNotFound, "No such part", "the API has no part %q and no operation %q", part, page.Open)
		}
		page.Part = &u.apiGroups[at]
		v.Title, v.Canonical = "API: "+page.Part.Name, u.mint.Base+"api-doc?"+url.Values{"part": {page.Part.Name}}.Encode()
	}
	v.Page = page
	return u.render(w, r, http.StatusOK, "apidoc", v)
}

// apiPage is the data of the page of the API.
type apiPage struct {
	About  string
	Groups []routeGroup
	Part   *routeGroup // the part that is shown with its forms, nil for the list of all
	Open   string      // ID of the operation that is open
}

// has reports whether the group has an operation.
func (g routeGroup) has(id string) bool {
	return slices.ContainsFunc(g.Routes, func(rt route) bool { return rt.ID == id })
}

// tryGet redirects to the address of a GET operation with the parameters of the request. Empty ones are left out.
func (u *UI) tryGet(w http.ResponseWriter, r *http.Request, id string) error {
	for _, group := range u.apiGroups {
		for _, rt := range group.Routes {
			if rt.ID != id || rt.Method != http.MethodGet {
				continue
			}
			address, err := rt.address(r.URL.Query())
			if err != nil {
				return err
			}
			w.Header().Set("Cache-Control", "no-store")
			redirect(w, address)
			return nil
		}
	}
	return problem.Newf(http.StatusNotFound, "No such operation", "the API has no operation %q that only reads", id)
}

// address returns the path and query of a call. Headers are not in an address and are left out. It refuses an empty
// parameter in the path.
func (rt route) address(values url.Values) (string, error) {
	path, query := rt.Path, url.Values{}
	for _, p := range rt.Parameters {
		given := values.Get(p.Name)
		switch {
		case p.In == "path" && strings.Trim(given, ".") == "": // browsers resolve . and .., too
			return "", problem.Newf(http.StatusBadRequest, "Parameter missing", "%s needs %s", rt.Path, p.Name)
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(given), 1)
		case p.In == "query":
			for _, v := range values[p.Name] {
				if v != "" {
					query.Add(p.Name, v)
				}
			}
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, nil
}

// snippet is a call as text to copy into a shell or a program.
type snippet struct{ Language, Text string }

// snippets returns a call of the operation, with what it requires, for an archive at base. What the document has no
// example of stands there by its name in capitals.
func (rt route) snippets(base string) ([]snippet, error) {
	path, query := rt.Path, url.Values{}
	for _, p := range rt.Parameters {
		value := cmp.Or(p.Example, strings.ToUpper(p.Name))
		switch {
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(value), 1)
		case p.In == "query" && p.Required:
			query.Set(p.Name, value)
		}
	}
	address := strings.TrimSuffix(base, "/") + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	headers := map[string]string{}
	if rt.Token {
		headers["Authorization"] = "Bearer TOKEN"
	}
	if rt.BodyType != "" {
		headers["Content-Type"] = rt.BodyType
	}
	curl := "curl"
	if rt.Method != http.MethodGet {
		curl += " -X " + rt.Method
	}
	for _, name := range []string{"Authorization", "Content-Type"} {
		if headers[name] != "" {
			curl += " -H " + shell(name+": "+headers[name])
		}
	}
	if rt.BodyType != "" {
		curl += " --data-binary " + shell(rt.BodyExample)
	}
	var list [4]string
	for i, v := range []any{address, rt.Method, headers, rt.BodyExample} {
		text, err := jsonText(v)
		if err != nil {
			return nil, fmt.Errorf("ui: snippets of %s: %w", rt.ID, err)
		}
		list[i] = text
	}
	python := "import urllib.request\n\nrequest = urllib.request.Request(" + list[0] + ", method=" + list[1]
	script := "const response = await fetch(" + list[0] + ", { method: " + list[1]
	if len(headers) > 0 {
		python, script = python+", headers="+list[2], script+", headers: "+list[2]
	}
	if rt.BodyType != "" {
		python, script = python+", data="+list[3]+".encode()", script+", body: "+list[3]
	}
	return []snippet{
		{"curl", curl + " " + shell(address)},
		{"Python", python + ")\nwith urllib.request.urlopen(request) as response:\n    print(response.status, response.read())"},
		{"JavaScript", script + " });\nconsole.log(response.status, await response.text());"},
	}, nil
}

// shell quotes text for a POSIX shell.
func shell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// jsonText returns JSON, which Python and JavaScript read as the same text or map of texts.
func jsonText(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // templates escape it
	if err := e.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}
