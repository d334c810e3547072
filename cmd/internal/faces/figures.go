package faces

import (
	"context"
	"encoding/json"
	"net/http"

	"odarchive/sparqlapi/problem"
)

// Figures is the output of "stats --json" and the response of GET /stats/figures. JSON names are stable.
type Figures struct {
	Resources   int            `json:"resources"`
	Crawled     int            `json:"crawled"`
	Hosts       int            `json:"hosts"`
	Portals     int            `json:"portals"`
	Datasets    int            `json:"datasets"`
	Versions    int            `json:"versions"`
	Visits      int            `json:"visits"`
	Bytes       int64          `json:"bytes"`
	StoredBytes int64          `json:"storedBytes"`
	Triples     int            `json:"triples"`
	Types       map[string]int `json:"types"`
}

// Figures returns the figures of the archive.
func (a *Faces) Figures(ctx context.Context) (Figures, error) {
	s, err := a.store.Archive.Stats(ctx)
	if err != nil {
		return Figures{}, err
	}
	f := Figures{s.Resources, s.Crawled, s.Hosts, s.Portals, s.Datasets, s.Versions, s.Visits, s.Bytes, s.StoredBytes, s.Triples,
		map[string]int{}}
	for _, t := range s.Types {
		f.Types[t.Key] = t.Count
	}
	return f, nil
}

// figuresHandler answers GET /stats/figures.
func (a *Faces) figuresHandler() http.Handler {
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		f, err := a.Figures(r.Context())
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		return json.NewEncoder(w).Encode(f)
	})
}
