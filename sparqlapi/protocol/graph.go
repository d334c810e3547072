package protocol

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
)

// holdBack is how much of a graph is held back, in bytes, in a syntax that cannot hold every graph, so that another
// syntax can still be chosen.
const holdBack = 1 << 20

// graph answers with a graph in syntax f. If f cannot hold the graph, it takes the syntax that Accept prefers among the
// others; if a parameter named f, or Accept leaves none, the answer is a problem of status 406.
func (h *Handler) graph(w *spool, r *http.Request, f format, named, federated bool, run func() (*sparql.Results, error)) (warnings []string,
	err error) {
	for unfit := []string(nil); ; {
		warnings, err := h.graphAs(w, f, federated, run)
		var cannot *unwritable
		if !errors.As(err, &cannot) {
			return warnings, err
		}
		unfit = append(unfit, f.syntax.Name)
		next, none := negotiate(r, true, unfit)
		if named || none != nil {
			return nil, problem.Wrap(http.StatusNotAcceptable, "The format cannot hold this graph", cannot)
		}
		f = next
	}
}

// unwritable is the error of a graph that a syntax cannot hold.
type unwritable struct {
	syntax string
	term   *rdfio.TermError
}

func (e *unwritable) Error() string {
	return fmt.Sprintf("%s cannot hold this graph (%v); Turtle and N-Triples can.", e.syntax, e.term)
}
func (e *unwritable) Unwrap() error { return e.term }

// graphAs answers in syntax f. The error is *unwritable, and nothing has been sent, if f cannot hold the graph. Of a
// graph longer than holdBack that is only known for RDF/XML, for which graphAs reads the results to their end first and
// then runs the query again; any other syntax is cut off.
func (h *Handler) graphAs(w *spool, f format, federated bool, run func() (*sparql.Results, error)) (warnings []string, err error) {
	res, err := run()
	if err != nil {
		return nil, err
	}
	defer res.Close()
	t := newTracked(w, f.contentType())
	switch {
	case holdsEverything(f.syntax) && federated:
		t.hold, t.until = holdFederated, time.Now().Add(holdFederatedFor)
	case !holdsEverything(f.syntax):
		t.hold, t.discard = holdBack, f.syntax.Is(rdfio.RDFXML())
	}
	if err := writeGraph(t, f, res, h.prefixes(res)); err != nil {
		return nil, err
	}
	if !t.discarded {
		return res.LateWarnings(), t.release()
	}
	res.Close()
	if res, err = run(); err != nil {
		return nil, err
	}
	defer res.Close()
	if err := writeGraph(newTracked(w, f.contentType()), f, res, h.prefixes(res)); err != nil {
		return nil, err
	}
	return res.LateWarnings(), nil
}

// holdsEverything reports whether a syntax can hold every graph: all predicates and triple terms.
func holdsEverything(s rdfio.Syntax) bool {
	return slices.ContainsFunc([]rdfio.Syntax{rdfio.Turtle(), rdfio.NTriples(), rdfio.TriG(), rdfio.NQuads(), rdfio.N3()}, s.Is)
}

func writeGraph(t *trackedWriter, f format, res *sparql.Results, prefixes map[string]string) error {
	out := rdfio.NewWriter(t, f.syntax, prefixes)
	for n := 0; ; n++ {
		if n > 0 && !res.Ready() {
			if err := t.push(out.Flush); err != nil {
				return err
			}
		}
		q, err := res.Triple()
		if errors.Is(err, io.EOF) {
			return out.Close()
		}
		if err != nil {
			return err
		}
		if err := out.Write(q); err != nil {
			if cannot, ok := errors.AsType[*rdfio.TermError](err); ok {
				return &unwritable{f.syntax.Name, cannot}
			}
			return err
		}
	}
}
