package sparql

import (
	"strconv"

	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/syntax"
)

// rowForm is the form in which a query contains the rows that restrict its solutions.
type rowForm int32

const (
	asValues rowForm = iota // as VALUES of SPARQL 1.1
	asFilter                // as FILTER, for endpoints with SPARQL 1.0
)

// serviceQuery returns the query to send: the pattern, restricted to solutions that agree with a row of the request.
func serviceQuery(req exec.ServiceRequest, form rowForm) string {
	switch {
	case req.Rows == nil:
		return "SELECT * WHERE " + req.Op.Text
	case form == asFilter:
		return filterQuery(req)
	}
	b := []byte("SELECT * WHERE { VALUES (")
	for _, v := range req.Keys {
		b = append(append(append(b, '?'), v...), ' ')
	}
	b = append(b, ") {"...)
	for _, row := range req.Rows {
		b = append(b, "\n ("...)
		for _, k := range row {
			b = append(syntax.AppendTerm(b, k), ' ')
		}
		b = append(b, ')')
	}
	return string(append(append(append(b, " }\n"...), req.Op.Text...), " }"...))
}

// filterQuery restricts the solutions with a FILTER. Since = compares values and not terms, more solutions may pass
// than agree with the rows.
func filterQuery(req exec.ServiceRequest) string {
	b := []byte("SELECT * WHERE { ")
	b = append(append(b, req.Op.Text...), " FILTER ("...)
	for i, row := range req.Rows {
		if i > 0 {
			b = append(b, "\n || "...)
		}
		for j, k := range row {
			if j > 0 {
				b = append(b, " && "...)
			}
			b = append(append(append(b, '?'), req.Keys[j]...), " = "...)
			b = syntax.AppendTerm(b, k)
		}
	}
	return string(append(b, ") }"...))
}

// pageQuery returns a query for the solutions of the query text from number offset on. They are ordered by vars, or in
// the endpoint's own order if vars is nil.
func pageQuery(text string, vars []algebra.Var, offset int) string {
	if len(vars) > 0 {
		text += " ORDER BY"
		for _, v := range vars {
			text += " ?" + string(v)
		}
	}
	if offset == 0 {
		return text
	}
	return text + " OFFSET " + strconv.Itoa(offset)
}

// ownLimit returns the LIMIT of a pattern that is a subquery, -1 for other patterns.
func ownLimit(op algebra.Op) int64 {
	switch op := op.(type) {
	case algebra.Slice:
		return op.Limit
	case algebra.Project:
		return ownLimit(op.In)
	}
	return -1
}
