package graphstore

import (
	"fmt"
	"mime"
	"net/http"
	"slices"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// bare reports whether a request is for the endpoint itself, as in Jena's and RDF4J's extension of the protocol.
func bare(r *http.Request) bool { return r.PathValue("*") == "" && r.URL.RawQuery == "" }

// datasetOffers returns the syntaxes in which the whole dataset is available, best first.
func datasetOffers() []rdfio.Syntax {
	return []rdfio.Syntax{rdfio.TriG(), rdfio.NQuads(), rdfio.JSONLD(), rdfio.TriX()}
}

// sendsDataset reports whether the body of a request is in a syntax that holds named graphs.
func sendsDataset(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	s, ok := rdfio.ByMediaType(kind)
	return ok && s.Quads
}

// getDataset streams all graphs, the default graph first.
func (h *Handler) getDataset(w http.ResponseWriter, r *http.Request) error {
	s, err := negotiate(w, r, datasetOffers())
	if err != nil {
		return err
	}
	sn := h.store.Snapshot()
	defer sn.Release()
	graphs := []term.Pattern{{G: term.DefaultGraph}}
	err = sn.Graphs(func(g term.ID) bool {
		graphs = append(graphs, term.Pattern{G: g})
		return true
	})
	if err != nil {
		return fmt.Errorf("graphstore: list the graphs: %w", err)
	}
	return h.send(w, r, sn, s, graphs, true)
}

// writeDataset replaces the dataset by the body (PUT), or adds the body to it (POST), in one transaction. PUT leaves
// the graphs that belong to the server as they are, and refuses a body that has any of them.
func (h *Handler) writeDataset(w http.ResponseWriter, r *http.Request) error {
	quads, err := h.body(w, r, "", true)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPut {
		if i := slices.IndexFunc(quads, func(q term.Quad) bool { return h.o.Owned(q.G) }); i >= 0 {
			return ownedGraph(quads[i].G, "PUT of a whole dataset does not replace: leave it out, or add to it with POST")
		}
	}
	err = h.store.Update(r.Context(), func(t *triplestore.Txn) error {
		sn := t.Snapshot() // released with the transaction
		if err := precondition(r, true, entityTag(sn)); err != nil {
			return err
		}
		if r.Method == http.MethodPut {
			if err := h.clearAll(t, sn); err != nil {
				return err
			}
		}
		return insert(r.Context(), t, quads)
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ownedGraph is the error of a request that would remove a graph that belongs to the server. instead goes on where the
// sentence says what the graph holds.
func ownedGraph(g term.Key, instead string) error {
	name := "the default graph"
	if g != "" {
		name = "the graph <" + g.Value() + ">"
	}
	return problem.Newf(http.StatusConflict, "The graph belongs to the archive", "%s holds the archive's own records, which %s", name,
		instead)
}

// clearAll removes all graphs that do not belong to the server.
func (h *Handler) clearAll(t *triplestore.Txn, sn *triplestore.Snapshot) error {
	var ids []term.ID
	if err := sn.Graphs(func(g term.ID) bool { ids = append(ids, g); return true }); err != nil {
		return fmt.Errorf("graphstore: list the graphs: %w", err)
	}
	names := make([]term.Key, len(ids))
	if err := sn.Keys(ids, names); err != nil {
		return fmt.Errorf("graphstore: names of the graphs: %w", err)
	}
	for _, g := range append(names, "") {
		if h.o.Owned(g) {
			continue
		}
		if err := t.ClearGraph(g); err != nil {
			return err
		}
	}
	return nil
}
