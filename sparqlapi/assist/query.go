package assist

import (
	"bytes"
	"context"
	"net/http"
	"strings"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

type sparqlIn struct {
	Query string `json:"query" jsonschema:"SPARQL 1.1 SELECT, ASK, CONSTRUCT or DESCRIBE; no updates, no SERVICE"`
	Limit int    `json:"limit,omitempty" jsonschema:"rows or statements to return, from 1 to 500; 50 by default"`
}

// Result is the answer to a query.
type Result struct {
	Vars     []string   `json:"vars,omitempty" jsonschema:"variables of a SELECT"`
	Rows     [][]string `json:"rows,omitempty" jsonschema:"IRIs in angle brackets, literals as plain text, empty if unbound"`
	Boolean  *bool      `json:"boolean,omitempty" jsonschema:"answer to an ASK"`
	Turtle   string     `json:"turtle,omitempty" jsonschema:"statements of a CONSTRUCT or DESCRIBE"`
	More     bool       `json:"more,omitempty" jsonschema:"there are more; narrow the query, aggregate, or use LIMIT and OFFSET"`
	Warnings []string   `json:"warnings,omitempty" jsonschema:"what is probably wrong with the query"`
}

// Text returns a term as Result.Rows has it.
func Text(k term.Key) string {
	if k == "" {
		return ""
	}
	switch k.Kind() {
	case term.KindIRI:
		return "<" + k.Value() + ">"
	case term.KindBlank:
		return "_:" + k.Value()
	}
	return shortCell(k.Value()).(string)
}

func (s *Server) sparql(ctx context.Context, in sparqlIn) (out Result, err error) {
	limit, err := bounded("limit", in.Limit, 50, 500)
	if err != nil {
		return out, err
	}
	if strings.TrimSpace(in.Query) == "" {
		return out, problem.New(http.StatusBadRequest, "No query", "query is empty")
	}
	return s.o.Query(ctx, in.Query, limit, maxText)
}

type describeIn struct {
	IRI string `json:"iri" jsonschema:"address of a file, IRI of a version, dataset, portal or any other thing"`
}

type describeOut struct {
	IRI     string     `json:"iri"`
	File    *hit       `json:"file,omitempty" jsonschema:"if it is a file of the archive"`
	Version *version   `json:"version,omitempty" jsonschema:"if it is a version"`
	Tables  []tableOut `json:"tables,omitempty" jsonschema:"of the version, or of the file's latest one"`
	Turtle  string     `json:"turtle,omitempty" jsonschema:"what is said about it, in all graphs"`
	More    bool       `json:"more,omitempty" jsonschema:"there are more statements; use sparql"`
}

type tableOut struct {
	Name    string   `json:"name,omitempty"`
	Rows    int64    `json:"rows"`
	Columns []string `json:"columns" jsonschema:"name: datatype"`
}

// maxDescribed is how many statements a description has.
const maxDescribed = 400

func (s *Server) describe(ctx context.Context, in describeIn) (out describeOut, err error) {
	iri := strings.Trim(strings.TrimSpace(in.IRI), "<>")
	if id, ok := s.versionID(iri); ok {
		iri = s.o.Mint.Version(id)
	}
	out.IRI = iri
	if v, err := s.version(ctx, iri); err == nil {
		one := s.versionOf(v)
		out.Version = &one
		tables, _, err := s.o.Archive.Tables(ctx, v)
		if err != nil {
			return out, err
		}
		for _, t := range tables[:min(len(tables), 20)] {
			table := tableOut{Name: t.Profile.Name, Rows: t.Profile.Rows}
			for _, c := range t.Profile.Columns[:min(len(t.Profile.Columns), 100)] {
				table.Columns = append(table.Columns, cut(c.Name, 100)+": "+c.Datatype)
			}
			out.Tables = append(out.Tables, table)
		}
	}
	if r, err := s.o.Archive.Resource(ctx, iri); err == nil {
		file := s.hitOf(r, nil)
		out.File = &file
	}
	about, _, err := s.o.Describe(ctx, iri, maxDescribed)
	if err != nil {
		return out, err
	}
	if len(about) == 0 && out.File == nil && out.Version == nil {
		return out, problem.Newf(http.StatusNotFound, "Unknown", "the archive knows nothing about <%s>; use search to find files",
			cut(iri, 200))
	}
	text, err := turtle(about)
	if err != nil {
		return out, err
	}
	out.Turtle, out.More = firstLines(text, maxText)
	out.More = out.More || len(about) >= maxDescribed
	return out, nil
}

func turtle(quads []term.Quad) (string, error) {
	var b bytes.Buffer
	w := rdfio.NewWriter(&b, rdfio.Turtle(), vocab.Prefixes())
	for _, q := range quads {
		q.G = ""
		if err := w.Write(q); err != nil {
			return "", err
		}
	}
	err := w.Close()
	return b.String(), err
}
