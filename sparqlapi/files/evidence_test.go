package files_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive/transparency"
	"odarchive/ns"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/kv"

	"github.com/go-chi/chi/v5"
)

const link = "http://data.example/a.csv"

// log is a log of some versions, of which it proves the first.
type log struct{ db *kv.DB }

func (l log) leaf(i int) transparency.Leaf {
	return transparency.Leaf{At: time.UnixMilli(1e12), N: i, SHA256: sha256.Sum256([]byte{byte(i)}),
		Identity: transparency.Identity(link, [32]byte{})}
}

func (l log) id(i int) string {
	key, err := address.Key(link)
	if err != nil {
		panic(err)
	}
	return ns.VersionID(ns.ResourceID(key), i)
}

func (l log) Prove(id string, checkpoint []byte, keys []string) (p transparency.Proof, err error) {
	err = transparency.View(l.db, func(t transparency.Txn) error {
		c, err := t.CheckpointFor(checkpoint)
		if err == nil {
			p, err = t.Prove(0, c,
				transparency.Subject{Version: "http://archive.example/" + id, URL: link, Leaf: l.leaf(0).Encode(), Keys: keys})
		}
		return err
	})
	return p, err
}

func TestTheLogIsServedAsStaticFilesAndVersionsAreProved(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	l := log{db}
	err = db.Update(t.Context(), func(txn *kv.Txn) error {
		for i := range 300 {
			if _, err := (transparency.Txn{Txn: txn}).Append(l.id(i), l.leaf(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	signer := &transparency.Signer{DB: db, File: file}
	secret, _ := transparency.NewCosigner("witness.example/w1")
	witness, err := transparency.ParseCosigner(secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	known, err := transparency.Verifiers([]string{witness.Public})
	if err != nil {
		t.Fatal(err)
	}
	var public []string
	api := &files.EvidenceAPI{
		Archive: l, Files: transparency.OfArchive(db), Keys: func() ([]string, error) { return public, nil }, Sign: signer.Sign,
		Cosign: func(ctx context.Context, note []byte) (int, error) {
			return transparency.AddCosignatures(ctx, db, note, known)
		},
		Page: func(w http.ResponseWriter, _ *http.Request, _ transparency.Proof, v transparency.Verified) error {
			_, err := fmt.Fprintf(w, "page of %s", v.URL)
			return err
		},
	}
	r := chi.NewRouter()
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{"/log/checkpoint": api.Checkpoint,
		"/log/tile/*": api.Tile, "/log/key": api.Key, "/proof/{id}": api.Proof} {
		r.Get(pattern, problem.Handler(h))
	}
	r.Post("/log/sign", problem.Handler(api.SignNow))
	r.Post("/log/cosignatures", problem.Handler(api.Cosignatures))
	server := httptest.NewServer(r)
	defer server.Close()
	ask := func(method, path, body, accept string, status int) (*http.Response, string) {
		t.Helper()
		req, _ := http.NewRequest(method, server.URL+path, strings.NewReader(body))
		req.Header.Set("Accept", accept)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != status {
			t.Errorf("%s %s: %s, want %d: %s", method, path, resp.Status, status, b)
		}
		return resp, string(b)
	}
	ask("GET", "/log/checkpoint", "", "*/*", 404)
	ask("GET", "/log/key", "", "*/*", 404)
	ask("GET", "/proof/"+l.id(0), "", "*/*", 404)
	ask("POST", "/log/sign", "", "*/*", 409)
	key, err := transparency.NewKey(file, "archive.example/log")
	if err != nil {
		t.Fatal(err)
	}
	public = key.Public
	_, signed := ask("POST", "/log/sign", "", "*/*", 200)
	resp, checkpoint := ask("GET", "/log/checkpoint", "", "*/*", 200)
	if checkpoint != signed || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" ||
		strings.Contains(resp.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%q, %v", checkpoint, resp.Header)
	}
	resp, tile := ask("GET", "/log/tile/0/000", "", "*/*", 200)
	if len(tile) != 8192 || !strings.Contains(resp.Header.Get("Cache-Control"), "immutable") ||
		resp.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%d bytes, %v", len(tile), resp.Header)
	}
	for _, path := range []string{"/log/tile/0/002", "/log/tile/0/../0/000", "/log/tile/entries/000.p/0", "/log/tile/"} {
		ask("GET", path, "", "*/*", 404)
	}
	trusted, _ := transparency.Verifiers(public)
	for path, accept := range map[string]string{"/proof/" + l.id(0): "text/plain", "/proof/" + l.id(0) + "?format=txt": "text/html",
		"/proof/" + l.id(0) + ".tlog-proof": "*/*"} {
		_, text := ask("GET", path, "", accept, 200)
		p, err := transparency.ParseProof([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if v, err := p.Verify(l.leaf(0).SHA256, transparency.Trusted{Keys: trusted}); err != nil || v.URL != link {
			t.Errorf("%s: %+v, %v", path, v, err)
		}
	}
	var said struct {
		URL, Text, Root string
		Size            int
	}
	_, body := ask("GET", "/proof/"+l.id(0), "", "*/*", 200)
	if err := json.Unmarshal([]byte(body), &said); err != nil || said.URL != link || said.Size != 300 ||
		!strings.Contains(checkpoint, said.Root) || !strings.HasPrefix(said.Text, transparency.ProofType) {
		t.Errorf("%+v, %v", said, err)
	}
	if _, page := ask("GET", "/proof/"+l.id(0), "", "text/html", 200); page != "page of "+link {
		t.Error(page)
	}
	ask("GET", "/proof/"+l.id(0)+"?format=docx", "", "*/*", 400)

	log, err := transparency.OfWeb(server.Client(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	cosigned, _, err := transparency.Witness(t.Context(), log, trusted, witness, filepath.Join(t.TempDir(), "seen"))
	if err != nil {
		t.Fatal(err)
	}
	if _, body := ask("POST", "/log/cosignatures", string(cosigned), "*/*", 200); strings.TrimSpace(body) != `{"added":1}` {
		t.Error(body)
	}
	if _, now := ask("GET", "/log/checkpoint", "", "*/*", 200); !strings.Contains(now, "— witness.example/w1 ") {
		t.Error(now)
	}
	ask("POST", "/log/cosignatures", checkpoint, "*/*", 400) // the log's own signature only
	ask("POST", "/log/cosignatures", strings.Replace(string(cosigned), "300", "299", 1), "*/*", 400)
	ask("POST", "/log/cosignatures", strings.Repeat("a", 70_000), "*/*", 413)
}
