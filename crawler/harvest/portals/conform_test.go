package portals

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

// number returns a parameter as a number.
func number(r *http.Request, name string) (n int) {
	fmt.Sscan(r.FormValue(name), &n)
	return n
}

// source returns the harvester of a portal.
func source(address string, make func(portalapi.Source) portalapi.Harvester) func(harvest.Doer) harvest.Harvester {
	return func(http harvest.Doer) harvest.Harvester {
		return make(portalapi.Source{URL: address, HTTP: http, Rows: portaltest.PageSize, Now: portaltest.Now})
	}
}

func newestFirst(list []portaltest.Entry) []portaltest.Entry {
	slices.SortStableFunc(list, func(a, b portaltest.Entry) int { return cmp.Compare(b.Changed, a.Changed) })
	return list
}

func oldestFirst(list []portaltest.Entry) []portaltest.Entry {
	list = newestFirst(list)
	slices.Reverse(list)
	return list
}

// since returns the time in a condition such as "updated:[TIME TO *]".
func since(condition, before, after string) string {
	_, rest, _ := strings.Cut(condition, before)
	time, _, _ := strings.Cut(rest, after)
	return time
}

func datafile(e portaltest.Entry) string {
	if e.File == "" {
		return ""
	}
	return fmt.Sprintf("https://dv.example/api/access/datafile/%d", e.N)
}

func fileOf(e portaltest.Entry) string {
	if e.File == "" {
		return ""
	}
	return fmt.Sprintf(`{"label":"a.csv","dataFile":{"id":%d,"filename":"a.csv"}}`, e.N)
}

func TestEveryDialectConforms(t *testing.T) {
	for name, d := range map[string]portaltest.Dialect{
		"udata": {
			Source: source("https://u.example/fr/datasets/", NewUdata),
			IRI:    func(e portaltest.Entry) string { return fmt.Sprintf("https://u.example/datasets/set-%d/", e.N) },
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				switch r.URL.Path {
				case "/api/1/site/":
					return `{"id":"x","title":"U"}`
				case "/api/1/datasets/":
				default:
					return ""
				}
				list := slices.Clone(p.Entries)
				if r.FormValue("sort") == "-last_update" {
					list = newestFirst(list)
				}
				n := number(r, "page")
				if number(r, "page_size") == 1 {
					return fmt.Sprintf(`{"data":[],"next_page":null,"total":%d}`, len(list))
				}
				page, next := p.Page(list, (n-1)*portaltest.PageSize)
				after := "null"
				if next > 0 {
					after = fmt.Sprintf(`"http://inside:7000/api/1/datasets/?page=%d"`, n+1)
				}
				return fmt.Sprintf(`{"data":[%s],"next_page":%s,"total":%d}`, portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(`{"id":"id%d","slug":"set-%[1]d","title":%q,"last_update":%q,"resources":[{"id":"r","url":%q}]}`,
						e.N,
						e.Title, e.Changed, e.File)
				}), after, len(list))
			},
		},
		"datacite": {
			Source: source("https://api.example/dois?client-id=c", NewDataCite),
			IRI:    func(e portaltest.Entry) string { return fmt.Sprintf("https://doi.org/10.1/%d", e.N) },
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				if r.URL.Path != "/dois" {
					return ""
				}
				list := p.Since(since(r.FormValue("query"), "updated:[", " TO"))
				if number(r, "page[size]") == 0 && r.URL.Query().Has("page[size]") || number(r, "page[size]") == 1 {
					return fmt.Sprintf(`{"data":[],"meta":{"total":%d}}`, len(list))
				}
				from := 0
				fmt.Sscanf(r.FormValue("page[cursor]"), "c%d", &from)
				page, next := p.Page(list, from)
				after := ""
				if next > 0 {
					after = fmt.Sprintf(`"next":"https://api.example/dois?page%%5Bcursor%%5D=c%d"`, next)
				}
				return fmt.Sprintf(`{"data":[%s],"meta":{"total":%d},"links":{%s}}`, portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(
						`{"id":"10.1/%d","attributes":{"doi":"10.1/%[1]d","titles":[{"title":%q}],"updated":%q,"contentUrl":%q}}`,
						e.N, e.Title, e.Changed, e.File)
				}), len(list), after)
			},
		},
		"dataverse": {
			Source: source("https://dv.example/", NewDataverse),
			File:   datafile,
			IRI: func(e portaltest.Entry) string {
				return fmt.Sprintf("https://dv.example/dataset.xhtml?persistentId=doi%%3A10.1%%2F%d", e.N)
			},
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				switch r.URL.Path {
				case "/api/info/version":
					return `{"status":"OK","data":{"version":"6.2"}}`
				case "/api/datasets/:persistentId/":
					for _, e := range p.Entries {
						if r.FormValue("persistentId") == fmt.Sprintf("doi:10.1/%d", e.N) {
							return fmt.Sprintf(
								`{"status":"OK","data":{"id":7,"latestVersion":{"lastUpdateTime":%q,"metadataBlocks":{"citation":{`+
									`"fields":[{"typeName":"title","value":%q}]}},"files":[%s]}}}`, e.Changed, e.Title, fileOf(e))
						}
					}
				case "/api/search":
					list := p.Since(since(r.FormValue("fq"), "dateSort:[", " TO"))
					page, _ := p.Page(list, number(r, "start"))
					return fmt.Sprintf(`{"status":"OK","data":{"total_count":%d,"items":[%s]}}`, len(list),
						portaltest.Join(page, func(e portaltest.Entry) string {
							return fmt.Sprintf(`{"name":%q,"type":"dataset","global_id":"doi:10.1/%d","published_at":%q}`, e.Title, e.N,
								e.Changed)
						}))
				}
				return ""
			},
		},
		"invenio": {
			Source: source("https://repo.example/", NewInvenio),
			IRI:    func(e portaltest.Entry) string { return fmt.Sprintf("https://repo.example/records/r%d", e.N) },
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				if r.URL.Path != "/api/records" {
					return ""
				}
				list := oldestFirst(p.Since(since(r.FormValue("q"), "updated:[", " TO")))
				if number(r, "size") == 1 {
					return fmt.Sprintf(`{"hits":{"hits":[],"total":%d}}`, len(list))
				}
				page, _ := p.Page(list, (max(number(r, "page"), 1)-1)*portaltest.PageSize)
				return fmt.Sprintf(`{"hits":{"hits":[%s],"total":%d}}`, portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(`{"id":"r%d","updated":%q,"metadata":{"title":%q},"files":[{"key":"a.csv","links":{"self":%q}}]}`,
						e.N,
						e.Changed, e.Title, e.File)
				}), len(list))
			},
		},
		"magda": {
			Source:  source("https://m.example/search?q=x", NewMagda),
			NoTotal: true,
			IRI:     func(e portaltest.Entry) string { return fmt.Sprintf("https://m.example/dataset/ds-%d", e.N) },
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				switch r.URL.Path {
				case "/api/v0/registry/records/count":
					return fmt.Sprintf(`{"count":%d}`, len(p.Entries))
				case "/api/v0/registry/records":
				default:
					return ""
				}
				from := strings.ReplaceAll(r.FormValue("aspectQuery"), "%3A", ":")
				page, next := p.Page(p.Since(strings.TrimPrefix(from, "dcat-dataset-strings.modified:>=")), number(r, "pageToken"))
				return fmt.Sprintf(`{"hasMore":%t,"nextPageToken":"%d","records":[%s]}`, next > 0, next,
					portaltest.Join(page, func(e portaltest.Entry) string {
						return fmt.Sprintf(
							`{"id":"ds-%d","aspects":{"dcat-dataset-strings":{"title":%q,"modified":%q},"dataset-distributions":{`+
								`"distributions":[{"aspects":{"dcat-distribution-strings":{"downloadURL":%q}}}]}}}`, e.N, e.Title,
							e.Changed,
							e.File)
					}))
			},
		},
		"opendatasoft": {
			Source: source("https://ods.example/explore/", NewOpenDataSoft),
			IRI: func(e portaltest.Entry) string {
				return fmt.Sprintf("https://ods.example/explore/dataset/set-%03d/", e.N)
			},
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				if r.URL.Path != "/api/explore/v2.1/catalog/datasets" {
					return ""
				}
				where := r.FormValue("where")
				list := p.Since(since(where, "modified >= date'", "'"))
				if first, ok := strings.CutPrefix(where, `dataset_id > "`); ok {
					list = slices.DeleteFunc(list, func(e portaltest.Entry) bool {
						return fmt.Sprintf("set-%03d", e.N) <= strings.TrimSuffix(first, `"`)
					})
				}
				if r.FormValue("limit") == "1" {
					return fmt.Sprintf(`{"total_count":%d,"results":[]}`, len(list))
				}
				page, _ := p.Page(list, number(r, "offset"))
				return fmt.Sprintf(`{"total_count":%d,"results":[%s]}`, len(list), portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(
						`{"dataset_id":"set-%03d","attachments":[{"href":%q,"metas":{"title":"a"}}],"metas":{"default":{"title":%q,`+
							`"modified":%q}}}`, e.N, e.File, e.Title, e.Changed)
				}))
			},
		},
		"socrata": {
			Source: source("https://city.example/browse", NewSocrata),
			File: func(e portaltest.Entry) string {
				return fmt.Sprintf("https://city.example/api/views/aaaa-%04d/rows.csv?accessType=DOWNLOAD", e.N)
			},
			IRI: func(e portaltest.Entry) string { return fmt.Sprintf("https://city.example/d/aaaa-%04d", e.N) },
			Answer: func(p *portaltest.Portal, r *http.Request) string {
				if r.URL.Path != "/api/catalog/v1" {
					return ""
				}
				list, from := slices.Clone(p.Entries), number(r, "offset")
				if r.FormValue("order") == "updatedAt DESC" {
					list = newestFirst(list)
				}
				if id := r.FormValue("scroll_id"); id != "" {
					from = 1 + slices.IndexFunc(list, func(e portaltest.Entry) bool { return fmt.Sprintf("aaaa-%04d", e.N) == id })
				}
				if r.FormValue("limit") == "1" {
					return fmt.Sprintf(`{"results":[],"resultSetSize":%d}`, len(list))
				}
				page, _ := p.Page(list, from)
				return fmt.Sprintf(`{"results":[%s],"resultSetSize":%d}`, portaltest.Join(page, func(e portaltest.Entry) string {
					return fmt.Sprintf(`{"resource":{"id":"aaaa-%04d","name":%q,"type":"dataset","updatedAt":%q}}`, e.N, e.Title, e.Changed)
				}), len(list))
			},
		},
	} {
		t.Run(name, func(t *testing.T) { portaltest.Conform(t, d) })
	}
}
