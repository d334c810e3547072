package transparency

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/kv"

	"golang.org/x/mod/sumdb/note"
)

const origin = "archive.example/log"

func newSigner(t testing.TB, db *kv.DB) *Signer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.key")
	if _, err := NewKey(file, origin); err != nil {
		t.Fatal(err)
	}
	return &Signer{DB: db, File: file, Clock: func() time.Time { return day }}
}

func sign(t testing.TB, s *Signer) Checkpoint {
	t.Helper()
	c, err := s.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func verifiers(t testing.TB, keys ...string) []note.Verifier {
	t.Helper()
	v, err := Verifiers(keys)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func publicOf(t testing.TB, s *Signer) []string {
	t.Helper()
	k, err := ReadKey(s.File)
	if err != nil {
		t.Fatal(err)
	}
	return k.Public
}

// proofOf returns the proof of leaf i in the text form.
func proofOf(t testing.TB, db *kv.DB, i int, keys []string) []byte {
	t.Helper()
	subject := Subject{Version: "http://archive.example/api/v1/get/file/id/" + idAt(i), URL: fmt.Sprint("http://data.example/", i),
		Leaf: leafAt(i).Encode(), Keys: keys}
	subject.SetHead(HeadDigest([]byte("HTTP/1.1 200 OK\r\n\r\n")))
	var text []byte
	err := View(db, func(txn Txn) error {
		c, err := txn.CheckpointFor(nil)
		if err != nil {
			return err
		}
		p, err := txn.Prove(int64(i), c, subject)
		if err == nil {
			text, err = p.Format()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAProofHoldsForItsFileAloneAndSaysWhoSigned(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 300)
	s := newSigner(t, db)
	c := sign(t, s)
	text := proofOf(t, db, 123, publicOf(t, s))
	p, err := ParseProof(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []struct {
		by   Trusted
		want string
	}{{Trusted{}, TrustNone}, {Trusted{Keys: verifiers(t, publicOf(t, s)...)}, TrustKey}, {Trusted{Checkpoint: c.Note}, TrustCheckpoint}} {
		v, err := p.Verify(leafAt(123).SHA256, trusted.by)
		if err != nil || v.Trust != trusted.want || v.N != 123%7 || !v.At.Equal(leafAt(123).At) || v.URL != "http://data.example/123" ||
			v.Size != 300 || v.Log != origin || v.Signed[0] != origin {
			t.Errorf("%+v, %v; want trust %s", v, err, trusted.want)
		}
	}
	if _, err := p.Verify(leafAt(124).SHA256, Trusted{}); !errors.Is(err, ErrNoProof) {
		t.Errorf("another file: %v", err)
	}
	other := newSigner(t, newDB(t))
	if _, err := p.Verify(leafAt(123).SHA256, Trusted{Keys: verifiers(t, publicOf(t, other)...)}); !errors.Is(err, ErrNoProof) {
		t.Errorf("another key: %v", err)
	}
	grow(t, db, 301)
	if _, err := p.Verify(leafAt(123).SHA256, Trusted{Checkpoint: sign(t, s).Note}); !errors.Is(err, ErrNoProof) ||
		!strings.Contains(err.Error(), "prove --checkpoint") {
		t.Errorf("a later checkpoint: %v", err)
	}
	forged := p
	forged.Subject.URL = "http://data.example/else"
	if _, err := forged.Verify(leafAt(123).SHA256, Trusted{}); !errors.Is(err, ErrNoProof) {
		t.Errorf("another URL: %v", err)
	}
	forged = p
	forged.Subject.Version = strings.TrimSuffix(p.Subject.Version, "_4") + "_5"
	if _, err := forged.Verify(leafAt(123).SHA256, Trusted{}); !errors.Is(err, ErrNoProof) {
		t.Errorf("another number: %v", err)
	}
	for i := range text { // no changed byte makes a proof of something else
		changed := append([]byte(nil), text...)
		changed[i] ^= 1
		q, err := ParseProof(changed)
		if err != nil {
			continue
		}
		if v, err := q.Verify(leafAt(123).SHA256, Trusted{Keys: verifiers(t, publicOf(t, s)...)}); err == nil {
			if v.URL != "http://data.example/123" && v.URL != "" || !v.At.Equal(leafAt(123).At) || v.N != 4 || v.Index != 123 ||
				v.Size != 300 {
				t.Errorf("byte %d changed: %+v", i, v)
			}
		}
	}
}

func TestNothingIsSignedTwiceDifferently(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := newSigner(t, db)
	if _, err := s.Sign(t.Context()); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty log: %v", err)
	}
	grow(t, db, 100)
	first := sign(t, s)
	if again := sign(t, s); string(again.Note) != string(first.Note) {
		t.Error("the same tree has two checkpoints")
	}
	grow(t, db, 150)
	sign(t, s)
	for name, harm := range map[string]func(Txn) error{
		"truncated": func(t Txn) error { return truncate(t, 120) },
		"rewritten": func(t Txn) error { return rewrite(t, 20) },
	} {
		fork := newDB(t) // an archive as it was, without what was signed since
		grow(t, fork, 150)
		if err := fork.Update(t.Context(), func(txn *kv.Txn) error { return harm(Txn{txn}) }); err != nil {
			t.Fatal(err)
		}
		grow(t, fork, 151)
		if name == "truncated" {
			err := fork.Update(t.Context(), func(txn *kv.Txn) error { return rewrite(Txn{txn}, 130) })
			if err != nil {
				t.Fatal(err)
			}
		}
		forked := &Signer{DB: fork, File: s.File}
		if _, err := forked.Sign(t.Context()); !errors.Is(err, ErrForked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	small := newDB(t)
	grow(t, small, 90)
	if _, err := (&Signer{DB: small, File: s.File}).Sign(t.Context()); !errors.Is(err, ErrForked) {
		t.Errorf("an older state: %v", err)
	}
}

func TestAKeyIsRotatedAndRetired(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 10)
	s := newSigner(t, db)
	old := publicOf(t, s)
	sign(t, s)
	if _, err := NewKey(s.File, origin); err == nil {
		t.Error("a key was replaced")
	}
	if _, err := RotateKey(s.File); err != nil {
		t.Fatal(err)
	}
	both := sign(t, s) // the tree is the same, the signatures are not
	for _, key := range publicOf(t, s) {
		if _, _, err := OpenNote(both.Note, verifiers(t, key)); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if len(publicOf(t, s)) != 2 {
		t.Fatal("not two keys")
	}
	if _, err := RetireKeys(s.File); err != nil {
		t.Fatal(err)
	}
	grow(t, db, 11)
	c := sign(t, s)
	if _, _, err := OpenNote(c.Note, verifiers(t, old...)); err == nil {
		t.Error("a retired key signs")
	}
	info, err := os.Stat(s.File)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(s.File, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sign(t.Context()); err == nil || strings.Contains(err.Error(), "PRIVATE") {
		t.Errorf("a key that others may read: %v", err)
	}
}

func TestAnybodyWithAnOldCheckpointFindsALogThatWasRewritten(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 260)
	s := newSigner(t, db)
	_, yesterday, err := OpenNote(sign(t, s).Note, verifiers(t, publicOf(t, s)...))
	if err != nil {
		t.Fatal(err)
	}
	grow(t, db, 700)
	server := httptest.NewServer(serve(OfArchive(db)))
	defer server.Close()
	web, err := OfWeb(server.Client(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sign(t, s)
	if _, written, err := Export(t.Context(), db, dir); err != nil || written == 0 {
		t.Fatal(written, err)
	}
	for name, files := range map[string]Files{"archive": OfArchive(db), "web": web, "directory": OfDirectory(dir)} {
		if err := Consistent(t.Context(), yesterday, treeOf(t, db, 700), files); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	grow(t, db, 900)
	sign(t, s)
	if _, written, err := Export(t.Context(), db, dir); err != nil || written != 5 {
		// tiles 2 and 3 with their entries, and that of level 1
		t.Errorf("%d files, %v", written, err)
	}
	if err := Consistent(t.Context(), yesterday, treeOf(t, db, 900), OfDirectory(dir)); err != nil {
		t.Error(err)
	}

	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return rewrite(Txn{txn}, 100) }); err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{260, 700, 900} {
		if err := Consistent(t.Context(), yesterday, treeOf(t, db, size), web); !errors.Is(err, ErrForked) {
			t.Errorf("rewritten, %d versions: %v", size, err)
		}
	}
	if err := Consistent(t.Context(), yesterday, treeOf(t, db, 200), web); !errors.Is(err, ErrForked) {
		t.Errorf("truncated: %v", err)
	}
	if _, _, err := Export(t.Context(), db, dir); !errors.Is(err, ErrForked) {
		t.Errorf("export over files of another history: %v", err)
	}
}

func serve(files Files) http.Handler {
	return http.StripPrefix("/log/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := files(r.Context(), r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Write(b)
	}))
}

func TestAWitnessCosignsWhatGrowsAndNothingElse(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 300)
	s := newSigner(t, db)
	sign(t, s)
	secret, err := NewCosigner("witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	at := day.Add(time.Hour)
	by, err := ParseCosigner(secret+"\n", func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(t.TempDir(), "seen")
	keys := verifiers(t, publicOf(t, s)...)
	cosigned, _, err := Witness(t.Context(), OfArchive(db), keys, by, state)
	if err != nil {
		t.Fatal(err)
	}
	known := verifiers(t, by.Public)
	for want := 1; want >= 0; want-- { // the second time there is nothing new
		if added, err := AddCosignatures(t.Context(), db, cosigned, known); err != nil || added != want {
			t.Fatalf("%d added, %v; want %d", added, err, want)
		}
	}
	p, err := ParseProof(proofOf(t, db, 5, publicOf(t, s)))
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Verify(leafAt(5).SHA256, Trusted{Keys: append(keys, known...)})
	if err != nil || len(v.Witnesses) != 1 || v.Witnesses[0].Name != "witness.example/w1" || !v.Witnesses[0].At.Equal(at) {
		t.Errorf("%+v, %v", v, err)
	}
	stranger, _ := NewCosigner("witness.example/w2")
	other, _ := ParseCosigner(stranger, func() time.Time { return at })
	if _, err := AddCosignatures(t.Context(), db, cosigned, verifiers(t, other.Public)); !errors.Is(err, ErrNote) {
		t.Errorf("a cosignature of a stranger: %v", err)
	}
	grow(t, db, 310)
	sign(t, s)
	if _, _, err := Witness(t.Context(), OfArchive(db), keys, by, state); err != nil {
		t.Error(err)
	}
	fork := newDB(t)
	grow(t, fork, 310)
	if err := fork.Update(t.Context(), func(txn *kv.Txn) error { return rewrite(Txn{txn}, 7) }); err != nil {
		t.Fatal(err)
	}
	os.Remove(s.File + guardSuffix)
	grow(t, fork, 320)
	sign(t, &Signer{DB: fork, File: s.File})
	if evidence, _, err := Witness(t.Context(), OfArchive(fork), keys, by, state); !errors.Is(err, ErrForked) || len(evidence) == 0 {
		t.Errorf("another history: %v", err)
	}
}
