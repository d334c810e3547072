package check_test

import (
	"bytes"
	"crypto/sha256"
	"log/slog"
	"math/rand/v2"
	"net/http"
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
	"odarchive/crawler"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func random(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// closedArchive is an archive of one version, and a file that no version names, in a closed pack, with parity.
func closedArchive(t *testing.T) (cfg config.Config, pack string, orphan []byte) {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(random(1, 250_000)) }))
	defer host.Close()
	cfg = config.Defaults()
	cfg.Data, cfg.Base, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = t.TempDir(), "http://a.example/", true, 0
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err == nil {
		_, err = n.Intake.Add(t.Context(), []catalog.Seed{{URL: host.URL + "/a.bin"}})
	}
	if err == nil {
		_, err = n.Pipeline.Run(t.Context(), crawler.RunOptions{Once: true})
	}
	orphan = random(2, 150_000)
	if err == nil {
		_, err = n.Content.Put(t.Context(), bytes.NewReader(orphan), content.PutOptions{})
	}
	closeNode(t, n, err)
	db, err := kv.Open(cfg.Data, kv.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	packs := filepath.Join(cfg.Data, "packs")
	s, err := content.Open(packs, db, content.Options{MaxPack: 450_000, MinFree: -1})
	if err == nil {
		_, err = s.Put(t.Context(), bytes.NewReader(random(3, 100_000)), content.PutOptions{})
	}
	if err == nil {
		_, err = s.VerifyAll(t.Context(), nil) // waits for the parity
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	closed, _ := filepath.Glob(filepath.Join(packs, "*.pack"))
	parity, _ := filepath.Glob(filepath.Join(packs, "*.parity"))
	if len(closed) != 1 || len(parity) != 1 {
		t.Fatalf("there are %v, %v", closed, parity)
	}
	return cfg, closed[0], orphan
}

// checked opens the archive and checks it.
func checked(t *testing.T, cfg config.Config, repair bool) check.Report {
	t.Helper()
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := n.Check(t.Context(), repair, time.Time{}, nil)
	closeNode(t, n, err)
	return r
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatParityGivesBackIsDamageUntilARepairHasHealedIt(t *testing.T) {
	t.Parallel()
	cfg, pack, _ := closedArchive(t)
	parity := strings.TrimSuffix(pack, ".pack") + ".parity"
	for _, c := range []struct {
		file string
		at   int
	}{{pack, 3}, {pack, 100_000}, {pack, 350_000}, {parity, 9}, {parity, 20_000}} {
		whole := readFile(t, c.file)
		harmed := bytes.Clone(whole)
		harmed[c.at] ^= 4
		if err := os.WriteFile(c.file, harmed, 0o644); err != nil {
			t.Fatal(err)
		}
		if r := checked(t, cfg, false); r.Err(false) == nil || len(r.Damaged) == 0 || len(r.Waste) > 0 {
			t.Errorf("byte %d of %s: %v, damaged %q, waste %q", c.at, c.file, r.Err(false), r.Damaged, r.Waste)
		}
		if r := checked(t, cfg, true); r.Err(true) != nil || len(r.Mended) == 0 || len(r.Damaged)+len(r.NewlyLost)+len(r.Waste) > 0 {
			t.Errorf("byte %d of %s, repair: %v, %+v", c.at, c.file, r.Err(true), r)
		}
		if !bytes.Equal(readFile(t, c.file), whole) {
			t.Errorf("byte %d of %s is not as it was", c.at, c.file)
		}
		if r := checked(t, cfg, false); r.Err(false) != nil {
			t.Errorf("byte %d of %s, afterwards: %v", c.at, c.file, r.Err(false))
		}
	}
}

func TestDamagedWasteIsListedAndNoError(t *testing.T) {
	t.Parallel()
	cfg, pack, orphan := closedArchive(t)
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err == nil {
		err = n.Content.Forget(t.Context(), sha256.Sum256(orphan))
	}
	closeNode(t, n, err)
	harmed := readFile(t, pack)
	from := (len(harmed) - 130_000) / 4096 * 4096
	clear(harmed[from : from+17*4096]) // more than parity gives
	if err := os.WriteFile(pack, harmed, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, repair := range []bool{false, true, true, false} {
		r := checked(t, cfg, repair)
		if r.Err(repair) != nil || len(r.Waste) == 0 || len(r.Damaged)+len(r.NewlyLost)+len(r.Lost) > 0 || (len(r.Mended) > 0) != (i == 1) {
			t.Errorf("check %d: %v, %+v", i, r.Err(repair), r)
		}
	}
	packs, _ := filepath.Glob(filepath.Join(filepath.Dir(pack), "*.pack"))
	if len(packs) != 1 || packs[0] == pack {
		t.Fatalf("it is not sealed: %v", packs)
	}
	sealed := readFile(t, packs[0])
	if len(sealed) != len(harmed) || !bytes.Equal(sealed[:from], harmed[:from]) ||
		!bytes.Equal(sealed[from+17*4096:], harmed[from+17*4096:]) {
		t.Error("sound bytes are gone")
	}
}

func TestARepairThatGivesAFileUpKeepsItsSoundBytesAndSealsThePack(t *testing.T) {
	t.Parallel()
	cfg, pack, _ := closedArchive(t)
	harmed := readFile(t, pack)
	clear(harmed[40_960 : 40_960+17*4096])
	if err := os.WriteFile(pack, harmed, 0o644); err != nil {
		t.Fatal(err)
	}
	r := checked(t, cfg, true)
	if r.Err(true) == nil || len(r.Damaged) > 0 || len(r.NewlyLost) != 1 || len(r.Waste) == 0 {
		t.Errorf("%v, %+v", r.Err(true), r)
	}
	packs, _ := filepath.Glob(filepath.Join(filepath.Dir(pack), "*.pack"))
	if len(packs) != 1 || packs[0] == pack {
		t.Fatalf("it is not sealed: %v", packs)
	}
	if sealed := readFile(t, packs[0]); !bytes.Equal(sealed[:40_960], harmed[:40_960]) ||
		!bytes.Equal(sealed[40_960+17*4096:], harmed[40_960+17*4096:]) {
		t.Error("sound bytes are gone")
	}
	if r := checked(t, cfg, false); r.Err(false) != nil ||
		!slices.ContainsFunc(r.Lost, func(l string) bool { return strings.Contains(l, "has no bytes any more") }) {
		t.Errorf("%v, %+v", r.Err(false), r)
	}
}

func TestDamagedWasteInAnOpenPackIsDamageUntilARepairSealsThePack(t *testing.T) {
	t.Parallel()
	cfg, _, _ := closedArchive(t)
	open, _ := filepath.Glob(filepath.Join(cfg.Data, "packs", "*.open"))
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{})
	if err == nil {
		err = n.Content.Forget(t.Context(), sha256.Sum256(random(3, 100_000)))
	}
	closeNode(t, n, err)
	harmed := readFile(t, open[0])
	harmed[20_000] ^= 1
	if err := os.WriteFile(open[0], harmed, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := checked(t, cfg, false); r.Err(false) == nil || len(r.Damaged) != 1 {
		t.Errorf("%v, %+v", r.Err(false), r)
	}
	if r := checked(t, cfg, true); r.Err(true) != nil || len(r.Mended) == 0 || len(r.Damaged)+len(r.NewlyLost)+len(r.Lost) > 0 {
		t.Errorf("repair: %v, %+v", r.Err(true), r)
	}
	if r := checked(t, cfg, false); r.Err(false) != nil || len(r.Waste) == 0 {
		t.Errorf("afterwards: %v, %+v", r.Err(false), r)
	}
}
