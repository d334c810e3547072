package replica_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/replica"
	"odarchive/triplestore"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

const token = "a-token-of-the-test"

// writer is an archive that replicas can follow, and whose process can end.
type writer struct {
	t     *testing.T
	dir   string
	bytes string // URL of the bucket of its closed packs; "" for none
	node  *app.Node
	web   *httptest.Server
	live  atomic.Pointer[http.Handler]
}

func newWriter(t *testing.T) *writer {
	t.Helper()
	return newWriterOver(t, "")
}

// newWriterOver returns a writer that keeps closed packs in a bucket only.
func newWriterOver(t *testing.T, bytes string) *writer {
	t.Helper()
	w := &writer{t: t, dir: t.TempDir(), bytes: bytes}
	w.web = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if h := w.live.Load(); h != nil {
			(*h).ServeHTTP(rw, r)
			return
		}
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(w.web.Close)
	w.start()
	t.Cleanup(w.stop)
	return w
}

func (w *writer) config() config.Config {
	cfg := config.Defaults()
	cfg.Data, cfg.Base, cfg.Serve.Token = w.dir, "https://archive.example/", token
	if cfg.Bytes = w.bytes; w.bytes != "" {
		cfg.Cache = 1
	}
	return cfg
}

func (w *writer) start() {
	w.t.Helper()
	n, err := app.Open(context.Background(), w.config(), slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		w.t.Fatal(err)
	}
	h, err := n.Handler()
	if err != nil {
		w.t.Fatal(err)
	}
	w.node = n
	w.live.Store(&h)
}

func (w *writer) stop() {
	if w.node == nil {
		return
	}
	w.live.Store(nil)
	w.web.CloseClientConnections()
	time.Sleep(10 * time.Millisecond) // handlers that have begun
	if err := w.node.Close(); err != nil {
		w.t.Error(err)
	}
	w.node = nil
}

// follower is a replica whose process can end.
type follower struct {
	t     *testing.T
	dir   string
	of    string
	bytes string // --bytes
	fs    disk.FS
	room  int64 // MinFree
	f     *replica.Follower
	stop  context.CancelFunc
	done  chan error
}

func newFollower(t *testing.T, w *writer) *follower {
	return newFollowerOver(t, w, "")
}

func newFollowerOver(t *testing.T, w *writer, bytes string) *follower {
	f := &follower{t: t, dir: filepath.Join(t.TempDir(), "replica"), of: w.web.URL + "/", bytes: bytes}
	f.begin()
	return f
}

// begin starts a follower that ends with the test.
func (f *follower) begin() {
	f.start()
	f.t.Cleanup(f.end)
}

func (f *follower) start() {
	f.t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Bytes, cfg.Serve.Token = f.dir, f.bytes, token
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(f.t.Output(), nil))
	}
	var err error
	f.f, err = replica.New(replica.Options{Dir: cfg.Data, Bytes: cfg.Bytes, Here: cfg.Bytes == config.BytesHere,
		Writer: f.of, Token: token, Log: log, FS: f.fs, MinFree: f.room,
		FullRetry: 20 * time.Millisecond,
		Open: func(ctx context.Context, base string, state *kv.DB, before replica.Node) (replica.Node, http.Handler, error) {
			cfg := cfg
			cfg.Base = cmp.Or(base, cfg.Base)
			opts := store.Options{State: &store.State{DB: state, Packs: f.f.Packs(), Reason: "a replica"}}
			of := &faces.Replica{Writer: f.of, State: f.f.State, Collect: f.f.Collect}
			if n, ok := before.(*app.Node); ok {
				opts.State.From, of.Before = n.Store, n.Faces
			}
			n, err := app.Open(ctx, cfg, log, opts)
			if err != nil {
				return nil, nil, err
			}
			n.Replica = of
			h, err := n.Handler()
			return n, h, err
		}})
	if err != nil {
		f.t.Fatal(err)
	}
	var ctx context.Context
	ctx, f.stop = context.WithCancel(context.Background())
	f.done = make(chan error, 1)
	go func() { f.done <- f.f.Run(ctx) }()
}

func (f *follower) end() {
	if f.stop == nil {
		return
	}
	f.stop()
	f.stop = nil
	if err := <-f.done; err != nil {
		f.t.Error(err)
	}
}

func (f *follower) get(path string) (*http.Response, string) {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	rec := httptest.NewRecorder()
	f.f.ServeHTTP(rec, r)
	return rec.Result(), rec.Body.String()
}

// catchUp waits until the follower serves what the writer has.
func (f *follower) catchUp(w *writer) {
	f.t.Helper()
	want := w.node.DB.Position().Number
	for late := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if l := f.f.Lag(); l.Number == want && l.Known && l.Err == nil {
			return
		} else if time.Now().After(late) {
			f.t.Fatalf("the replica serves write set %d, the writer has %d: %v", l.Number, want, l.Err)
		}
	}
}

func quadsOf(t *testing.T, s *triplestore.Store) (all []string) {
	t.Helper()
	err := s.Dump(context.Background(), term.Pattern{}, func(q term.Quad) error {
		all = append(all, fmt.Sprint(q))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// same compares all quads, and the bytes of files.
func (f *follower) same(w *writer, files map[content.Digest][]byte) {
	f.t.Helper()
	f.catchUp(w)
	want := quadsOf(f.t, w.node.Triples)
	_, dump := f.get("/sparql?query=" +
		"SELECT+(COUNT(*)+AS+%3Fn)+%7B+%7B%3Fs+%3Fp+%3Fo%7D+UNION+%7BGRAPH+%3Fg+%7B%3Fs+%3Fp+%3Fo%7D%7D+%7D")
	if !strings.Contains(dump, fmt.Sprintf("%q", fmt.Sprint(len(want)))) {
		f.t.Fatalf("the writer has %d quads, the replica says %s", len(want), dump)
	}
	err := f.f.View(func(served replica.Node) error {
		n := served.(*app.Node)
		if got := quadsOf(f.t, n.Triples); !slices.Equal(got, want) {
			return errors.New("the quads differ")
		}
		for sha, b := range files {
			r, err := n.Content.Open(sha)
			if err != nil {
				return err
			}
			got, err := io.ReadAll(r)
			if err := cmp.Or(err, r.Close()); err != nil || !bytes.Equal(got, b) {
				return fmt.Errorf("file %s: %d bytes, %w", sha, len(got), err)
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// change changes the writer's triples, files or both.
func change(t *testing.T, w *writer, random *rand.Rand, files map[content.Digest][]byte) {
	t.Helper()
	ctx := context.Background()
	quad := func() term.Quad {
		n := func() string { return fmt.Sprintf("https://example.org/%d", random.IntN(60)) }
		q := term.Quad{S: term.IRI(n()), P: term.IRI(n()), O: term.IRI(n())}
		if random.IntN(3) == 0 {
			q.G = term.IRI(n())
		}
		return q
	}
	var err error
	switch random.IntN(8) {
	case 0:
		err = w.node.Triples.Merge(ctx)
	case 1:
		b := make([]byte, random.IntN(200_000))
		for i := range b {
			b[i] = byte(random.IntN(4))
		}
		ref, putErr := w.node.Content.Put(ctx, bytes.NewReader(b), content.PutOptions{})
		if err = putErr; err == nil {
			files[ref.SHA256] = b
		}
	case 2:
		_, err = w.node.Content.Compact(ctx)
	default:
		err = w.node.Triples.Update(ctx, func(tx *triplestore.Txn) error {
			for range random.IntN(40) {
				do := tx.Insert
				if random.IntN(4) == 0 {
					do = tx.Delete
				}
				if err := do(quad()); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAReplicaShowsTheStatesOfItsWriter(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 5))
	w := newWriter(t)
	f := newFollower(t, w)
	files := map[content.Digest][]byte{}
	for round := range 24 {
		change(t, w, random, files)
		switch random.IntN(12) {
		case 0:
			f.end()
			f.start()
		case 1:
			w.stop()
			w.start()
		case 2:
			if err := w.node.DB.Purge(context.Background()); err != nil {
				t.Fatal(err)
			}
		case 3: // its log is trimmed while the replica is away
			f.end()
			change(t, w, random, files)
			w.node.DB.Hold("token/nobody", 0)
			if err := w.node.DB.Purge(context.Background()); err != nil {
				t.Fatal(err)
			}
			f.start()
		default:
			if round%3 > 0 {
				continue
			}
		}
		f.same(w, files)
	}
	f.same(w, files)
}

func TestAReplicaSaysHowOldItIsAndTakesNoWrites(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	f := newFollower(t, w)
	if resp, _ := f.get("/stats/basic"); resp.StatusCode == http.StatusOK && resp.Header.Get(replica.LagHeader) == "" {
		t.Errorf("the first answer, which waited for a state: no %s", replica.LagHeader)
	}
	f.same(w, nil)
	if resp, body := f.get("/metrics"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "\nodarchive_replica_lag_seconds ") {
		t.Errorf("/metrics: %d %.300s", resp.StatusCode, body)
	}
	for _, path := range []string{"/", "/sparql?query=ASK+%7B%7D", "/nothing-here", "/readyz"} {
		if resp, _ := f.get(path); resp.Header.Get(replica.LagHeader) == "" {
			t.Errorf("%s: no %s", path, replica.LagHeader)
		}
	}
	if resp, body := f.get("/metrics"); resp.StatusCode != http.StatusOK || !strings.Contains(body, "odarchive_replica_lag_seconds") {
		t.Errorf("/metrics: %d %.200s", resp.StatusCode, body)
	}
	for _, c := range []struct{ method, path, kind, body string }{
		{"POST", "/sparql", "application/sparql-update", "INSERT DATA { <urn:a> <urn:b> 1 }"},
		{"POST", "/sparql", "application/x-www-form-urlencoded", "update=INSERT+DATA+%7B%7D"},
		{"PUT", "/rdf-graph-store?default", "text/turtle", "<urn:a> <urn:b> 1 ."},
		{"POST", "/api/v1/post/resource", "application/x-www-form-urlencoded", "url=http://example.org/"},
		{"POST", "/crawl?domain=example.org", "", ""},
		{"POST", "/portals", "application/x-www-form-urlencoded", "url=http://example.org/"},
		{"DELETE", "/tokens/token", "", ""},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", c.kind)
		rec := httptest.NewRecorder()
		f.f.ServeHTTP(rec, r)
		if rec.Code != http.StatusForbidden || !strings.Contains(rec.Body.String(), w.web.URL) {
			t.Errorf("%s %s: %d %s", c.method, c.path, rec.Code, rec.Body)
		}
	}
	w.stop()
	before := f.f.Lag().Time
	for f.f.Lag().Err == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if resp, _ := f.get("/sparql?query=ASK+%7B%7D"); resp.StatusCode != 200 || resp.Header.Get(replica.LagHeader) == "" ||
		f.f.Lag().Time <= before {
		t.Errorf("without the writer: %d, %v", resp.StatusCode, f.f.Lag())
	}
	f.end()
	f.start() // and after a restart
	for f.f.Lag().Err == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if resp, text := f.get("/metrics"); resp.StatusCode != 200 {
		t.Errorf("metrics: %s: %.300s", resp.Status, text)
	}
	if resp, _ := f.get("/readyz"); resp.StatusCode != 200 {
		t.Errorf("restarted without the writer: /readyz %d", resp.StatusCode)
	}
}

func TestADirectoryOfAnotherArchiveIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWriter(t)
	cfg := w.config()
	cfg.Data = t.TempDir()
	if err := os.WriteFile(filepath.Join(cfg.Data, "thesis.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := replica.New(replica.Options{Dir: cfg.Data, Writer: w.web.URL, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err,
		replica.ErrOther) {
		t.Errorf("a directory with other files: %v", err)
	}
	f := newFollower(t, w)
	f.same(w, nil)
	f.end()
	other := newWriter(t) // most probably of the same second
	f.of = other.web.URL + "/"
	f.start()
	if err := <-f.done; !errors.Is(err, replica.ErrOther) {
		t.Errorf("a replica of another archive: %v", err)
	}
	f.stop = nil
}
