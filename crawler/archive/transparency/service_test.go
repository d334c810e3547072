package transparency

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func newService(t testing.TB, s *Signer) *WitnessService {
	t.Helper()
	secret, err := NewCosigner("witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	by, err := ParseCosigner(secret, func() time.Time { return day })
	if err != nil {
		t.Fatal(err)
	}
	return &WitnessService{Keys: verifiers(t, publicOf(t, s)...), By: by, Dir: t.TempDir()}
}

func submitTo(t *testing.T, w http.Handler, body []byte) (status int, contentType, answer string) {
	t.Helper()
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/add-checkpoint", bytes.NewReader(body)))
	return rec.Code, rec.Header().Get("Content-Type"), rec.Body.String()
}

// The statuses are those of tlog-witness.
func TestAWitnessAnswersAsTheProtocolHasIt(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 300)
	s := newSigner(t, db)
	first := sign(t, s).Note
	grow(t, db, 700)
	second := sign(t, s).Note
	prove := ProverOf(db)
	proof, err := prove(300, 700)
	if err != nil {
		t.Fatal(err)
	}
	w := newService(t, s)
	copied := newDB(t)
	grow(t, copied, 300)
	strange := sign(t, newSigner(t, copied)).Note // the same log, another key
	if err := os.Remove(s.File + guardSuffix); err != nil {
		t.Fatal(err)
	}
	fork, err := forked(t, s, 7, 700)(t.Context(), CheckpointFile)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(first, []byte(origin+"\n"), []byte("other.example/log\n"), 1)
	for _, c := range []struct {
		name   string
		body   []byte
		status int
		answer string
	}{
		{"nothing", nil, 400, "old 5"},
		{"no size", []byte("old x\n\n" + string(first)), 400, "old 5"},
		{"leading zero", []byte("old 00\n\n" + string(first)), 400, "old 5"},
		{"no checkpoint", []byte("old 0\n\nhello\n"), 400, "not a checkpoint"},
		{"a greater old size", submission(301, nil, first), 400, "greater"},
		{"bad hash", []byte("old 0\nAAAA\n\n" + string(first)), 400, "not a hash"},
		{"64 hashes", submission(0, make(tlog.TreeProof, 64), first), 400, "too long"},
		{"unknown log", submission(0, nil, other), 404, "does not watch"},
		{"unknown key", submission(0, nil, strange), 403, "no signature"},
		{"proof for nothing", submission(0, make(tlog.TreeProof, 1), first), 422, "proof"},
		{"too early", submission(5, nil, first), 409, "0\n"},
		{"first", submission(0, nil, first), 200, "— witness.example/w1 "},
		{"first again", submission(300, nil, first), 200, "— witness.example/w1 "},
		{"unknown old", submission(0, nil, second), 409, "300\n"},
		{"no proof", submission(300, nil, second), 422, "proof"},
		{"wrong proof", submission(300, append(tlog.TreeProof{{1}}, proof[1:]...), second), 422, "proof"},
		{"second", submission(300, proof, second), 200, "— witness.example/w1 "},
		{"smaller", submission(300, nil, first), 409, "700\n"},
		{"fork of one size", submission(700, nil, fork), 409, "700\n"},
	} {
		status, kind, answer := submitTo(t, w, c.body)
		if status != c.status || !strings.Contains(answer, c.answer) || (status == 409) != (kind == "text/x.tlog.size") {
			t.Errorf("%s: %d %s %q; want %d %q", c.name, status, kind, answer, c.status, c.answer)
		}
		if status == 200 {
			body, err := Body(c.body[bytes.Index(c.body, []byte("\n\n"))+2:])
			if err != nil {
				t.Fatal(err)
			}
			if _, err := note.Open([]byte(string(body)+"\n"+answer), note.VerifierList(verifiers(t, w.By.Public)...)); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	if status, _, _ := submitTo(t, w, make([]byte, maxSubmission+1)); status != http.StatusRequestEntityTooLarge {
		t.Error("too long:", status)
	}
	if err := os.WriteFile(SeenFile(w.Dir, origin), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, _, answer := submitTo(t, w, submission(0, nil, first)); status != 500 { // it must not begin anew
		t.Errorf("with a damaged file: %d %s", status, answer)
	}
}

// Whatever is submitted at the same time, what is cosigned is one history.
func TestAWitnessIsAskedByManyAtOnce(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := newSigner(t, db)
	var notes [][]byte
	for size := 10; size <= 200; size += 10 {
		grow(t, db, size)
		notes = append(notes, sign(t, s).Note)
	}
	w := newService(t, s)
	server := httptest.NewServer(w)
	defer server.Close()
	key := verifiers(t, w.By.Public)[0]
	var group sync.WaitGroup
	var mu sync.Mutex
	cosigned := 0
	for _, one := range notes {
		group.Go(func() {
			got, err := Submit(t.Context(), server.Client(), server.URL, key, one, 0, ProverOf(db))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				cosigned++
				if _, ok := CosignedAt(got, key); !ok {
					t.Errorf("not cosigned:\n%s", got)
				}
			}
		})
	}
	group.Wait()
	before, err := seen(SeenFile(w.Dir, origin), origin)
	if err != nil || cosigned == 0 || before != treeOf(t, db, before.N) {
		t.Errorf("%d were cosigned, then %+v %v", cosigned, before, err)
	}
}

func TestALogAsksItsWitness(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := newSigner(t, db)
	grow(t, db, 40)
	first := sign(t, s).Note
	w := newService(t, s)
	server := httptest.NewServer(http.StripPrefix("/w1", w))
	defer server.Close()
	key := verifiers(t, w.By.Public)[0]
	ask := func(signed []byte, last int64) ([]byte, error) {
		return Submit(t.Context(), server.Client(), server.URL+"/w1/", key, signed, last, ProverOf(db))
	}
	cosigned, err := ask(first, 17) // a wrong guess is corrected
	if err != nil {
		t.Fatal(err)
	}
	if added, err := AddCosignatures(t.Context(), db, cosigned, []note.Verifier{key}); added != 1 || err != nil {
		t.Fatal(added, err)
	}
	grow(t, db, 300)
	second := sign(t, s).Note
	var last int64
	if err := View(db, func(txn Txn) (err error) { last, err = txn.LastCosigned(t.Context(), key); return err }); err != nil || last != 40 {
		t.Errorf("cosigned last: %d %v", last, err)
	}
	if _, err := ask(second, last); err != nil {
		t.Error(err)
	}
	if _, err := ask(first, 0); err == nil || !strings.Contains(err.Error(), "it has cosigned a tree of 300 versions") {
		t.Errorf("an older checkpoint: %v", err)
	}
	fork, err := forked(t, s, 3, 300)(t.Context(), CheckpointFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ask(fork, 300); !errors.Is(err, ErrForked) {
		t.Errorf("another history: %v", err)
	}

	for name, answer := range map[string]func(http.ResponseWriter){
		"nothing":        func(http.ResponseWriter) {},
		"an endless one": func(w http.ResponseWriter) { _, _ = io.CopyN(w, zeros{}, 100<<20) },
		"sizes":          func(w http.ResponseWriter) { w.WriteHeader(409); fmt.Fprintln(w, time.Now().UnixNano()%200) },
		"a signature of another": func(w http.ResponseWriter) {
			fmt.Fprint(w, string(first[bytes.Index(first, []byte("\n\n"))+2:]))
		},
	} {
		liar := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) }))
		if _, err := Submit(t.Context(), liar.Client(), liar.URL, key, second, 0, ProverOf(db)); err == nil {
			t.Errorf("a witness that answers with %s is believed", name)
		}
		liar.Close()
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// FuzzSubmission sends a witness what strangers send.
func FuzzSubmission(f *testing.F) {
	db := newDB(f)
	grow(f, db, 300)
	s := newSigner(f, db)
	first := sign(f, s).Note
	w := newService(f, s)
	f.Add(submission(0, nil, first))
	f.Add(submission(5, make(tlog.TreeProof, 3), first))
	f.Fuzz(func(t *testing.T, b []byte) {
		if lines, err := w.Add(b); err == nil && !bytes.HasPrefix(lines, []byte("— witness.example/w1 ")) {
			t.Errorf("%q", lines)
		}
		if tree, err := seen(SeenFile(w.Dir, origin), origin); err != nil || tree.N != 0 && tree.N != 300 {
			t.Errorf("it has seen %+v %v", tree, err)
		}
	})
}
