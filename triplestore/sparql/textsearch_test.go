package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

const textPrefixes = `PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#> PREFIX text: <http://jena.apache.org/text#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> PREFIX dct: <http://purl.org/dc/terms/> PREFIX ex: <http://example.org/>
`

// tripleStore opens an empty store in a directory of its own.
func tripleStore(t testing.TB, o triplestore.Options) *triplestore.Store {
	t.Helper()
	db, err := kv.Open(t.TempDir(), kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := triplestore.Open(db, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		db.Close()
	})
	return s
}

func insert(t testing.TB, s *triplestore.Store, quads ...term.Quad) {
	t.Helper()
	if err := s.Update(context.Background(), func(tx *triplestore.Txn) error {
		for _, q := range quads {
			if err := tx.Insert(q); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// cityData are some titles and labels.
func cityData() []term.Quad {
	ex := func(s string) term.Key { return term.IRI("http://example.org/" + s) }
	title, label := term.IRI(vocab.DCTTitle), term.IRI(vocab.RDFSLabel)
	return []term.Quad{
		{S: ex("wien"), P: title, O: term.Lang("Bevölkerung in Wien", "de")},
		{S: ex("wien"), P: label, O: term.String("Wien")}, // an inline id
		{S: ex("graz"), P: title, O: term.Lang("Bevölkerung in Graz", "de")},
		{S: ex("luft"), P: title, O: term.Lang("Air quality of cities", "en")},
		{S: ex("luft"), P: label, O: term.String("Luftgüte in Wien und Graz")},
		{S: ex("other"), P: ex("note"), O: term.String("Wien in a note")},
		{S: ex("named"), P: title, O: term.String("Wien im Graphen"), G: ex("g")},
		{S: ex("number"), P: title, O: term.Typed("1", "http://www.w3.org/2001/XMLSchema#integer")},
	}
}

// answers returns the rows of a query as sorted lines of short values.
func answers(t testing.TB, e *sparql.Engine, ds term.Dataset, text string) []string {
	t.Helper()
	lines, err := answersOf(e, ds, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return lines
}

func answersOf(e *sparql.Engine, ds term.Dataset, text string) ([]string, error) {
	r, err := e.Query(context.Background(), ds, textPrefixes+text, sparql.QueryOptions{})
	if err != nil {
		return nil, err
	}
	out, err := collect(r)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, row := range out.Rows {
		var cells []string
		for _, k := range row {
			cells = append(cells, strings.TrimPrefix(k.Value(), "http://example.org/"))
		}
		lines = append(lines, strings.Join(cells, "|"))
	}
	slices.Sort(lines)
	return lines, nil
}

// quadList is a QuadReader of a list.
type quadList struct{ quads []term.Quad }

func (l *quadList) Read() (term.Quad, error) {
	if len(l.quads) == 0 {
		return term.Quad{}, io.EOF
	}
	q := l.quads[0]
	l.quads = l.quads[1:]
	return q, nil
}

func TestTextIsSearchedAsTheQuerySays(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	insert(t, store, cityData()...)
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	for query, want := range map[string]string{
		`SELECT ?s { ?s arc:matches "wien" }`:              "luft wien",
		`SELECT ?s { ?s arc:matches "bevölkerungen" }`:     "graz wien",
		`SELECT ?s { ?s arc:matches "wien bevolkerung" }`:  "wien",
		`SELECT ?s { ?s arc:matches "wien graz" }`:         "luft",
		`SELECT ?s { ?s arc:matches "city" }`:              "luft",
		`SELECT ?s { ?s arc:matches ("city" "lang:de") }`:  "",
		`SELECT ?s { ?s arc:matches "wien"@de }`:           "wien",
		`SELECT ?s { ?s arc:matches ("wien" rdfs:label) }`: "luft wien",
		`SELECT ?s { ?s arc:matches ("wien" dct:title) }`:  "wien",
		// read, since it is not indexed
		`SELECT ?s { ?s arc:matches ("wien" ex:note) }`:           "other",
		`SELECT ?s { ?s arc:matches ("wien" ex:note dct:title) }`: "other wien",
		`SELECT ?s ?l { ?s arc:matches ("wien" ?score ?l) FILTER (?score > 0) }`: "luft|Luftgüte in Wien und Graz " +
			"wien|Bevölkerung in Wien wien|Wien",
		`SELECT ?s { ?s arc:matches ("wien" ?score 1) }`:                                           "wien", // the shortest text is the best
		`SELECT ?g ?s { GRAPH ?g { ?s arc:matches "wien" } }`:                                      "g|named",
		`SELECT ?s { GRAPH ex:g { ?s arc:matches "wien" } }`:                                       "named",
		`SELECT ?s FROM ex:g { ?s arc:matches "wien" }`:                                            "named",
		`SELECT ?t { ?s arc:matches "city" . ?s dct:title ?t }`:                                    "Air quality of cities",
		`SELECT ?t { VALUES ?s { ex:graz ex:luft } ?s dct:title ?t . ?s arc:matches "bev*" }`:      "Bevölkerung in Graz",
		`SELECT ?t { ex:wien dct:title ?t . ex:wien arc:matches "bev*" }`:                          "Bevölkerung in Wien",
		`SELECT ?t { ex:luft dct:title ?t . ex:luft arc:matches "bev*" }`:                          "",
		`SELECT ?t { ex:none arc:matches "bev*" . ?s dct:title ?t }`:                               "",
		`SELECT ?s { ?s dct:title ?t FILTER NOT EXISTS { ?s arc:matches "wien" } }`:                "graz number",
		`SELECT ?s { ?s dct:title ?t OPTIONAL { ?s arc:matches ("city" ?c) } FILTER (BOUND(?c)) }`: "luft",
		`SELECT ?s { { ?s arc:matches "city" } UNION { ?s arc:matches "wien AND NOT graz" } }`:     "luft wien",
		// either word, and a row for each triple
		`SELECT ?s { ?s text:query "wien graz" }`:            "graz luft wien wien",
		`SELECT ?s { ?s text:query (rdfs:label "wien" 10) }`: "luft wien",
		`SELECT ?s ?p { (?s ?c ?l ?g ?p) text:query "wien" FILTER (!BOUND(?g)) }`: "luft|http://www.w3.org/2000/01/rdf-s" +
			"chema#label wien|http://purl.org/dc/terms/title wien|http://www.w3.org/2000/01/rdf-schema#label",
		`SELECT ?l { (?s ?c ?l) text:query (dct:title "cities" "lang:en" "highlight:") }`: "Air quality of cities",
		`SELECT ?g { GRAPH ?x { (?s ?c ?l ?g) text:query "wien" } }`:                      "g",
	} {
		if got := strings.Join(answers(t, e, snap, query), " "); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
		}
	}
	best := ask(t, e, snap, textPrefixes+`SELECT ?s { ?s arc:matches ("wien" ?score) }`, sparql.QueryOptions{})
	if best.Rows[0][0] != term.IRI("http://example.org/wien") {
		t.Errorf("the best hit is not the first: %v", best.Rows)
	}
	for _, query := range []string{
		`SELECT * { ?s arc:matches ?q }`, `SELECT * { ?s arc:matches ("a" "b") }`, `SELECT * { ?s arc:matches "(a" }`,
		`SELECT * { ?s arc:matches () }`, `SELECT * { ?s arc:matches ("a" ?s) }`,
		`SELECT * { ?s arc:matches ("a" ?b ?c ?d) }`, `SELECT * { (?s "x") text:query "a" }`, `SELECT * { ?s text:query ("a" ?v) }`,
		`SELECT * { (?a ?b) arc:matches "a" }`, `SELECT * { ?s arc:matches 1.5 }`,
	} {
		if _, err := e.Query(context.Background(), snap, textPrefixes+query, sparql.QueryOptions{}); !errors.Is(err, sparql.ErrArguments) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestAPlanStartsFromASelectiveTextSearch(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	var quads []term.Quad
	for i := range 5000 {
		s := term.IRI(fmt.Sprintf("http://example.org/%d", i))
		quads = append(quads, term.Quad{S: s, P: term.IRI(vocab.DCTTitle), O: term.String(fmt.Sprintf("number w%d of many", i))},
			term.Quad{S: s, P: term.IRI("http://example.org/next"), O: term.IRI(fmt.Sprintf("http://example.org/%d", i+1))})
	}
	insert(t, store, quads...)
	if err := store.IndexLiterals(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	r, err := e.Query(context.Background(), snap, textPrefixes+`SELECT * { ?s ex:next ?o . ?o dct:title ?t . ?s arc:matches "w77" }`,
		sparql.QueryOptions{Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := 0
	for ; ; rows++ {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	plan := r.Explain()
	if rows != 1 || strings.Count(plan, "BindJoin") != 2 || !strings.Contains(plan, "TextSearch") {
		t.Errorf("%d rows by\n%s", rows, plan)
	}
}

func TestAnUpdateSearchesWhatItsEarlierOperationsInserted(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	insert(t, store, cityData()...)
	e := sparql.New(sparql.Options{})
	target := sparql.StoreOf(store.View, store.Update)
	if _, err := e.Update(context.Background(), target, textPrefixes+`INSERT DATA { ex:linz dct:title "Linz und Wien" } ;
		INSERT { ?s ex:found true } WHERE { ?s arc:matches "wien linz" }`, sparql.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	if got := answers(t, e, snap, `SELECT ?s { ?s ex:found true }`); !slices.Equal(got, []string{"linz"}) {
		t.Errorf("found %v", got)
	}
}

// A store with an index must answer as one whose literals are read one by one, at any time: after commits, loads,
// deletions, merges, and when it is opened again.
func TestTheIndexAnswersAsReadingLiteralsDoes(t *testing.T) {
	t.Parallel()
	words := strings.Fields("wien graz linz haus häuser city cities bevölkerung 2019 luft")
	predicates := []term.Key{term.IRI(vocab.DCTTitle), term.IRI(vocab.RDFSLabel), term.IRI("http://example.org/note")}
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 3))
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		options := triplestore.Options{MergeAt: 1 + r.IntN(60), KeepChanges: int64(1 + r.IntN(4000))}
		store, err := triplestore.Open(db, options)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { store.Close() }()
		model := map[term.Quad]bool{}
		random := func() term.Quad {
			var text []string
			for range r.IntN(4) {
				text = append(text, words[r.IntN(len(words))])
			}
			o := term.String(strings.Join(text, " "))
			if r.IntN(2) == 0 {
				o = term.Lang(o.Value(), []string{"de", "en"}[r.IntN(2)])
			}
			return term.Quad{S: term.IRI(fmt.Sprintf("http://example.org/%d", r.IntN(9))), P: predicates[r.IntN(len(predicates))], O: o,
				G: []term.Key{"", "", term.IRI("http://example.org/g")}[r.IntN(3)]}
		}
		e := sparql.New(sparql.Options{})
		ctx := context.Background()
		for range 8 {
			var added []term.Quad
			for range r.IntN(40) {
				added = append(added, random())
			}
			switch r.IntN(6) {
			case 0:
				if _, err := store.Load(ctx, &quadList{added}); err != nil {
					rt.Fatal(err)
				}
			case 1:
				if err := store.Merge(ctx); err != nil {
					rt.Fatal(err)
				}
				added = nil
			case 2:
				store.Close()
				if store, err = triplestore.Open(db, options); err != nil {
					rt.Fatal(err)
				}
				added = nil
			default:
				if err := store.Update(ctx, func(tx *triplestore.Txn) error {
					for q := range model {
						if r.IntN(8) == 0 {
							delete(model, q)
							if err := tx.Delete(q); err != nil {
								return err
							}
						}
					}
					for _, q := range added {
						if err := tx.Insert(q); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					rt.Fatal(err)
				}
			}
			for _, q := range added {
				model[q] = true
			}
			var quads []term.Quad
			for q := range model {
				quads = append(quads, q)
			}
			snap := store.Snapshot()
			for range 3 {
				word := words[r.IntN(len(words))]
				if r.IntN(3) == 0 {
					word = string([]rune(word)[:2]) + "*"
				}
				if r.IntN(2) == 0 {
					word += []string{" ", " OR ", " NOT "}[r.IntN(3)] + words[r.IntN(len(words))]
				}
				query := fmt.Sprintf(`SELECT * { %s { (?s ?c ?l ?x ?p) text:query (dct:title rdfs:label "%s") } }`,
					[]string{"", "GRAPH ?g"}[r.IntN(2)], word)
				query = strings.Replace(query, "SELECT *", "SELECT ?s ?l ?p ?x", 1)
				got, err := answersOf(e, snap, query)
				if err != nil {
					rt.Fatal(err)
				}
				want, err := answersOf(e, naive.New(quads...).Snapshot(), query)
				if err != nil || !slices.Equal(got, want) {
					rt.Fatalf("%s\ngot  %q\nwant %q %v", query, got, want, err)
				}
			}
			snap.Release()
		}
		if _, err := store.Check(ctx); err != nil {
			rt.Fatal(err)
		}
	})
}

// What is only counted need not be sorted; what is returned, or cut off, comes with the best first.
func TestATextSearchIsSortedWhereItsOrderIsSeen(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	insert(t, store, cityData()...)
	if err := store.IndexLiterals(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	for text, c := range map[string]struct {
		unsorted bool
		want     []string
	}{
		`SELECT (COUNT(*) AS ?n) { ?s arc:matches "wien" }`: {true, []string{"2"}},
		// a title and two labels
		`SELECT (COUNT(*) AS ?n) { (?s) text:query "wien" }`: {true, []string{"3"}},
		`SELECT (COUNT(?l) AS ?n) (MIN(?l) AS ?m) { ?s arc:matches "wien" ; rdfs:label ?l }`: {true,
			[]string{"2|Luftgüte in Wien und Graz"}},
		`SELECT ?n (COUNT(*) AS ?c) { { SELECT DISTINCT ?s { ?s arc:matches "wien" } } BIND (1 AS ?n) } GROUP BY ?n`: {true,
			[]string{"1|2"}},
		`SELECT (SAMPLE(?s) AS ?n) { ?s arc:matches "wien" }`: {false,
			[]string{"wien"}},
		`SELECT (COUNT(*) AS ?n) { { SELECT ?s { ?s arc:matches "wien" } LIMIT 1 } }`: {false,
			[]string{"1"}},
		`SELECT (COUNT(*) AS ?n) { ?s arc:matches ("wien" 1) }`: {false,
			[]string{"1"}},
		`SELECT (MAX(?score) > 0 AS ?n) { ?s arc:matches ("wien" ?score) }`: {false,
			[]string{"true"}},
		`SELECT ?s { ?s arc:matches "wien" }`: {false,
			[]string{"luft", "wien"}},
	} {
		r, err := e.Query(context.Background(), snap, textPrefixes+text, sparql.QueryOptions{Explain: true})
		if err != nil {
			t.Fatal(text, err)
		}
		plan := r.Explain()
		r.Close()
		if strings.Contains(plan, "in any order") != c.unsorted {
			t.Errorf("%s\n%s", text, plan)
		}
		if got := answers(t, e, snap, text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", text, got, c.want)
		}
	}
}
