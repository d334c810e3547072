package ckan

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// fake is a CKAN portal with optional quirks.
type fake struct {
	packages []loose.Value
	maxRows  int    // maximum number of rows; 0 means no limit
	noSort   bool   // ignores the order
	noFilter bool   // ignores fq
	badSort  bool   // rejects an order
	poison   string // ID of a package that cannot be served
	apis     []string
	wrong    map[string]string                                 // answers by action, instead of the usual ones
	before   func(w http.ResponseWriter, r *http.Request) bool // answers the request, or returns false
	asked    []string
}

func (f *fake) source() portalapi.Harvester {
	return New(portalapi.Source{URL: "https://data.example/", HTTP: &portaltest.Web{Handler: f}, Rows: 4,
		Now: func() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }})
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.asked = append(f.asked, r.URL.RequestURI())
	if f.before != nil && f.before(w, r) {
		return
	}
	apis := f.apis
	if apis == nil {
		apis = []string{"/api/3/action/"}
	}
	for _, api := range apis {
		if action, found := strings.CutPrefix(r.URL.Path, api); found {
			f.act(w, r, action)
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, "<!DOCTYPE html><title>404 Not Found</title>")
}

func (f *fake) act(w http.ResponseWriter, r *http.Request, action string) {
	if answer, found := f.wrong[action]; found {
		if status, rest, ok := strings.Cut(answer, " "); ok && len(status) == 3 {
			var code int
			fmt.Sscan(status, &code)
			w.WriteHeader(code)
			answer = rest
		}
		fmt.Fprint(w, answer)
		return
	}
	switch action {
	case "status_show":
		fmt.Fprint(w,
			`{"success":true,"result":{"site_title":"Data of Example","site_description":"All of `+
				`it","ckan_version":"2.10.4","locale_default":"en"}}`)
	case "package_search":
		f.search(w, r)
	case "package_list":
		names := []string{}
		for _, p := range f.packages {
			names = append(names, p.Get("name").Text())
		}
		f.result(w, names)
	case "package_show":
		for _, p := range f.packages {
			if id := r.URL.Query().Get("id"); id == p.Get("name").Text() || id == p.Get("id").Text() {
				f.result(w, json.RawMessage(p.JSON()))
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"success":false,"error":{"__type":"Not Found Error","message":"Not found"}}`)
	case "current_package_list_with_resources":
		start, limit := number(r, "offset"), number(r, "limit")
		f.result(w, raw(f.packages[min(start, len(f.packages)):min(start+limit, len(f.packages))]))
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `"Bad request - Action name not known"`)
	}
}

func (f *fake) search(w http.ResponseWriter, r *http.Request) {
	found := slices.Clone(f.packages)
	if f.badSort && r.URL.Query().Get("sort") != "" {
		w.WriteHeader(http.StatusConflict)
		fmt.Fprint(w,
			`{"success":false,"error":{"__type":"Search Query Error","message":"Search Query is invalid: 'Unable to sort by field'"}}`)
		return
	}
	if r.URL.Query().Get("sort") == "metadata_modified asc, id asc" && !f.noSort {
		slices.SortStableFunc(found, func(a, b loose.Value) int {
			return strings.Compare(a.Get("metadata_modified").Text()+a.Get("id").Text(),
				b.Get("metadata_modified").Text()+b.Get("id").Text())
		})
	}
	if from, ok := strings.CutPrefix(r.URL.Query().Get("fq"), "metadata_modified:["); ok && !f.noFilter {
		since, _ := harvest.ParseTime(strings.TrimSuffix(from, " TO *]"))
		found = slices.DeleteFunc(found, func(v loose.Value) bool {
			t, _ := harvest.ParseTime(v.Get("metadata_modified").Text())
			return t.Before(since)
		})
	}
	start, rows := number(r, "start"), number(r, "rows")
	if f.maxRows > 0 {
		rows = min(rows, f.maxRows)
	}
	page := found[min(start, len(found)):min(start+rows, len(found))]
	for _, p := range page {
		if f.poison != "" && p.Get("id").Text() == f.poison {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
	}
	f.result(w, map[string]any{"count": len(found), "results": raw(page)})
}

func number(r *http.Request, name string) (n int) {
	fmt.Sscan(r.URL.Query().Get(name), &n)
	return n
}

func raw(packages []loose.Value) []json.RawMessage {
	list := []json.RawMessage{}
	for _, p := range packages {
		list = append(list, json.RawMessage(p.JSON()))
	}
	return list
}

func (f *fake) result(w http.ResponseWriter, result any) {
	json.NewEncoder(w).Encode(map[string]any{"help": "…", "success": true, "result": result})
}

// packages returns n packages, whose changes are not in the order of their IDs.
func packages(n int) []loose.Value {
	var list []loose.Value
	for i := range n {
		changed := time.Date(2026, 1, 1, 0, (i*7)%n, 0, 0, time.UTC)
		list = append(list, parse(
			fmt.Sprintf(
				`{"id":"id-%02d","name":"set-%02d","title":"Set `+
					`%d","metadata_modified":"%s","state":"active","resources":[{"id":"r","url":"https://data.example/%d.csv","format":"C`+
					`SV"}]}`,
				i, i, i, changed.Format("2006-01-02T15:04:05.000000"), i)))
	}
	return list
}

func parse(s string) loose.Value {
	v, err := loose.Parse([]byte(s))
	if err != nil {
		panic(err)
	}
	return v
}
