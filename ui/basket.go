package ui

import (
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

const maxBasket = 500

// basket answers GET /basket?id=...: versions that are collected for one zip. The address contains the whole basket, so
// it can be sent to others. The script keeps the basket between pages.
func (u *UI) basket(w http.ResponseWriter, r *http.Request) error {
	ids := r.URL.Query()["id"]
	if len(ids) > maxBasket {
		return problem.Newf(http.StatusBadRequest, "Too many versions", "a basket holds at most %d; ask the console for more at once",
			maxBasket)
	}
	type line struct {
		catalog.Version
		Without string // address of the basket without this version
	}
	page := struct {
		Lines   []line
		Missing []string
		Bytes   int64
		Query   string
	}{}
	var values []string
	for i, id := range ids {
		if _, _, ok := ns.SplitVersionID(id); !ok {
			page.Missing = append(page.Missing, id)
			continue
		}
		v, err := u.archive.Version(r.Context(), id)
		if err != nil {
			if r.Context().Err() != nil {
				return err
			}
			page.Missing = append(page.Missing, id)
			continue
		}
		rest := url.Values{}
		for j, other := range ids {
			if j != i {
				rest.Add("id", other)
			}
		}
		page.Lines = append(page.Lines, line{v, "/basket?" + rest.Encode()})
		page.Bytes += v.Size
		values = append(values, "    <"+u.mint.Version(id)+">")
	}
	if len(values) > 0 {
		page.Query = "SELECT ?version WHERE {\n  VALUES ?version {\n" + strings.Join(values, "\n") + "\n  }\n}"
	}
	return u.render(w, r, http.StatusOK, "basket", view{Title: "Basket", Page: page})
}
