package syntax

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// printer prints a tree as SPARQL, with absolute IRIs, triples written out, and every operation in parentheses.
type printer struct{ strings.Builder }

func (w *printer) put(parts ...string) {
	for _, s := range parts {
		w.WriteString(s)
	}
}

// String returns the query on one line, which parses into the same tree.
func (q *Query) String() string {
	var w printer
	w.prologue(q.Version, q.Base, q.Prefixes)
	w.query(q)
	return w.Builder.String()
}

// String returns the group with its braces.
func (g *Group) String() string {
	var w printer
	w.group(g)
	return w.Builder.String()
}

func (w *printer) prologue(version, base string, prefixes map[string]string) {
	if version != "" {
		w.put("VERSION ", quote(version), " ")
	}
	if base != "" {
		w.put("BASE <", base, "> ")
	}
	for _, name := range slices.Sorted(maps.Keys(prefixes)) {
		w.put("PREFIX ", name, ": <", prefixes[name], "> ")
	}
}

func (w *printer) query(q *Query) {
	switch q.Form {
	case Select:
		w.selection(q)
	case Construct:
		w.put("CONSTRUCT { ")
		w.triples(q.Template)
		w.put("} ")
	case Ask:
		w.put("ASK ")
	case Describe:
		w.put("DESCRIBE ")
		if q.Star {
			w.put("* ")
		}
		for _, t := range q.Describe {
			w.term(t)
			w.put(" ")
		}
	}
	for _, iri := range q.From {
		w.put("FROM <", iri, "> ")
	}
	for _, iri := range q.FromNamed {
		w.put("FROM NAMED <", iri, "> ")
	}
	if q.Where != nil {
		w.put("WHERE ")
		w.group(q.Where)
	}
	w.modifiers(q)
}

func (w *printer) selection(q *Query) {
	w.put("SELECT ")
	if q.Distinct {
		w.put("DISTINCT ")
	}
	if q.Reduced {
		w.put("REDUCED ")
	}
	if q.Star {
		w.put("* ")
	}
	for _, it := range q.Items {
		w.item(it)
		w.put(" ")
	}
}

func (w *printer) item(it Item) {
	if it.Expr == nil {
		w.put("?", it.Var)
		return
	}
	w.put("(")
	w.expr(it.Expr)
	if it.Var != "" {
		w.put(" AS ?", it.Var)
	}
	w.put(")")
}

func (w *printer) modifiers(q *Query) {
	if len(q.GroupBy) > 0 {
		w.put(" GROUP BY")
		for _, it := range q.GroupBy {
			w.put(" ")
			if v, ok := it.Expr.(VarExpr); ok && it.Var == "" {
				w.put("?", v.Var)
				continue
			}
			w.item(it)
		}
	}
	if len(q.Having) > 0 {
		w.put(" HAVING")
		for _, e := range q.Having {
			w.put(" (")
			w.expr(e)
			w.put(")")
		}
	}
	if len(q.OrderBy) > 0 {
		w.put(" ORDER BY")
		for _, k := range q.OrderBy {
			w.put(" ", map[bool]string{false: "ASC", true: "DESC"}[k.Desc], "(")
			w.expr(k.Expr)
			w.put(")")
		}
	}
	if q.Limit >= 0 {
		w.put(" LIMIT ", strconv.FormatInt(q.Limit, 10))
	}
	if q.Offset > 0 {
		w.put(" OFFSET ", strconv.FormatInt(q.Offset, 10))
	}
	if q.Values != nil {
		w.put(" ")
		w.values(q.Values)
	}
}

func (w *printer) group(g *Group) {
	w.put("{ ")
	if g.Sub != nil {
		w.query(g.Sub)
		w.put(" ")
	}
	for _, e := range g.Elements {
		w.element(e)
	}
	w.put("}")
}

func (w *printer) element(e Element) {
	switch e := e.(type) {
	case *Triples:
		w.triples(e.List)
		return
	case *Filter:
		w.put("FILTER (")
		w.expr(e.Cond)
		w.put(")")
	case *Bind:
		w.put("BIND (")
		w.expr(e.Expr)
		w.put(" AS ?", e.Var, ")")
	case *Optional:
		w.put("OPTIONAL ")
		w.group(e.Group)
	case *Minus:
		w.put("MINUS ")
		w.group(e.Group)
	case *Lateral:
		w.put("LATERAL ")
		w.group(e.Group)
	case *Union:
		for i, g := range e.Groups {
			if i > 0 {
				w.put(" UNION ")
			}
			w.group(g)
		}
	case *GraphIs:
		w.put("GRAPH ")
		w.term(e.Name)
		w.put(" ")
		w.group(e.Group)
	case *Service:
		w.put("SERVICE ")
		if e.Silent {
			w.put("SILENT ")
		}
		w.term(e.Name)
		w.put(" ")
		w.group(e.Group)
	case *Values:
		w.values(e)
	default:
		panic("syntax: an element without a printed form")
	}
	w.put(" ")
}

func (w *printer) values(v *Values) {
	w.put("VALUES (")
	for i, name := range v.Vars {
		if i > 0 {
			w.put(" ")
		}
		w.put("?", name)
	}
	w.put(") { ")
	for _, row := range v.Rows {
		w.put("(")
		for i, k := range row {
			if i > 0 {
				w.put(" ")
			}
			if k == "" {
				w.put("UNDEF")
			} else {
				w.key(k)
			}
		}
		w.put(") ")
	}
	w.put("}")
}

func (w *printer) triples(list []Triple) {
	for _, t := range list {
		w.triple(t)
		w.put(" . ")
	}
}

func (w *printer) triple(t Triple) {
	w.term(t.S)
	w.put(" ")
	if t.Path != nil {
		w.path(t.Path)
	} else {
		w.term(t.P)
	}
	w.put(" ")
	w.term(t.O)
}

func (w *printer) term(t Term) {
	switch {
	case t.Var != "":
		w.put("?", t.Var)
	case t.Triple != nil:
		w.put("<<( ")
		w.triple(*t.Triple)
		w.put(" )>>")
	default:
		w.key(t.Key)
	}
}

func (w *printer) key(k term.Key) { w.put(TermString(k)) }

// TermString returns a term as SPARQL writes it, or "UNDEF" for none.
func TermString(k term.Key) string {
	if k == "" {
		return "UNDEF"
	}
	return string(AppendTerm(nil, k))
}

// AppendTerm appends a term as SPARQL writes it.
func AppendTerm(dst []byte, k term.Key) []byte {
	switch k.Kind() {
	case term.KindIRI:
		return append(append(append(dst, '<'), k.Value()...), '>')
	case term.KindBlank:
		return append(append(dst, "_:"...), k.Value()...)
	case term.KindTriple:
		s, p, o, _ := k.Parts()
		dst = append(AppendTerm(append(dst, "<<( "...), s), ' ')
		dst = append(AppendTerm(dst, p), ' ')
		return append(AppendTerm(dst, o), " )>>"...)
	}
	dst = appendQuoted(dst, k.Value())
	switch {
	case k.Lang() != "":
		dst = append(append(dst, '@'), k.Lang()...)
		if k.Dir() != "" {
			dst = append(append(dst, "--"...), k.Dir()...)
		}
	case k.Datatype() != term.XSDString:
		dst = append(append(append(dst, "^^<"...), k.Datatype()...), '>')
	}
	return dst
}

func quote(s string) string { return string(appendQuoted(nil, s)) }

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			dst = append(dst, '\\', c)
		case '\b' <= c && c <= '\r' && c != '\v':
			dst = append(dst, '\\', "btn fr"[c-'\b'])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
