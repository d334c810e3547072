package graphstore

import (
	"fmt"
	"mime"
	"net/http"

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

// writeDataset replaces the dataset by the body (PUT), or adds the body to it (POST), in one transaction.
func (h *Handler) writeDataset(w http.ResponseWriter, r *http.Request) error {
	quads, err := h.body(w, r, "", true)
	if err != nil {
		return err
	}
	err = h.store.Update(r.Context(), func(t *triplestore.Txn) error {
		sn := t.Snapshot() // released with the transaction
		if err := precondition(r, true, entityTag(sn)); err != nil {
			return err
		}
		if r.Method == http.MethodPut {
			if err := clearAll(t, sn); err != nil {
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

func clearAll(t *triplestore.Txn, sn *triplestore.Snapshot) error {
	var ids []term.ID
	if err := sn.Graphs(func(g term.ID) bool { ids = append(ids, g); return true }); err != nil {
		return fmt.Errorf("graphstore: list the graphs: %w", err)
	}
	names := make([]term.Key, len(ids))
	if err := sn.Keys(ids, names); err != nil {
		return fmt.Errorf("graphstore: names of the graphs: %w", err)
	}
	for _, g := range append(names, "") {
		if err := t.ClearGraph(g); err != nil {
			return err
		}
	}
	return nil
}
