package cdx

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/target"
)

const (
	// block is the number of captures in what other servers call a block of their index.
	block = 1000
	// defaultPageSize and maxPageSize are in blocks.
	defaultPageSize = 5
	maxPageSize     = MaxLines / block
	maxPage         = 1_000_000
)

// pages divide the captures of an address into equal parts, before filters and times are applied. So a page may have
// few lines, or none.
type pages struct {
	on    bool
	count bool // the request asks only for the number of pages
	page  int  // from 0
	size  int  // captures
}

func (p pages) before(place int) bool { return p.on && place < p.page*p.size }
func (p pages) behind(place int) bool { return p.on && place >= (p.page+1)*p.size }

// past returns an error if the page begins after the last of some captures, as other archives do: clients that read
// page after page end with it. The first page is there even if it is empty.
func (p pages) past(captures int) error {
	if !p.on || p.page == 0 || captures > p.page*p.size {
		return nil
	}
	return bad("page=%d is past the last page, which is %d", p.page, max(0, (captures-1)/p.size))
}

// parsePages reads page, pageSize and showNumPages.
func (r *request) parsePages(q url.Values) error {
	size, err := target.Int(q, "pageSize", defaultPageSize, 1, maxPageSize)
	if err != nil {
		return err
	}
	r.pages.size = size * block
	if r.pages.page, err = target.Int(q, "page", 0, 0, maxPage); err != nil {
		return err
	}
	r.pages.count = isOn(q.Get("showNumPages"))
	r.pages.on = q.Get("page") != ""
	if r.pages.on && (r.resume != "" || r.last || r.reverse || !r.closest.IsZero()) {
		return bad("page= cannot be combined with resumeKey, sort or a negative limit")
	}
	if r.pages.on {
		r.showResume = false // the next page continues, not a resumeKey
	}
	return nil
}

// countPages answers showNumPages: with a number, like the Wayback Machine, or for output=json with pywb's object.
func (h *Handler) countPages(w http.ResponseWriter, r *http.Request, q request) error {
	captures, err := h.count(r.Context(), q.prefixes)
	if err != nil {
		return err
	}
	pages := (captures + q.pages.size - 1) / q.pages.size
	w.Header().Set("Cache-Control", "no-cache")
	answer := strconv.AppendInt(nil, int64(pages), 10)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if q.format == "json" || q.format == "jsonl" {
		w.Header().Set("Content-Type", "application/json")
		answer, err = json.Marshal(map[string]int{"pages": pages, "pageSize": q.pages.size / block,
			"blocks": (captures + block - 1) / block})
	}
	if err == nil {
		_, err = w.Write(append(answer, '\n'))
	}
	return err
}

func (h *Handler) count(ctx context.Context, prefixes []string) (n int, err error) {
	for _, prefix := range prefixes {
		err := h.Archive.Captures(ctx, prefix, "", func(catalog.Capture) (bool, error) {
			n++
			return true, nil
		})
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
