package app

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/exchange/preserve"
	"odarchive/crawler/follow/campaign"
	"odarchive/sparqlapi/data/sink"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// linkedSite serves documents in Turtle that have the secret words until changed is set.
func linkedSite(t *testing.T) (host string, changed *atomic.Bool) {
	t.Helper()
	changed = &atomic.Bool{}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/turtle")
		switch r.URL.Path {
		case "/robots.txt", "/.well-known/void":
			http.NotFound(w, r)
		case "/seed.ttl":
			fmt.Fprint(w, "<> <http://p.example/links> </latest.ttl>, </older.ttl>, </interrupted.ttl>, </moved.ttl>, </other.ttl> .\n")
		case "/moved.ttl":
			http.Redirect(w, r, "/older.ttl", http.StatusFound)
		case "/other.ttl":
			fmt.Fprint(w, "<#it> <http://p.example/name> \"Somebody else\" .\n")
		default:
			fmt.Fprint(w, personTurtle(r.URL.Path, !changed.Load()))
		}
	}))
	t.Cleanup(site.Close)
	return site.URL, changed
}

func personTurtle(path string, secret bool) string {
	if secret {
		return fmt.Sprintf("<#it> <http://p.example/%s> \"%s of %s\" .\n", secretColumn, secretValue, path)
	}
	return fmt.Sprintf("<#it> <http://p.example/name> \"Somebody of %s\" .\n", path)
}

// secretQuads returns how many quads of a store have one of the secret words, and how many have not.
func secretQuads(t *testing.T, s *triplestore.Store) (with, without int) {
	t.Helper()
	err := s.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
		all := string(q.S) + string(q.P) + string(q.O) + string(q.G)
		if strings.Contains(all, secretColumn) || strings.Contains(all, secretValue) {
			with++
		} else {
			without++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return with, without
}

// endpointOf serves a SPARQL endpoint with a store of its own.
func endpointOf(t *testing.T) (url string, s *triplestore.Store) {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	if s, err = triplestore.Open(db, triplestore.Options{}); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(
		protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}), Store: sparql.StoreOf(s.View, s.Update),
			Snapshot:  func() (term.Dataset, func()) { sn := s.Snapshot(); return sn, sn.Release },
			Authorise: func(*http.Request) error { return nil }}))
	t.Cleanup(func() {
		server.Close()
		_ = errors.Join(s.Close(), db.Close())
	})
	return server.URL + "/sparql", s
}

// sinksOf returns a function that brings copies of a node's triples up to date: files and HDT files below a directory,
// and an endpoint.
func sinksOf(t *testing.T, n *Node, dir, endpoint, graph string) func() {
	t.Helper()
	remote, err := sink.NewSPARQL(sink.SPARQLOptions{Update: endpoint, Base: n.Mint.Base})
	if err != nil {
		t.Fatal(err)
	}
	targets := []sink.Target{
		sink.Files{Dir: filepath.Join(dir, "files")},
		sink.HDT{Path: filepath.Join(dir, "catalog.hdt"), Base: "urn:catalog", TempDir: t.TempDir()},
		sink.HDT{Path: filepath.Join(dir, "graph.hdt"), Graph: term.IRI(graph), Base: "urn:graph", TempDir: t.TempDir()},
		remote,
	}
	return func() {
		t.Helper()
		for _, to := range targets {
			if _, err := to.Sync(t.Context(), sink.StoreSource{Store: n.Triples, Log: n.DB.Lineage()}, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// dumpTo writes all quads of a node to a file.
func dumpTo(t *testing.T, n *Node, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	out := rdfio.NewWriter(f, rdfio.NQuads(), nil)
	if err := errors.Join(n.Triples.Dump(t.Context(), term.Pattern{}, out.Write), out.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// importTurtle adds a version of a file that no campaign reads.
func importTurtle(t *testing.T, n *Node, url, text string) {
	t.Helper()
	to := n.Preserved()
	v := preserve.Version{URL: url, Time: time.Now(), Size: int64(len(text)), Header: map[string][]string{"Content-Type": {"text/turtle"}}}
	err := errors.Join(to.Begin(t.Context(), preserve.Object{URL: url}), to.Version(t.Context(), v, strings.NewReader(text)),
		to.End(t.Context()), to.Close(t.Context()))
	if err != nil || to.Count.Versions != 1 {
		t.Fatalf("%+v, %v", to.Count, err)
	}
}

func TestStatementsOfWithdrawnDocumentsAreNowhere(t *testing.T) {
	t.Parallel()
	host, changed := linkedSite(t)
	n := openNode(t, func(*config.Config) {})
	follow := func() {
		t.Helper()
		if _, err := n.Campaigns.Run(t.Context(),
			campaign.Document{Name: "people", Seeds: []string{host + "/seed.ttl"}, Graphs: true}); err != nil {
			t.Fatal(err)
		}
		if now, _, err := n.Follow(t.Context(), "people", crawler.RunOptions{Once: true}); err != nil || now.State != campaign.Finished {
			t.Fatalf("%+v, %v", now, err)
		}
	}
	follow()
	copies, endpoint, remote := t.TempDir(), "", (*triplestore.Store)(nil)
	endpoint, remote = endpointOf(t)
	sync := sinksOf(t, n, copies, endpoint, n.Mint.Graph(host+"/latest.ttl"))
	sync()
	dumpTo(t, n, filepath.Join(copies, "all.nq"))
	full, increment := filepath.Join(t.TempDir(), "full"), filepath.Join(copies, "increment.odab")
	if _, err := backup.ToFile(t.Context(), n.BackupSource(), full, "", nil); err != nil {
		t.Fatal(err)
	}
	o := newOutsider(t, secretColumn, secretValue)
	if found := o.search(copies); len(found) < 5 { // three graphs, a graph as HDT and the dump
		t.Fatalf("the test sees the words only in %q", found)
	}
	if with, _ := secretQuads(t, remote); with < 3 {
		t.Fatalf("the endpoint has %d statements with the words", with)
	}

	importTurtle(t, n, host+"/older.ttl", personTurtle("/older.ttl", false)) // the graph stays that of the version before
	var large []term.Quad                                                    // of a visit that does not come to its end
	for i := range 9000 {
		number := (uint64(i) + 1) * 0x9E3779B97F4A7C15 // which compresses badly
		large = append(large, term.Quad{S: term.IRI(fmt.Sprintf("urn:%x", number)), P: term.IRI("urn:" + secretColumn),
			O: term.String(fmt.Sprint(secretValue, number*number))})
	}
	if _, err := n.Graphs.Prepare(t.Context(), host+"/large.ttl", large); err != nil {
		t.Fatal(err)
	}
	older := firstVersion(t, n, host+"/older.ttl")
	order := catalog.WithdrawalOrder{Targets: []string{host + "/latest.ttl", older}, Reason: "It names people.", Copies: true}
	done, err := n.Withdraw(t.Context(), order)
	if err != nil || len(done.Versions) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	if with, _ := secretQuads(t, n.Triples); with != 2 {
		t.Errorf("%d statements are left, want the one of the document that was not withdrawn, and that of its version", with)
	}
	// A process that ends after the versions are withdrawn, and before the statements are.
	w, err := order.Withdrawal(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Archive.Withdraw(t.Context(), archive.Withdrawing{Targets: []string{host + "/interrupted.ttl"}}, w); err != nil {
		t.Fatal(err)
	}
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		t.Helper()
		sync()
		dumpTo(t, n, filepath.Join(copies, "all.nq"))
		if _, err := backup.ToFile(t.Context(), n.BackupSource(), increment, full, nil); err != nil {
			t.Fatal(err)
		}
		if found := o.search(n.Config.Data, copies); len(found) > 0 {
			t.Errorf("%s: withdrawn statements are in %q", when, found)
		}
		if with, without := secretQuads(t, remote); with > 0 || without == 0 {
			t.Errorf("%s: the endpoint has %d withdrawn statements, and %d others", when, with, without)
		}
	}
	check("after the withdrawal")
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := backup.Restore(t.Context(), restored, []string{full, increment}, nil); err != nil {
		t.Fatal(err)
	}
	if found := o.search(restored); len(found) > 0 {
		t.Errorf("restored with the backup after the withdrawal: %q", found)
	}
	if err := os.Remove(increment); err != nil {
		t.Fatal(err)
	}
	follow() // the bytes come again
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	check("after another round")
	changed.Store(true)
	follow()
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("after other bytes: %q", found)
	}
	var names int
	err = n.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
		if q.P == term.IRI("http://p.example/name") && q.G != "" {
			names++
		}
		return nil
	})
	if err != nil || names < 4 {
		t.Errorf("%d documents have a graph again, want 4; %v", names, err)
	}
}

// firstVersion returns the id of the first version of a file.
func firstVersion(t *testing.T, n *Node, url string) string {
	t.Helper()
	all, err := n.Archive.Versions(t.Context(), url)
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d versions, %v", url, len(all), err)
	}
	return all[0].ID
}
