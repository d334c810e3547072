package check_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/check"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/replica"
)

// coldArchive is closedArchive with its closed pack only in a bucket, which is the directory of the objects.
func coldArchive(t *testing.T) (cfg config.Config, object string) {
	t.Helper()
	cfg, pack, _ := closedArchive(t)
	bucket := t.TempDir()
	cfg.Bytes, cfg.Cache = "file://"+bucket, 1
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err == nil {
		err = n.Content.FlushRemote(t.Context())
	}
	closeNode(t, n, err)
	if left, _ := filepath.Glob(filepath.Join(cfg.Data, "packs", "*.pack")); len(left) > 0 {
		t.Fatalf("not only in the bucket: %q", left)
	}
	return cfg, filepath.Join(bucket, filepath.Base(pack))
}

// deep opens the archive and reads all of it, and of its bucket.
func deep(t *testing.T, cfg config.Config, repair bool) check.Report {
	t.Helper()
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := n.CheckDeep(t.Context(), repair, time.Time{}, nil)
	closeNode(t, n, err)
	return r
}

func TestARepairNamesWhatIsLostInTheBucketAndGoesOn(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(object string) error{
		"truncated":            func(object string) error { return os.Truncate(object, 20_000) },
		"truncated to nothing": func(object string) error { return os.Truncate(object, 0) },
		"removed":              os.Remove,
		"removed with parity": func(object string) error {
			return removeAll(object, strings.TrimSuffix(object, ".pack")+".parity")
		},
		"truncated, and no parity": func(object string) error {
			if err := os.Truncate(object, 20_000); err != nil {
				return err
			}
			return os.Remove(strings.TrimSuffix(object, ".pack") + ".parity")
		},
		"overwritten": func(object string) error { return os.WriteFile(object, random(9, 410_000), 0o644) },
		"flipped beyond parity": func(object string) error {
			b, err := os.ReadFile(object)
			if err == nil {
				clear(b[40_960 : 40_960+17*4096])
				err = os.WriteFile(object, b, 0o644)
			}
			return err
		},
	} {
		for _, all := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, deep %v", name, all), func(t *testing.T) {
				t.Parallel()
				cfg, object := coldArchive(t)
				if err := harm(object); err != nil {
					t.Fatal(err)
				}
				run := checked
				if all {
					run = deep
				}
				if r := run(t, cfg, false); (r.Err(false) == nil || len(r.Damaged) == 0) && (all || name != "flipped beyond parity") {
					t.Errorf("before: %v, %+v", r.Err(false), r)
				}
				if name == "flipped beyond parity" {
					run = deep
				}
				r := run(t, cfg, true)
				if r.Err(true) == nil || len(r.Damaged) > 0 || len(r.NewlyLost) != 1 ||
					!strings.Contains(r.NewlyLost[0], "/a.bin has no bytes any more") {
					t.Errorf("repair: %v, %+v", r.Err(true), r)
				}
				r = deep(t, cfg, false)
				if r.Err(false) != nil ||
					!slices.ContainsFunc(r.Lost, func(l string) bool { return strings.Contains(l, "has no bytes any more") }) {
					t.Errorf("afterwards: %v, %+v", r.Err(false), r)
				}
			})
		}
	}
}

func TestAServerReadsItsBucketWhenACheckAsksForIt(t *testing.T) {
	t.Parallel()
	cfg, object := coldArchive(t)
	cfg.Serve.Token = "secret"
	whole := readFile(t, object)
	harmed := bytes.Clone(whole)
	harmed[100_000] ^= 1
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeNode(t, n, nil)
	h, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	ask := func(order string) (r check.Report) {
		w := httptest.NewRecorder()
		ask := httptest.NewRequest("POST", "/check", strings.NewReader(order))
		ask.Header.Set("Authorization", "Bearer secret")
		h.ServeHTTP(w, ask)
		lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
		var last struct{ Report *check.Report }
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Report == nil {
			t.Fatalf("%s: %d %s, %v", order, w.Code, w.Body, err)
		}
		return *last.Report
	}
	if r := ask(`{}`); r.Err(false) != nil || r.Bucket == nil || r.Bucket.Read {
		t.Errorf("a listing: %v, %+v", r.Err(false), r)
	}
	if err := os.WriteFile(object, harmed, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := ask(`{"deep": true}`); r.Err(false) == nil || !strings.Contains(r.Err(false).Error(), "check --deep --repair") ||
		r.Bucket == nil || !r.Bucket.Read {
		t.Errorf("reading: %v, %+v", r.Err(false), r)
	}
	if r := ask(`{"deep": true, "repair": true}`); r.Err(true) != nil || len(r.Mended) == 0 {
		t.Errorf("repair: %v, %+v", r.Err(true), r)
	}
	if !bytes.Equal(readFile(t, object), whole) {
		t.Error("the object is not as it was")
	}
}

func TestFilesOfPacksInABucketAreSalvaged(t *testing.T) {
	t.Parallel()
	cfg, object := coldArchive(t)
	remembered := cfg.Bytes
	for _, c := range []struct {
		bytes string
		whole int
	}{{remembered, 3}, {"", 3}, {config.BytesHere, 1}} {
		cfg.Bytes = c.bytes
		into := t.TempDir()
		r, err := store.Salvage(t.Context(), cfg, into, slog.New(slog.DiscardHandler), func(store.Salvaged) error { return nil })
		if err != nil || r.Whole != c.whole || r.Saved != c.whole {
			t.Errorf("--bytes %q: %+v, %v", c.bytes, r, err)
		}
	}
	if err := os.Truncate(object, 300_000); err != nil { // parity gives back less
		t.Fatal(err)
	}
	cfg.Bytes = ""
	r, err := store.Salvage(t.Context(), cfg, "", slog.New(slog.DiscardHandler), func(store.Salvaged) error { return nil })
	if err != nil || r.Err() == nil || r.Files == 0 || r.Whole == 3 {
		t.Errorf("of a truncated object: %+v, %v", r, err)
	}
	cfg.Bytes = "s3://nowhere/x?endpoint=http://127.0.0.1:1&region=a"
	if _, err := store.Salvage(t.Context(), cfg, "", slog.New(slog.DiscardHandler),
		func(store.Salvaged) error { return nil }); err == nil || !strings.Contains(err.Error(), "--bytes none") {
		t.Errorf("a bucket that is away: %v", err)
	}
}

func removeAll(names ...string) error {
	for _, name := range names {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// The directory of a writer that was replaced has packs that are only in the bucket. They are read from there, also if
// the command does not name it and the new writer has not been reached yet.
func TestADirectoryThatWasReplacedIsCheckedWithItsBucket(t *testing.T) {
	t.Parallel()
	cfg, _ := coldArchive(t)
	cfg.Bytes = ""
	if err := replica.Demote(cfg.Data, "http://127.0.0.1:1/"); err != nil {
		t.Fatal(err)
	}
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Reads: store.IfUnwritable})
	if err != nil {
		t.Fatal(err)
	}
	r, err := n.CheckDeep(t.Context(), false, time.Time{}, nil)
	closeNode(t, n, err)
	if r.Err(false) != nil || r.Packs != catalog.Counted(2) || r.Bucket == nil || !r.Bucket.Read {
		t.Errorf("%v, %+v", r.Err(false), r)
	}
}
