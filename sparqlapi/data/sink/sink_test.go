package sink_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/data/sink"
	"odarchive/sparqlapi/graphstore"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

const base = "http://archive.example/"

func open(t *testing.T, o triplestore.Options) *triplestore.Store {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := triplestore.Open(db, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); db.Close() })
	return s
}

// target is a SPARQL endpoint that fails.
type target struct {
	mu    sync.Mutex
	store *triplestore.Store
	http  http.Handler
	rnd   *rand.Rand
	// Of ten updates, so many are not applied, or applied but not answered.
	refuse, silent int
	updates        int
}

func newTarget(t *testing.T) (*target, string) {
	t.Helper()
	g := &target{rnd: rand.New(rand.NewPCG(1, 2))}
	g.reset(t)
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	return g, server.URL + "/sparql"
}

// reset is a target that has lost everything.
func (g *target) reset(t *testing.T) {
	s := open(t, triplestore.Options{})
	g.store = s
	g.http = protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}), Store: sparql.StoreOf(s.View, s.Update),
		Snapshot:  func() (term.Dataset, func()) { sn := s.Snapshot(); return sn, sn.Release },
		Authorise: func(*http.Request) error { return nil }})
}

func (g *target) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Header.Get("Content-Type") != "application/sparql-update" {
		g.http.ServeHTTP(w, r)
		return
	}
	g.updates++
	n := g.rnd.IntN(10)
	if n < g.refuse {
		panic(http.ErrAbortHandler)
	}
	if n < g.refuse+g.silent {
		g.http.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	g.http.ServeHTTP(w, r)
}

// quads returns what a store holds as sorted N-Quads, without the sink's own graph, and with blank nodes as they are in
// targets.
func quads(t *testing.T, s *triplestore.Store) []string {
	t.Helper()
	var out []string
	err := s.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		if q.G != term.IRI(base+"sink") {
			out = append(out, nquad(q))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func nquad(q term.Quad) string {
	for _, k := range []*term.Key{&q.S, &q.O, &q.G} {
		if k.Kind() == term.KindBlank {
			*k = term.IRI(base + ".well-known/genid/" + k.Value())
		}
	}
	return string(q.S) + " " + string(q.P) + " " + string(q.O) + " " + string(q.G)
}

// change commits random changes to a store.
func change(t *testing.T, s *triplestore.Store, rnd *rand.Rand, commits int) {
	t.Helper()
	node := func() term.Key {
		if rnd.IntN(4) == 0 {
			return term.Blank(fmt.Sprint("b", rnd.IntN(20)))
		}
		return term.IRI(fmt.Sprint("http://example.org/", rnd.IntN(20)))
	}
	for range commits {
		err := s.Update(context.Background(), func(txn *triplestore.Txn) error {
			for range 1 + rnd.IntN(10) {
				q := term.Quad{S: node(), P: term.IRI("http://example.org/p"), O: node()}
				if rnd.IntN(2) == 0 {
					q.O = term.Lang(fmt.Sprintf("value \"%d\"\n", rnd.IntN(30)), "en")
				}
				if rnd.IntN(2) == 0 {
					q.G = node()
				}
				if rnd.IntN(3) == 0 {
					if err := txn.Delete(q); err != nil {
						return err
					}
				} else if err := txn.Insert(q); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func opener(s sink.Source) func(context.Context) (sink.Source, func() error, error) {
	return func(context.Context) (sink.Source, func() error, error) { return s, func() error { return nil }, nil }
}

// sync brings a target up to date, however often it fails.
func sync1(t *testing.T, to sink.Target, from sink.Source) sink.Round {
	t.Helper()
	for range 10_000 {
		round, err := to.Sync(context.Background(), from, 0)
		if err == nil {
			return round
		}
		if !strings.Contains(err.Error(), "EOF") && !strings.Contains(err.Error(), "not where it was left") {
			t.Fatal(err)
		}
	}
	t.Fatal("never up to date")
	return sink.Round{}
}

func newSPARQL(t *testing.T, o sink.SPARQLOptions) *sink.SPARQL {
	t.Helper()
	o.Base, o.Pause = base, time.Millisecond
	s, err := sink.NewSPARQL(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestACopyFollowsThroughFailures(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		s := open(t, triplestore.Options{KeepChanges: -1})
		from := sink.StoreSource{Store: s, Log: "log"}
		g, address := newTarget(t)
		g.refuse, g.silent = 2, 2
		change(t, s, rnd, 30)
		for round := range 10 {
			to := newSPARQL(t, sink.SPARQLOptions{Update: address, BatchQuads: 1 + rnd.IntN(20)}) // each round by another process
			if round == 5 {
				g.reset(t)
			}
			sync1(t, to, from)
			if got, want := quads(t, g.store), quads(t, s); !slices.Equal(got, want) {
				t.Fatalf("seed %d, round %d: the copy has %d quads, want %d", seed, round, len(got), len(want))
			}
			change(t, s, rnd, rnd.IntN(30))
		}
	}
}

func TestALoadThatIsInterruptedGoesOnWithWhatWasRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		s := open(t, triplestore.Options{KeepChanges: -1})
		change(t, s, rnd, 100)
		g, address := newTarget(t)
		to := newSPARQL(t, sink.SPARQLOptions{Update: address, BatchQuads: 10})
		g.refuse = 5
		for range 8 {
			to.Sync(context.Background(), sink.StoreSource{Store: s, Log: "log"}, 0)
			change(t, s, rnd, 5)
		}
		g.refuse = 0
		sync1(t, to, sink.StoreSource{Store: s, Log: "log"})
		if got, want := quads(t, g.store), quads(t, s); !slices.Equal(got, want) {
			t.Fatalf("seed %d: the copy has %d quads, want %d", seed, len(got), len(want))
		}
	}
}

func TestACopyOfAnotherLogIsWrittenAnew(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 0))
	s, other := open(t, triplestore.Options{}), open(t, triplestore.Options{})
	change(t, s, rnd, 50)
	change(t, other, rnd, 50)
	g, address := newTarget(t)
	mine := term.Quad{S: term.IRI("http://mine.example/s"), P: term.IRI("http://mine.example/p"), O: term.String("x"),
		G: term.IRI("http://mine.example/g")}
	if err := g.store.Update(context.Background(), func(txn *triplestore.Txn) error { return txn.Insert(mine) }); err != nil {
		t.Fatal(err)
	}
	to := newSPARQL(t, sink.SPARQLOptions{Update: address, Graph: "http://example.org/all"})
	sync1(t, to, sink.StoreSource{Store: s, Log: "one"})
	g.refuse, g.silent = 2, 2
	if round := sync1(t, to, sink.StoreSource{Store: other, Log: "two"}); !round.Begun {
		t.Errorf("%+v", round)
	}
	var want []string
	err := other.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		if q.G == "" {
			q.G = term.IRI("http://example.org/all")
		}
		want = append(want, nquad(q))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, nquad(mine)) // which no sink wrote
	slices.Sort(want)
	if got := quads(t, g.store); !slices.Equal(got, want) {
		t.Errorf("the copy has %d quads, want %d", len(got), len(want))
	}
}

func TestTriplesThatNoSinkWroteAreNotTouched(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{})
	change(t, s, rand.New(rand.NewPCG(1, 0)), 3)
	g, address := newTarget(t)
	err := g.store.Update(context.Background(), func(txn *triplestore.Txn) error {
		return txn.Insert(term.Quad{S: term.IRI("http://mine.example/s"), P: term.IRI("http://mine.example/p"), O: term.String("x")})
	})
	if err != nil {
		t.Fatal(err)
	}
	from := sink.StoreSource{Store: s, Log: "log"}
	if _, err := newSPARQL(t, sink.SPARQLOptions{Update: address}).Sync(context.Background(), from, 0); err == nil ||
		!strings.Contains(err.Error(), "--graph") {
		t.Errorf("Sync returned %v", err)
	}
	sync1(t, newSPARQL(t, sink.SPARQLOptions{Update: address, Replace: true}), from)
	if got, want := quads(t, g.store), quads(t, s); !slices.Equal(got, want) {
		t.Errorf("the copy has %d quads, want %d", len(got), len(want))
	}
}

func TestACopyMayBeginAtAPosition(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{KeepChanges: -1})
	for i := range 3 {
		err := s.Update(context.Background(), func(txn *triplestore.Txn) error {
			return txn.Insert(term.Quad{S: term.IRI("http://example.org/s"), P: term.IRI("http://example.org/p"),
				O: term.String(fmt.Sprint(i))})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	g, address := newTarget(t)
	after := s.Position() - 1
	sync1(t, newSPARQL(t, sink.SPARQLOptions{Update: address, After: &after}), sink.StoreSource{Store: s, Log: "log"})
	if got := quads(t, g.store); len(got) != 1 {
		t.Errorf("the copy has %q, want only the last change", got)
	}
}

// served serves a store as an archive does.
func served(t *testing.T, s *triplestore.Store) sink.RemoteSource {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	graphs, err := graphstore.New(s, graphstore.Options{Base: base + "rdf-graph-store", LogID: "log", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	changes := data.NewLog(data.LogOptions{Log: s, ID: "log", Base: base, Logs: log})
	queries := protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}),
		Snapshot: func() (term.Dataset, func()) { sn := s.Snapshot(); return sn, sn.Release }})
	mux := http.NewServeMux()
	mux.Handle("/rdf-graph-store", graphs)
	mux.Handle("/changes/rdf", problem.Handler(changes.Changes))
	mux.Handle("/sparql", queries)
	server := httptest.NewServer(problem.Use(problem.Options{})(mux))
	t.Cleanup(server.Close)
	return sink.RemoteSource{Do: func(ctx context.Context, method, path, accept string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(ctx, method, server.URL+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", accept)
		return http.DefaultClient.Do(req)
	}}
}

// readFiles returns what the files of a folder hold.
func readFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".gz") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		g := term.Key("")
		if filepath.Base(path) != "metadata.ttl.gz" {
			line, _, _ := strings.Cut(string(text), "\n")
			name := strings.TrimPrefix(line, "# ")
			if label, ok := strings.CutPrefix(name, "_:"); ok {
				g = term.Blank(label)
			} else {
				g = term.IRI(strings.Trim(name, "<>"))
			}
		}
		for q, err := range rdfio.NewReader(bytes.NewReader(text), rdfio.Turtle(), rdfio.Options{}).All() {
			if err != nil {
				return err
			}
			q.G = g
			out = append(out, nquad(q))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func TestFilesAndHDTHoldWhatTheArchiveHolds(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(9, 0))
	s := open(t, triplestore.Options{KeepChanges: -1})
	change(t, s, rnd, 50)
	remote := served(t, s)
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "graph.hdt")
	graph := term.IRI("http://example.org/1")
	g, address := newTarget(t)
	for round := range 6 {
		var from sink.Source = sink.StoreSource{Store: s, Log: "log"}
		if round%2 == 1 {
			from = remote
		}
		files := sync1(t, sink.Files{Dir: dir}, from)
		if files.Begun != (round == 0) {
			t.Errorf("round %d: %+v", round, files)
		}
		if got, want := readFiles(t, dir), quads(t, s); !slices.Equal(got, want) {
			t.Errorf("round %d: the files have %d quads, want %d", round, len(got), len(want))
		}
		sync1(t, newSPARQL(t, sink.SPARQLOptions{Update: address}), from)
		if got, want := quads(t, g.store), quads(t, s); !slices.Equal(got, want) {
			t.Errorf("round %d: the endpoint has %d quads, want %d", round, len(got), len(want))
		}
		sync1(t, sink.HDT{Path: file, Graph: graph, Base: base}, from)
		var want []string
		for _, q := range quads(t, s) {
			if name, ok := strings.CutSuffix(q, " "+string(graph)); ok {
				want = append(want, name+" ")
			}
		}
		if got := readHDT(t, file); !slices.Equal(got, want) {
			t.Errorf("round %d: the HDT file has %q, want %q", round, got, want)
		}
		change(t, s, rnd, 20)
	}
	// A file that was cut, or is of another graph, is written anew, once.
	if err := os.Truncate(file, 10); err != nil {
		t.Fatal(err)
	}
	for i, g := range []term.Key{graph, graph, "", ""} {
		if r := sync1(t, sink.HDT{Path: file, Graph: g, Base: base}, remote); r.Begun != (i%2 == 0) {
			t.Errorf("HDT file of %q, time %d: %+v", g, i, r)
		}
		readHDT(t, file)
	}
	before := sync1(t, sink.Files{Dir: dir}, remote)
	if again := sync1(t, sink.Files{Dir: dir}, remote); again.Files != 0 || again.Position != before.Position {
		t.Errorf("without a change: %+v after %+v", again, before)
	}
}

func readHDT(t *testing.T, path string) (out []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := hdt.Open(context.Background(), bytes.NewReader(raw), int64(len(raw)), hdt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, nquad(q))
	}
}

func TestRunReportsAndEnds(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{})
	change(t, s, rand.New(rand.NewPCG(1, 0)), 3)
	_, address := newTarget(t)
	var rounds []sink.Round
	o := sink.Options{Open: opener(sink.StoreSource{Store: s, Log: "log"}), Report: func(r sink.Round) { rounds = append(rounds, r) }}
	for range 2 {
		if err := sink.Run(t.Context(), newSPARQL(t, sink.SPARQLOptions{Update: address}), o); err != nil {
			t.Fatal(err)
		}
	}
	if len(rounds) != 2 || !rounds[0].Begun || rounds[1].Begun || rounds[1].Added != 0 || rounds[0].Position.N != s.Position() ||
		rounds[1].Position != rounds[0].Position {
		t.Errorf("%+v", rounds)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Follow, o.Report = true, func(r sink.Round) { cancel() }
	change(t, s, rand.New(rand.NewPCG(2, 0)), 3)
	if err := sink.Run(ctx, newSPARQL(t, sink.SPARQLOptions{Update: address}), o); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v", err)
	}
}

func TestDigestAuthenticationIsAnswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Get("Authorization")
		if !strings.HasPrefix(h, "Digest ") {
			w.Header().Set("WWW-Authenticate", `Digest realm="a \"realm\"", qop="auth,auth-int", nonce="dcd98b", opaque="5ccc"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		for _, part := range []string{`username="Mufasa"`, `realm="a \"realm\""`, `nonce="dcd98b"`, `opaque="5ccc"`, "qop=auth",
			"nc=00000001", `uri="/update"`} {
			if !strings.Contains(h, part) {
				t.Errorf("%s is not in %s", part, h)
			}
		}
		http.Error(w, "enough", http.StatusTeapot)
	}))
	defer server.Close()
	to := newSPARQL(t, sink.SPARQLOptions{Update: server.URL + "/update", Query: server.URL + "/update", User: "Mufasa",
		Password: "Circle of Life"})
	if _, err := to.Sync(context.Background(), sink.StoreSource{Store: open(t, triplestore.Options{})}, 0); err == nil ||
		!strings.Contains(err.Error(), "enough") {
		t.Errorf("Sync returned %v", err)
	}
}

func TestAnOperationNamesOneGraph(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{KeepChanges: -1})
	change(t, s, rand.New(rand.NewPCG(1, 0)), 100)
	g, address := newTarget(t)
	var updates []string
	inner := g.http
	g.http = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Type") == "application/sparql-update" {
			updates = append(updates, string(b))
		}
		r.Body = io.NopCloser(bytes.NewReader(b))
		inner.ServeHTTP(w, r)
	})
	sync1(t, newSPARQL(t, sink.SPARQLOptions{Update: address}), sink.StoreSource{Store: s, Log: "log"})
	change(t, s, rand.New(rand.NewPCG(2, 0)), 100)
	sync1(t, newSPARQL(t, sink.SPARQLOptions{Update: address}), sink.StoreSource{Store: s, Log: "log"})
	for _, u := range updates {
		for _, op := range strings.Split(u, " ;\n") {
			if n := strings.Count(op, "GRAPH <"); n > 1 {
				t.Errorf("an operation names %d graphs: %.200s", n, op)
			}
		}
		if n := strings.Count(u, "\n"); n > 10_000 {
			t.Errorf("an update has %d lines", n)
		}
	}
	if len(updates) < 3 {
		t.Errorf("%d updates", len(updates))
	}
}

func TestChangesThatAreCutOffAreAskedForAgain(t *testing.T) {
	t.Parallel()
	s := open(t, triplestore.Options{KeepChanges: -1})
	change(t, s, rand.New(rand.NewPCG(1, 0)), 20)
	whole := served(t, s)
	for _, lines := range []int{0, 2, 5, -1} { // that are left of the body
		cut := sink.RemoteSource{Do: func(ctx context.Context, method, path, accept string) (*http.Response, error) {
			resp, err := whole.Do(ctx, method, path, accept)
			if err != nil || resp.StatusCode != http.StatusOK {
				return resp, err
			}
			b, err := io.ReadAll(resp.Body)
			all := strings.SplitAfter(string(b), "\n")
			if lines < 0 { // without the last transaction
				b = b[:strings.LastIndex(string(b), "H id")]
			} else {
				b = []byte(strings.Join(all[:lines], ""))
			}
			resp.Body = io.NopCloser(bytes.NewReader(b))
			return resp, err
		}}
		if to, err := cut.Changes(t.Context(), sink.Position{Log: "log"}, 0, func(triplestore.Commit) error { return nil }); err == nil ||
			!strings.Contains(err.Error(), "ends before position") {
			t.Errorf("%d lines: position %v, %v", lines, to, err)
		}
	}
}

func TestAnAnswerOfAnotherShapeIsAnError(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{`{"head":{"vars":[]},"results":{"bindings":[{}]}}`,
		`{"head":{"vars":["o"]},"results":{"bindings":[{}]}}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/sparql-results+json")
			io.WriteString(w, answer)
		}))
		_, err := newSPARQL(t, sink.SPARQLOptions{Update: server.URL}).Sync(t.Context(),
			sink.StoreSource{Store: open(t, triplestore.Options{})}, 0)
		server.Close()
		if err == nil || !strings.Contains(err.Error(), "one column") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}
