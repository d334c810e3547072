package triplestore_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

var (
	title  = term.IRI("http://purl.org/dc/terms/title")
	cities = term.IRI("http://example.org/cities")
	rivers = term.IRI("http://example.org/rivers")
)

// openExample opens a store in memory. On disk it would be kv.Open(dir, kv.Options{}).
func openExample() (*triplestore.Store, func()) {
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return store, func() {
		store.Close() // before the database
		db.Close()
	}
}

// insert adds quads in one transaction.
func insert(store *triplestore.Store, quads ...term.Quad) {
	err := store.Update(context.Background(), func(tx *triplestore.Txn) error {
		for _, q := range quads {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleOpen() {
	db, err := kv.Open("", kv.Options{InMemory: true}) // or kv.Open("data", kv.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	err = store.Update(context.Background(), func(tx *triplestore.Txn) error {
		return tx.Insert(term.Quad{S: cities, P: title, O: term.Lang("Städte", "de")})
	})
	if err != nil {
		log.Fatal(err)
	}
	err = store.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		fmt.Println(q.O.Value(), q.O.Lang())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: Städte de
}

// Load reads any RDF syntax of package rdfio and commits all of it at once.
func ExampleStore_Load() {
	store, closeStore := openExample()
	defer closeStore()

	turtle := `
		@prefix dct: <http://purl.org/dc/terms/> .
		<http://example.org/cities> dct:title "Cities" ; dct:language "en" .`
	r := rdfio.NewReader(strings.NewReader(turtle), rdfio.Turtle(), rdfio.Options{})
	loaded, err := store.Load(context.Background(), r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(loaded.Read, "read,", loaded.Added, "new")
	// Output: 2 read, 2 new
}

// A scan works on ids. Look up the known terms first, and translate the results in batches.
func ExampleSnapshot_Scan() {
	store, closeStore := openExample()
	defer closeStore()
	insert(store,
		term.Quad{S: cities, P: title, O: term.String("Cities")},
		term.Quad{S: rivers, P: title, O: term.String("Rivers of Europe")})

	err := store.View(context.Background(), func(sn *triplestore.Snapshot) error {
		id, ok, err := sn.Lookup(title)
		if err != nil || !ok {
			return err
		}
		c := sn.Scan(term.Pattern{P: id}, term.PSO)
		defer c.Close()
		for {
			quads, err := c.Next()
			if err != nil || len(quads) == 0 {
				return err
			}
			for _, q := range quads {
				keys := make([]term.Key, 2)
				if err := sn.Keys([]term.ID{q.S, q.O}, keys); err != nil {
					return err
				}
				fmt.Println(keys[0].Value(), keys[1].Value())
			}
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// http://example.org/cities Cities
	// http://example.org/rivers Rivers of Europe
}

// A snapshot does not change when the store does.
func ExampleStore_Snapshot() {
	store, closeStore := openExample()
	defer closeStore()
	insert(store, term.Quad{S: cities, P: title, O: term.String("Cities")})

	before := store.Snapshot()
	defer before.Release()
	insert(store, term.Quad{S: rivers, P: title, O: term.String("Rivers")})
	after := store.Snapshot()
	defer after.Release()

	for _, sn := range []*triplestore.Snapshot{before, after} {
		n, err := sn.Quads()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("commit", sn.Position(), "has", n)
	}
	// Output:
	// commit 1 has 1
	// commit 2 has 2
}

// Changes returns what each commit added and removed.
func ExampleStore_Changes() {
	store, closeStore := openExample()
	defer closeStore()
	old := term.Quad{S: cities, P: title, O: term.String("Citys")}
	insert(store, old)
	err := store.Update(context.Background(), func(tx *triplestore.Txn) error {
		if err := tx.Delete(old); err != nil {
			return err
		}
		return tx.Insert(term.Quad{S: cities, P: title, O: term.String("Cities")})
	})
	if err != nil {
		log.Fatal(err)
	}

	_, err = store.Changes(context.Background(), 1, func(c triplestore.Commit) error {
		fmt.Println(c.Position, "-", c.Removed[0].O.Value(), "+", c.Added[0].O.Value())
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 2 - Citys + Cities
}

// A quad with G set belongs to a named graph. DropGraph removes a graph of any size.
func ExampleStore_DropGraph() {
	store, closeStore := openExample()
	defer closeStore()
	graph := term.IRI("http://example.org/portal")
	insert(store,
		term.Quad{S: cities, P: title, O: term.String("Cities")},
		term.Quad{S: rivers, P: title, O: term.String("Rivers"), G: graph})

	print := func() {
		err := store.View(context.Background(), func(sn *triplestore.Snapshot) error {
			st, err := sn.Stats(context.Background())
			if err != nil {
				return err
			}
			fmt.Println(st.Quads, "quads,", len(st.Named), "named graphs")
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	print()
	if err := store.DropGraph(context.Background(), graph); err != nil {
		log.Fatal(err)
	}
	print()
	// Output:
	// 2 quads, 1 named graphs
	// 1 quads, 0 named graphs
}
