package app

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"

	"github.com/klauspost/compress/zstd"
)

// Words that only withdrawn bytes have.
const (
	secretColumn = "Kq7ZxVtJ0wRmPq4Lb9Yc"
	secretValue  = "zzH3uD8sNf1XeGv5TjWa"
)

// placesCSV is a table with some rows. With secret, it has a column and a value more.
func placesCSV(rows int, secret bool) string {
	var b strings.Builder
	column, value := "height", "12"
	if secret {
		column, value = secretColumn, secretValue
	}
	fmt.Fprintf(&b, "place,%s\n", column)
	for i := range rows {
		fmt.Fprintf(&b, "Place number %d of many,%s\n", i, value)
	}
	return b.String()
}

// outsider searches files for words, as somebody would who has nothing but the files.
type outsider struct {
	t     *testing.T
	forms [][]byte
	zstd  *zstd.Decoder
}

func newOutsider(t *testing.T, words ...string) *outsider {
	t.Helper()
	o := &outsider{t: t}
	for _, w := range words {
		o.forms = append(o.forms, []byte(w), []byte(hex.EncodeToString([]byte(w))))
		for shift := range 3 { // as base64 has it at each offset; without what its neighbours change
			b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", shift) + w))
			o.forms = append(o.forms, []byte(b[4:len(b)-4]))
		}
	}
	var err error
	if o.zstd, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(64<<20)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.zstd.Close)
	return o
}

// has reports whether bytes have one of the words, also compressed at any place.
func (o *outsider) has(b []byte, deflated bool) bool {
	if o.plain(b) {
		return true
	}
	for i := range b {
		switch {
		case bytes.HasPrefix(b[i:], []byte{0x1f, 0x8b, 8}):
			if r, err := gzip.NewReader(bytes.NewReader(b[i:])); err == nil {
				if out, _ := io.ReadAll(io.LimitReader(r, 8<<20)); o.plain(out) {
					return true
				}
			}
		case bytes.HasPrefix(b[i:], []byte{0x28, 0xb5, 0x2f, 0xfd}):
			if out, _ := o.zstd.DecodeAll(b[i:min(len(b), i+1<<20)], nil); o.plain(out) {
				return true
			}
			if err := o.zstd.Reset(bytes.NewReader(b[i:])); err == nil { // as far as it goes
				if out, _ := io.ReadAll(io.LimitReader(o.zstd, 8<<20)); o.plain(out) {
					return true
				}
			}
		}
		if !deflated {
			continue
		}
		if out, _ := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(b[i:])), 64<<10)); len(out) > 20 && o.plain(out) {
			return true
		}
	}
	return false
}

// hasSnapped reports whether a table of the database has one of the words in a block compressed with Snappy, which
// begins like nothing else.
func (o *outsider) hasSnapped(b []byte) bool {
	for i := range b {
		if o.plain(unsnap(b[i:])) {
			return true
		}
	}
	return false
}

// unsnap decompresses as much of a Snappy block as is one.
func unsnap(b []byte) (out []byte) {
	const most = 128 << 10
	size, n := binary.Uvarint(b)
	if n <= 0 || size < 64 || size > most {
		return nil
	}
	for b = b[n:]; len(b) > 5 && len(out) < int(size); {
		kind, length := b[0]&3, int(b[0]>>2)+1
		at := 0 // where what is copied begins
		switch kind {
		case 0: // bytes as they are
			head := 1
			if more := length - 60; more > 0 { // bytes of the length
				head, length = 1+more, 1
				for j := range more {
					length += int(b[1+j]) << (8 * j)
				}
			}
			if length > most || head+length > len(b) {
				return out
			}
			out, b = append(out, b[head:head+length]...), b[head+length:]
			continue
		case 1:
			length = 4 + int(b[0]>>2&7)
			at, b = len(out)-(int(b[0]>>5)<<8|int(b[1])), b[2:]
		case 2:
			at, b = len(out)-int(binary.LittleEndian.Uint16(b[1:])), b[3:]
		case 3:
			at, b = len(out)-int(binary.LittleEndian.Uint32(b[1:])), b[5:]
		}
		if at < 0 || at >= len(out) {
			return out
		}
		for range length {
			out = append(out, out[at])
			at++
		}
	}
	return out
}

func (o *outsider) plain(b []byte) bool {
	for _, f := range o.forms {
		if bytes.Contains(b, f) {
			return true
		}
	}
	return false
}

// search returns the files below some directories that have one of the words.
func (o *outsider) search(dirs ...string) (found []string) {
	o.t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(dir, name)
			deflated := strings.Contains(name, "/packs/") || strings.HasSuffix(name, ".odab")
			if len(b) > 4<<20 { // preallocated
				b = bytes.TrimRight(b, "\x00")
			}
			snapped := strings.HasSuffix(name, ".sst") && o.hasSnapped(b)
			if o.plain([]byte(e.Name())) || snapped || o.has(b, deflated && len(b) < 1<<20) {
				found = append(found, rel)
			}
			return nil
		})
		if err != nil {
			o.t.Fatal(err)
		}
	}
	return found
}

func TestNoFileHasWithdrawnBytes(t *testing.T) {
	t.Parallel()
	var secret atomic.Bool
	secret.Store(true)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		body := placesCSV(60, secret.Load())
		switch r.URL.Path {
		case "/coded.csv": // the WARC record has it compressed
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			_, _ = io.WriteString(z, body)
		case "/moved.csv":
			http.Redirect(w, r, "/plain.csv", http.StatusFound)
		case "/other.csv":
			_, _ = io.WriteString(w, placesCSV(60, false))
		default:
			_, _ = io.WriteString(w, body)
		}
	}))
	defer web.Close()
	cfg := config.Defaults()
	warcs := filepath.Join(t.TempDir(), "warc")
	cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay, cfg.Fetch.WARC = t.TempDir(), true, 0, warcs
	n, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	visit := func() {
		t.Helper()
		var seeds []catalog.Seed
		for _, path := range []string{"/plain.csv", "/coded.csv", "/moved.csv", "/other.csv"} {
			seeds = append(seeds, catalog.Seed{URL: web.URL + path})
		}
		if _, err := n.Intake.Add(t.Context(), seeds); err != nil {
			t.Fatal(err)
		}
		for _, s := range seeds {
			if err := n.Frontier.MakeDue(t.Context(), s.URL); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := n.Pipeline.Run(t.Context(), crawler.RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
	}
	visit()
	secret.Store(false)
	visit() // versions that differ from them
	o := newOutsider(t, secretColumn, secretValue)
	if found := o.search(warcs); len(found) == 0 {
		t.Fatal("the test does not see the bytes in WARC files")
	}
	if found := o.search(filepath.Join(cfg.Data, "packs")); len(found) == 0 {
		t.Fatal("the test does not see the bytes in packs")
	}
	versions, err := n.Archive.Versions(t.Context(), web.URL+"/plain.csv")
	if err != nil || len(versions) != 2 {
		t.Fatalf("%d versions, %v", len(versions), err)
	}
	order := catalog.WithdrawalOrder{Targets: []string{versions[0].ID}, Reason: "It names people.", Copies: true}
	done, err := n.Withdraw(t.Context(), order)
	if err != nil || len(done.Versions) != 3 {
		t.Fatalf("%+v, %v", done, err)
	}
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if found := o.search(cfg.Data, warcs); len(found) > 0 {
		t.Errorf("there are withdrawn bytes in %q", found)
	}
	if again := newOutsider(t, "Place number 7 of many,12").search(warcs); len(again) == 0 {
		t.Error("other captures are gone from the WARC files")
	}

	secret.Store(true)
	visit() // the bytes come again
	if found := o.search(cfg.Data, warcs); len(found) > 0 {
		t.Errorf("after another visit, there are withdrawn bytes in %q", found)
	}
	if got, err := n.Archive.Versions(t.Context(), web.URL+"/plain.csv"); err != nil || len(got) != 2 {
		t.Errorf("%d versions, %v", len(got), err)
	}
}
