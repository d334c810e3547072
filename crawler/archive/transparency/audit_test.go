package transparency

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/kv"
)

func TestAnAuditReadsAllOfALogAndComparesItWithOldCheckpoints(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := newSigner(t, db)
	var since [][]byte
	for _, size := range []int{1, 255, 256, 257, 600} {
		grow(t, db, size)
		since = append(since, sign(t, s).Note)
	}
	grow(t, db, 3_001)
	sign(t, s)
	server := httptest.NewServer(serve(OfArchive(db)))
	defer server.Close()
	web, err := OfWeb(server.Client(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	done := int64(0)
	a, err := Audit(t.Context(), web,
		AuditOptions{Keys: verifiers(t, publicOf(t, s)...), Since: since, Progress: func(n, _ int64) { done = n }})
	if err != nil || a.AllFaults > 0 || a.Versions != 3_001 || done != a.Versions || !a.Signed ||
		!slices.Equal(a.Compared, []int64{1, 255, 256, 257, 600}) {
		t.Fatalf("%+v, %v", a, err)
	}
	if want := int64(3_001 * (2 + LeafLen)); a.Bytes < want+3_001*32 || a.Files < 2*12 {
		t.Errorf("%d files with %d bytes were read", a.Files, a.Bytes)
	}
	stranger := newSigner(t, newDB(t))
	if _, err := Audit(t.Context(), web, AuditOptions{Keys: verifiers(t, publicOf(t, stranger)...)}); err == nil {
		t.Error("a checkpoint of a stranger is believed")
	}
}

// Every file of an exported log that is changed, cut or missing is found, and so is another history.
func TestAnAuditFindsWhateverIsChanged(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	s := newSigner(t, db)
	grow(t, db, 300)
	old := sign(t, s).Note
	grow(t, db, 700)
	sign(t, s)
	dir := t.TempDir()
	if _, _, err := Export(t.Context(), db, dir); err != nil {
		t.Fatal(err)
	}
	audit := func() (Audited, error) {
		return Audit(t.Context(), OfDirectory(dir), AuditOptions{Since: [][]byte{old}, Retry: time.Nanosecond})
	}
	if a, err := audit(); err != nil || a.AllFaults > 0 {
		t.Fatalf("%+v %v", a, err)
	}
	var files []string
	if err := filepath.WalkDir(filepath.Join(dir, "tile"), func(name string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		flipped := slices.Clone(whole)
		flipped[len(flipped)-3] ^= 16
		for what, content := range map[string][]byte{"flipped": flipped, "cut": whole[:len(whole)-1], "missing": nil} {
			if err = os.WriteFile(name, content, 0o600); content == nil {
				err = os.Remove(name)
			}
			if err != nil {
				t.Fatal(err)
			}
			if a, err := audit(); err != nil || a.AllFaults == 0 {
				t.Errorf("%s %s: %+v %v", name, what, a, err)
			}
		}
		if err := os.WriteFile(name, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	a, err := Audit(t.Context(), forked(t, s, 100, 700), AuditOptions{Since: [][]byte{old}})
	if err != nil || a.AllFaults != 1 || !strings.Contains(a.Faults[0], "its first 300 versions are not those of the earlier checkpoint") {
		t.Errorf("another history: %+v %v", a, err)
	}
	a, err = Audit(t.Context(), forked(t, s, 500, 700), AuditOptions{Since: [][]byte{old}})
	if err != nil || a.AllFaults != 0 { // it was not signed yet
		t.Errorf("a history that differs later: %+v %v", a, err)
	}
	a, err = Audit(t.Context(), forked(t, s, 0, 299), AuditOptions{Since: [][]byte{old}})
	if err != nil || a.AllFaults != 1 || !strings.Contains(a.Faults[0], "it has 299 versions now") {
		t.Errorf("a history that was cut: %+v %v", a, err)
	}
}

// forked returns another log that the same key has signed, as if its owner had removed the guard: one leaf differs.
func forked(t *testing.T, s *Signer, at int64, size int) Files {
	t.Helper()
	db := newDB(t)
	grow(t, db, size)
	if err := db.Update(t.Context(), func(txn *kv.Txn) error { return rewrite(Txn{txn}, at) }); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(s.File + guardSuffix); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	sign(t, &Signer{DB: db, File: s.File})
	return OfArchive(db)
}

func TestAnAuditAsksAgainAndEndsWithItsContext(t *testing.T) {
	t.Parallel()
	db := newDB(t)
	grow(t, db, 300)
	s := newSigner(t, db)
	sign(t, s)
	tries := map[string]int{}
	unsteady := func(ctx context.Context, name string) ([]byte, error) {
		if tries[name]++; tries[name] < auditTries {
			return nil, errors.New("connection reset")
		}
		return OfArchive(db)(ctx, name)
	}
	if a, err := Audit(t.Context(), unsteady, AuditOptions{Retry: time.Nanosecond}); err != nil || a.AllFaults > 0 {
		t.Errorf("%+v %v", a, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	broken := func(context.Context, string) ([]byte, error) {
		cancel()
		return nil, errors.New("connection reset")
	}
	if _, err := Audit(ctx, broken, AuditOptions{Retry: time.Hour}); err == nil {
		t.Error("no error")
	}
}
