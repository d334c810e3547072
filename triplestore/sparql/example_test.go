package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
)

const books = `
PREFIX dct: <http://purl.org/dc/terms/>
INSERT DATA {
	<http://example.org/moby-dick> dct:title "Moby-Dick"@en ; dct:issued 1851 .
	<http://example.org/emma>      dct:title "Emma"@en      ; dct:issued 1815 .
}`

// openStore opens a store that keeps nothing on disk. kv.Open with a directory makes a durable one.
func openStore() (store *triplestore.Store, closeAll func()) {
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	if store, err = triplestore.Open(db, triplestore.Options{}); err != nil {
		log.Fatal(err)
	}
	return store, func() {
		store.Close()
		db.Close()
	}
}

func mustUpdate(engine *sparql.Engine, store *triplestore.Store, text string) {
	_, err := engine.Update(context.Background(), sparql.StoreOf(store.View, store.Update), text, sparql.UpdateOptions{})
	if err != nil {
		log.Fatal(err)
	}
}

// The rows of a SELECT stream while the query runs. A row is one term for each variable, "" if it is unbound.
func ExampleEngine_Query() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{})
	mustUpdate(engine, store, books)

	snapshot := store.Snapshot()
	defer snapshot.Release()
	r, err := engine.Query(context.Background(), snapshot, `
		PREFIX dct: <http://purl.org/dc/terms/>
		SELECT ?title ?year { ?book dct:title ?title ; dct:issued ?year } ORDER BY ?year`, sparql.QueryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err) // a limit, or the context, ended the query
		}
		fmt.Println(row[1].Value(), row[0].Value(), row[0].Lang())
	}
	// Output:
	// 1815 Emma en
	// 1851 Moby-Dick en
}

// Package results writes rows in the formats of SPARQL, and a table for people.
func ExampleEngine_Query_format() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{})
	mustUpdate(engine, store, books)

	err := store.View(context.Background(), func(snapshot *triplestore.Snapshot) error {
		r, err := engine.Query(context.Background(), snapshot,
			"SELECT ?book { ?book <http://purl.org/dc/terms/issued> ?year } ORDER BY ?year", sparql.QueryOptions{})
		if err != nil {
			return err
		}
		defer r.Close()
		w := results.NewWriter(os.Stdout, results.TSV, results.Options{Prefixes: r.Prefixes})
		if err := w.Begin(r.Vars); err != nil {
			return err
		}
		for row, err := r.Next(); !errors.Is(err, io.EOF); row, err = r.Next() {
			if err != nil {
				return err
			}
			if err := w.Row(row); err != nil {
				return err
			}
		}
		return w.End()
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ?book
	// <http://example.org/emma>
	// <http://example.org/moby-dick>
}

// The graph of a CONSTRUCT streams, too. Package rdfio writes it.
func ExampleResults_Triple() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{})
	mustUpdate(engine, store, books)

	snapshot := store.Snapshot()
	defer snapshot.Release()
	r, err := engine.Query(context.Background(), snapshot, `
		PREFIX dct: <http://purl.org/dc/terms/>
		CONSTRUCT { ?book a <http://example.org/Old> } { ?book dct:issued ?year FILTER(?year < 1820) }`, sparql.QueryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	w := rdfio.NewWriter(os.Stdout, rdfio.NTriples(), r.Prefixes)
	for q, err := r.Triple(); !errors.Is(err, io.EOF); q, err = r.Triple() {
		if err != nil {
			log.Fatal(err)
		}
		if err := w.Write(q); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// <http://example.org/emma> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/Old> .
}

// An update is applied completely or not at all.
func ExampleEngine_Update() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{})

	done, err := engine.Update(context.Background(), sparql.StoreOf(store.View, store.Update), books+`;
		PREFIX dct: <http://purl.org/dc/terms/>
		DELETE { ?book dct:issued ?year } INSERT { ?book dct:date ?year } WHERE { ?book dct:issued ?year }`, sparql.UpdateOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%+v\n", done)

	_, err = engine.Update(context.Background(), sparql.StoreOf(store.View, store.Update),
		"DROP ALL ; MOVE <http://example.org/nowhere> TO DEFAULT", sparql.UpdateOptions{})
	fmt.Println(errors.Is(err, sparql.ErrNoGraph))
	// Output:
	// {Inserted:6 Deleted:2}
	// true
}

// Limits end a query with an error that says which limit it was; so does the end of its context.
func ExampleEngine_Query_limits() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{Timeout: 10 * time.Second, Memory: 64 << 20, MaxRows: 1000})
	mustUpdate(engine, store, books)

	snapshot := store.Snapshot()
	defer snapshot.Release()
	r, err := engine.Query(context.Background(), snapshot, "SELECT * { ?s ?p ?o }", sparql.QueryOptions{MaxRows: 3})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for err == nil {
		_, err = r.Next()
	}
	var limit *sparql.LimitError
	if errors.As(err, &limit) {
		fmt.Println(errors.Is(err, sparql.ErrRows), limit.Value)
	}

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err = engine.Query(ctx, snapshot, "SELECT * { ?s ?p ?o }", sparql.QueryOptions{}); err == nil {
		defer r.Close()
		_, err = r.Next()
	}
	fmt.Println(errors.Is(err, context.Canceled))

	_, err = engine.Query(context.Background(), snapshot, "SELECT * { ?s ?p }", sparql.QueryOptions{})
	var wrong *sparql.SyntaxError
	if errors.As(err, &wrong) {
		fmt.Println(wrong.Line, wrong.Col, wrong.Found)
	}
	// Output:
	// true 3
	// true
	// 1 18 "}"
}

// Explain shows the plan of a query, an operator a line.
func ExampleResults_Explain() {
	store, closeAll := openStore()
	defer closeAll()
	engine := sparql.New(sparql.Options{Workers: 1})
	mustUpdate(engine, store, books)

	snapshot := store.Snapshot()
	defer snapshot.Release()
	query, err := engine.Prepare(`
		PREFIX dct: <http://purl.org/dc/terms/>
		SELECT ?title { ?book dct:issued 1815 ; dct:title ?title }`, sparql.QueryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(query.Algebra())
	r, err := engine.Run(context.Background(), snapshot, query, sparql.QueryOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for line := range strings.Lines(r.Explain()) {
		operator, _, _ := strings.Cut(line, " rows") // without the estimates
		fmt.Println(operator)
	}
	// Output:
	// (project (?title)
	//   (bgp
	//     (triple ?book <http://purl.org/dc/terms/issued> 1815)
	//     (triple ?book <http://purl.org/dc/terms/title> ?title)))
	// Project ?title
	//   BindJoin on ?book → Scan PSO ?book dct:title ?title
	//     Scan POS ?book dct:issued "1815"^^<http://www.w3.org/2001/XMLSchema#integer> sorted=?book
	//     Scan PSO ?book dct:title ?title sorted=?book ?title
}
