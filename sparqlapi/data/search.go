// This is the search page for programs: GET /api/v1/search.

package data

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	index "odarchive/crawler/archive/search"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/target"
	"odarchive/vocab"
)

// SearchArchive finds files. An error about the text of a search is a *catalog.QuestionError.
type SearchArchive interface {
	Search(ctx context.Context, s catalog.Search) (catalog.Found, error)
}

// SearchAPI has the handler.
type SearchAPI struct {
	Archive SearchArchive
	Mint    ns.Mint
	Now     func() time.Time
}

const maxLimit = 100

// SearchAnswer is what a search finds. JSON names are stable.
type SearchAnswer struct {
	Total     int               `json:"total"`
	Facets    map[string][]line `json:"facets,omitempty"`
	Hits      []Hit             `json:"hits"`
	Next      string            `json:"next,omitempty"`      // for after
	Text      string            `json:"text"`                // the search as one text, for q of /search, feeds and arc:search
	Query     string            `json:"query"`               // SPARQL that finds the same
	Corrected []corrected       `json:"corrected,omitempty"` // words that no file has
	Partly    bool              `json:"partly,omitempty"`    // no file has all words
	Missing   []string          `json:"missing,omitempty"`
	Bounded   bool              `json:"bounded,omitempty"` // phrases were looked for in some files only
	Waiting   int               `json:"waiting,omitempty"` // files whose descriptions and values are not indexed yet
}

type corrected struct {
	Word string `json:"word"`
	By   string `json:"by"`
}

// line is a value of a facet.
type line struct {
	Value string `json:"value"`
	Label string `json:"label,omitempty"`
	Count int    `json:"count"`
	Bytes int64  `json:"bytes"`
}

// Hit is a file that was found.
type Hit struct {
	URL          string   `json:"url"`
	Title        string   `json:"title"`
	Dataset      string   `json:"dataset,omitempty"`
	DatasetTitle string   `json:"datasetTitle,omitempty"`
	Portal       string   `json:"portal,omitempty"`
	Publisher    string   `json:"publisher,omitempty"`
	Licence      string   `json:"licence,omitempty"`
	Type         string   `json:"type,omitempty"`
	Versions     int      `json:"versions"`
	Latest       string   `json:"latest,omitempty"` // IRI of the latest version
	Changed      string   `json:"changed,omitempty"`
	Size         int64    `json:"size,omitempty"`
	Rows         int64    `json:"rows,omitempty"`
	Outcome      string   `json:"outcome,omitempty"`
	Delisted     string   `json:"delisted,omitempty"`
	Columns      []string `json:"columns,omitempty"` // that have a word of the search in their names
	Text         string   `json:"text,omitempty"`    // of the description, where words of the search are
	Score        float64  `json:"score"`
}

// Search answers GET /api/v1/search.
func (a *SearchAPI) Search(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	out, err := a.Find(r.Context(), q)
	if err != nil {
		return err
	}
	if out.Next != "" {
		next := url.Values{}
		for k, v := range q {
			next[k] = v
		}
		next.Set("after", out.Next)
		w.Header().Add("Link", "<"+a.Mint.Root()+"/api/v1/search?"+next.Encode()+`>; rel="next"`)
	}
	return answer.JSON(w, r, out)
}

// Find runs the search of the parameters of an address: those of the search page, limit, and facets=0 for none.
func (a *SearchAPI) Find(ctx context.Context, q url.Values) (SearchAnswer, error) {
	s, err := index.Parameters(q, a.Now())
	if err != nil {
		return SearchAnswer{}, err
	}
	if s.Limit, err = target.Int(q, "limit", 25, 1, maxLimit); err != nil {
		return SearchAnswer{}, err
	}
	s.Facets = q.Get("facets") != "0" && q.Get("facets") != "false"
	f, err := a.Archive.Search(ctx, s)
	if err != nil {
		return SearchAnswer{}, err
	}
	out := SearchAnswer{Total: f.Total, Hits: []Hit{}, Next: f.Next, Text: index.Text(s),
		Query: "PREFIX arc: <" + vocab.ArcNS + ">\n" + index.Query(s), Partly: f.Partly, Missing: f.Missing, Bounded: f.Bounded,
		Waiting: f.Indexing.Waiting}
	for _, c := range f.Corrected {
		out.Corrected = append(out.Corrected, corrected(c))
	}
	for _, one := range f.Resources {
		out.Hits = append(out.Hits, a.hit(one, f))
	}
	if s.Facets {
		out.Facets = map[string][]line{}
		for name, counts := range map[string][]catalog.Count{"type": f.Types, "portal": f.Portals, "host": f.Hosts, "licence": f.Licences,
			"publisher": f.Publishers, "since": f.Ages, "size": f.Sizes, "rows": f.TableRows} {
			out.Facets[name] = []line{}
			for _, c := range counts {
				if name == "since" { // the key is days
					c.Key += "d"
				}
				out.Facets[name] = append(out.Facets[name], line{c.Key, c.Label, c.Count, c.Bytes})
			}
		}
	}
	return out, nil
}

func (a *SearchAPI) hit(r catalog.Resource, f catalog.Found) Hit {
	about := f.About[r.ID]
	h := Hit{URL: r.URL, Title: r.Title, DatasetTitle: r.DatasetTitle, Publisher: about.Publisher, Licence: about.Licence,
		Type: r.MediaType, Versions: r.Versions, Size: r.Size, Rows: about.Rows,
		Outcome: string(r.Outcome), Columns: f.Columns[r.ID], Text: plain(about.Text), Score: about.Score, Changed: stamp(r.Changed),
		Delisted: stamp(r.Delisted())}
	if h.Title == "" {
		h.Title = r.FileName
	}
	if len(r.Datasets) > 0 {
		h.Dataset = r.Datasets[0]
	}
	if len(r.Portals) > 0 {
		h.Portal = r.Portals[0]
	}
	if n := r.LatestN(); n >= 0 {
		h.Latest = a.Mint.Version(ns.VersionID(r.ID, n))
	}
	return h
}

func plain(pieces []catalog.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String()
}

// stamp returns a time in RFC 3339, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
