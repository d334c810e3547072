package sparqlapi

import (
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// evidenceRoutes registers the transparency log and proofs.
func (o Options) evidenceRoutes(r, text chi.Router) {
	if e := o.Evidence; e != nil {
		read(r, "/log/checkpoint", e.Checkpoint)
		read(r, "/log/checkpoint.tsr", e.TimeStamp)
		read(text, "/log/tile/*", e.Tile)
		read(r, "/log/key", e.Key)
		read(text, "/proof/{id}", e.Proof)
		o.may(r, access.Admin).Post("/log/sign", problem.Handler(e.SignNow))
		r.With(answer.LastingHandler).Post("/log/cosignatures", problem.Handler(e.Cosignatures))
	}
}
