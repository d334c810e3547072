package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"odarchive/sparqlapi/conneg"
	"odarchive/triplestore/sparql"
)

// explain runs the query to its end and writes its plan instead of its results: as text, or as JSON if a format
// parameter or Accept asks for it.
func explain(w http.ResponseWriter, r *http.Request, req *request, q *sparql.Query, res *sparql.Results) error {
	began := time.Now()
	n, err := drain(res)
	if err != nil {
		return err
	}
	took := time.Since(began)
	if !explainsAsJSON(r, req) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err = fmt.Fprintf(w, "%s\n%s\n%d results in %s\n", q.Algebra(), res.Explain(), n, took.Round(time.Microsecond))
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(struct {
		Algebra      string          `json:"algebra"`
		Plan         sparql.PlanStep `json:"plan"`
		Results      int64           `json:"results"`
		Milliseconds float64         `json:"milliseconds"`
	}{q.Algebra(), res.Plan(), n, float64(took.Microseconds()) / 1e3})
}

func explainsAsJSON(r *http.Request, req *request) bool {
	if len(req.formats) > 0 {
		f, ok := formatByName(req.formats[0], false)
		return ok && f.rows.String() == "json"
	}
	offer, ok := conneg.Negotiate(r, conneg.Of("text/plain", "application/json"))
	return ok && offer.MediaType == "application/json"
}

func drain(res *sparql.Results) (n int64, err error) {
	for ; res.Kind != sparql.Boolean; n++ {
		if res.Kind == sparql.Triples {
			_, err = res.Triple()
		} else {
			_, err = res.Next()
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return 1, nil
}
