package sparql

import (
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/expr"
	"odarchive/triplestore/sparql/internal/plan"
)

// foreignFunctions are the namespaces in which other engines have predicates that compute something. No such predicate
// is known here unless package plan knows it, so a pattern with one finds nothing.
var foreignFunctions = []string{"http://jena.apache.org/", "http://jena.hpl.hp.com/ARQ/", "java:", "bif:",
	"http://www.openlinksw.com/schemas/bif#",
	"http://www.ontotext.com/owlim/", "http://www.ontotext.com/connectors/", "http://www.bigdata.com/rdf/search#",
	"tag:stardog:api:property:"}

// unknownCalls returns a sentence for each function IRI in the query's expressions, and each property function of
// another engine in its patterns, that this engine does not have. It does not look into SERVICE.
func unknownCalls(q *algebra.Query) []string {
	var out []string
	say := func(format, iri string) {
		if s := fmt.Sprintf(format, iri); !slices.Contains(out, s) && len(out) < maxWarnings {
			out = append(out, s)
		}
	}
	algebra.Each(q.Pattern, func(op algebra.Op) {
		switch op := op.(type) {
		case algebra.BGP:
			for _, t := range op.Patterns {
				if p := t.P.Term; t.P.Var == "" && isForeign(p.Value()) && !plan.IsPropertyFunction(p.Value()) {
					say("the property function <%s> is unknown: it is read as a predicate, which no triple has", p.Value())
				}
			}
		}
	}, func(e algebra.Expr) {
		if c, ok := e.(algebra.Call); ok && !expr.Known(c.Func) {
			say("the function <%s> is unknown: each call of it is an error", c.Func)
		}
	})
	return out
}

// maxWarnings bounds the warnings about one query.
const maxWarnings = 20

func isForeign(iri string) bool {
	return slices.ContainsFunc(foreignFunctions, func(ns string) bool { return strings.HasPrefix(iri, ns) })
}
