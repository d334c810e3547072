package syntax

// Only tests print updates.

// String returns the update on one line, which parses into the same tree.
func (u *Update) String() string {
	var w printer
	w.prologue(u.Version, u.Base, u.Prefixes)
	for i, op := range u.Ops {
		if i > 0 {
			w.put(" ; ")
		}
		w.operation(op)
	}
	return w.Builder.String()
}

func (w *printer) operation(op Operation) {
	switch op := op.(type) {
	case *InsertData:
		w.put("INSERT DATA ")
		w.quads(op.Quads)
	case *DeleteData:
		w.put("DELETE DATA ")
		w.quads(op.Quads)
	case *DeleteWhere:
		w.put("DELETE WHERE ")
		w.quads(op.Quads)
	case *Modify:
		w.modify(op)
	case *Load:
		w.put("LOAD ", silent(op.Silent), "<", op.Source, ">")
		if op.Into != "" {
			w.put(" INTO GRAPH <", op.Into, ">")
		}
	case *Clear:
		verb := "CLEAR "
		if op.Drop {
			verb = "DROP "
		}
		w.put(verb, silent(op.Silent), op.Target.String())
	case *Create:
		w.put("CREATE ", silent(op.Silent), "GRAPH <", op.IRI, ">")
	case *Transfer:
		w.put(op.Kind, " ", silent(op.Silent), op.From.String(), " TO ", op.To.String())
	default:
		panic("syntax: an operation without a printed form")
	}
}

func silent(s bool) string {
	if s {
		return "SILENT "
	}
	return ""
}

func (w *printer) modify(m *Modify) {
	if m.With != "" {
		w.put("WITH <", m.With, "> ")
	}
	if m.HasDelete {
		w.put("DELETE ")
		w.quads(m.Delete)
		w.put(" ")
	}
	if m.HasInsert {
		w.put("INSERT ")
		w.quads(m.Insert)
		w.put(" ")
	}
	for _, iri := range m.Using {
		w.put("USING <", iri, "> ")
	}
	for _, iri := range m.UsingNamed {
		w.put("USING NAMED <", iri, "> ")
	}
	w.put("WHERE ")
	w.group(m.Where)
}

func (w *printer) quads(list []Quad) {
	w.put("{ ")
	for i := 0; i < len(list); {
		g := list[i].Graph
		named := g.Var != "" || g.Key != ""
		if named {
			w.put("GRAPH ")
			w.term(g)
			w.put(" { ")
		}
		for ; i < len(list) && list[i].Graph == g; i++ {
			w.triple(list[i].Triple)
			w.put(" . ")
		}
		if named {
			w.put("} ")
		}
	}
	w.put("}")
}

// String returns the target as in CLEAR.
func (t Target) String() string {
	switch {
	case t.Default:
		return "DEFAULT"
	case t.Named:
		return "NAMED"
	case t.All:
		return "ALL"
	}
	return "GRAPH <" + t.IRI + ">"
}
