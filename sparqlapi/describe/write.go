package describe

import (
	"bytes"
	"fmt"
	"net/http"
	"time"

	"odarchive/sparqlapi/answer"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// write sends statements in a syntax, with an ETag of the bytes. http.ServeContent handles conditions and HEAD.
func write(w http.ResponseWriter, r *http.Request, s rdfio.Syntax, quads []term.Quad) error {
	var body bytes.Buffer
	out := rdfio.NewWriter(&body, s, vocab.Prefixes())
	for _, q := range quads {
		if err := out.Write(q); err != nil {
			return fmt.Errorf("linkeddata: write %s: %w", s, err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("linkeddata: write %s: %w", s, err)
	}
	h := w.Header()
	contentType := s.MediaType
	if s.MediaType == "text/turtle" {
		contentType += "; charset=utf-8"
	}
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", answer.Tag(body.Bytes()))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body.Bytes()))
	return nil
}
