package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// web answers for all portals, as a proxy.
type web struct {
	month   func() int
	portals map[string]*portal
	files   map[string]served
}

type served struct {
	file
	dataset dataset
}

func newWeb(portals []*portal, month func() int) *web {
	w := &web{month: month, portals: map[string]*portal{}, files: map[string]served{}}
	for _, p := range portals {
		w.portals[p.Host] = p
		for _, d := range p.Datasets {
			for _, f := range d.Files {
				w.files[f.URL] = served{f, d}
			}
		}
	}
	return w
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := s.portals[r.Host]
	if p == nil {
		http.Error(w, "no such host", http.StatusBadGateway)
		return
	}
	if f, ok := s.files["http://"+r.Host+r.URL.RequestURI()]; ok {
		s.file(w, r, f)
		return
	}
	switch r.URL.Path {
	case "/robots.txt":
		fmt.Fprintln(w, "User-agent: *\nDisallow: /intern/")
	case "/catalog.ttl":
		w.Header().Set("Content-Type", "text/turtle")
		_ = p.writeCatalog(w) // the client has left
	case "/data.json":
		answer(w, p.dataJSON())
	case "/api/3/action/package_search", "/api/action/package_search":
		start, _ := strconv.Atoi(r.URL.Query().Get("start"))
		rows, _ := strconv.Atoi(r.URL.Query().Get("rows"))
		packages := p.packages()
		results := packages[min(start, len(packages)):min(start+max(rows, 1), len(packages))]
		answer(w, map[string]any{"success": true, "result": map[string]any{"count": len(packages), "results": results}})
	case "/api/3/action/status_show":
		answer(w, map[string]any{"success": true,
			"result": map[string]any{"site_title": p.Title, "site_description": p.About, "site_url": p.Home, "ckan_version": "2.11.0",
				"locale_default": "de"}})
	default:
		http.NotFound(w, r)
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client has left
}

// file answers with a file as it is this month, or in one of the ways in which files disappear.
func (s *web) file(w http.ResponseWriter, r *http.Request, f served) {
	month := s.month()
	if f.Gone >= 0 && month >= f.Gone {
		switch f.Broken {
		case 1:
			w.WriteHeader(http.StatusGone)
		case 2:
			w.WriteHeader(http.StatusInternalServerError)
		case 3:
			w.Header().Set("Content-Type", "text/html") // a status of 200 that is an error page
			fmt.Fprintf(w,
				"<!doctype html><html><head><title>404 Seite nicht gefunden</title></head><body><h1>Seite nicht gefunden</h1><p>Die "+
					"Seite existiert nicht.</p></body></html>")
		default:
			http.NotFound(w, r)
		}
		return
	}
	kind := formatOf(f.Format)
	var b bytes.Buffer
	if err := kind.Write(&b, tableOf(f.dataset, month), f.dataset); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", kind.MediaType)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(b.Bytes()))
}

// packages returns the datasets as CKAN has them.
func (p *portal) packages() (all []any) {
	for _, d := range p.Datasets {
		var tags, resources []any
		for _, k := range d.Keywords {
			tags = append(tags, map[string]any{"name": k})
		}
		for i, f := range d.Files {
			resources = append(resources,
				map[string]any{"id": d.Name + "-" + number(i), "url": f.URL, "name": f.Title, "format": f.Label,
					"mimetype": formatOf(f.Format).MediaType})
		}
		all = append(all, map[string]any{"name": d.Name, "id": d.Name, "title": d.Title, "notes": d.About, "license_url": d.Licence,
			"license_title": licenceTitle(p, d),
			"organization":  map[string]any{"title": d.Publisher, "name": slug(d.Publisher)}, "maintainer": d.Contact,
			"maintainer_email": d.ContactMail, "tags": tags,
			"groups":           []any{map[string]any{"name": d.Topic.Theme, "title": d.Topic.Theme}},
			"metadata_created": d.Issued.Format("2006-01-02T15:04:05"), "metadata_modified": d.Modified.Format("2006-01-02T15:04:05"),
			"extras": []any{map[string]any{"key": "frequency", "value": d.Frequency},
				map[string]any{"key": "theme", "value": "http://publications.europa.eu/resource/authority/data-theme/" + d.Topic.Theme},
				map[string]any{"key": "temporal_start", "value": d.TemporalFrom + "-01-01"}},
			"resources": resources})
	}
	return all
}

func licenceTitle(p *portal, d dataset) string {
	if d.Licence == "" {
		return ""
	}
	return p.LicenceName
}

// dataJSON returns the portal as Project Open Data has it.
func (p *portal) dataJSON() any {
	var all []any
	for _, d := range p.Datasets {
		var files []any
		for _, f := range d.Files {
			files = append(files,
				map[string]any{"@type": "dcat:Distribution", "downloadURL": f.URL, "title": f.Title, "format": f.Label,
					"mediaType": formatOf(f.Format).MediaType})
		}
		all = append(all, map[string]any{"@type": "dcat:Dataset", "identifier": d.Name, "title": d.Title, "description": d.About,
			"keyword": d.Keywords, "license": d.Licence,
			"publisher":    map[string]any{"@type": "org:Organization", "name": d.Publisher},
			"contactPoint": map[string]any{"@type": "vcard:Contact", "fn": d.Contact, "hasEmail": "mailto:" + d.ContactMail},
			"issued":       d.Issued.Format(time.DateOnly), "modified": d.Modified.Format(time.RFC3339),
			"landingPage": p.Home + "dataset/" + d.Name, "temporal": d.TemporalFrom + "-01-01/2026-10-31",
			"theme": []string{d.Topic.Theme}, "accessLevel": "public", "distribution": files})
	}
	return map[string]any{"@context": "https://project-open-data.cio.gov/v1.1/schema/catalog.jsonld", "@type": "dcat:Catalog",
		"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": all}
}
