package app

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/follow/campaign"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/term"
)

func TestDumpsHoldAllTriplesAndForgetWhatIsWithdrawn(t *testing.T) {
	t.Parallel()
	host, _ := linkedSite(t)
	n := openNode(t, func(c *config.Config) {
		c.Dumps = config.Dumps{Every: time.Hour, Kinds: []string{catalog.DumpNQuads, catalog.DumpHDT}, Keep: 1}
	})
	if _, err := n.Campaigns.Run(t.Context(),
		campaign.Document{Name: "people", Seeds: []string{host + "/seed.ttl"}, Graphs: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Follow(t.Context(), "people", crawler.RunOptions{Once: true}); err != nil {
		t.Fatal(err)
	}
	if err := n.MakeDumps(t.Context()); err != nil {
		t.Fatal(err)
	}
	quads, triples := 0, 0
	err := n.Triples.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error {
		if quads++; q.G == "" {
			triples++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := n.Dumps.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	handler, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	get := func(path string, headers ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", path, nil)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	void, page := get("/.well-known/void?format=ttl").Body.String(), get("/dumps", "Accept", "text/html")
	for _, one := range list {
		if !strings.Contains(void, one.Name) || !strings.Contains(page.Body.String(), one.Name) {
			t.Errorf("%s is not in VoID or not on the page:\n%s", one.Name, void)
		}
		w := get("/dumps/" + one.Name)
		body := w.Body.Bytes()
		if w.Code != 200 || int64(len(body)) != one.Size || w.Header().Get("ETag") != `"`+one.SHA256+`"` ||
			w.Header().Get("Repr-Digest") == "" || w.Header().Get("Last-Modified") == "" || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s: %d, %d bytes, %v", one.Name, w.Code, len(body), w.Header())
		}
		if part := get("/dumps/"+one.Name, "Range", "bytes=2-5"); part.Code != 206 || !bytes.Equal(part.Body.Bytes(), body[2:6]) {
			t.Errorf("%s: %d %q", one.Name, part.Code, part.Body)
		}
		if same := get("/dumps/"+one.Name, "If-None-Match", `"`+one.SHA256+`"`); same.Code != 304 {
			t.Errorf("%s: %d", one.Name, same.Code)
		}
		if got, want := countStatements(t, one.Kind, body),
			map[string]int{catalog.DumpNQuads: quads, catalog.DumpHDT: triples}[one.Kind]; got != want || want == 0 {
			t.Errorf("%s has %d statements, want %d", one.Name, got, want)
		}
	}
	if w := get("/dumps/dumps.json"); w.Code != 404 {
		t.Errorf("the index: %d", w.Code)
	}

	folder := filepath.Join(n.Config.Data, "dumps")
	o := newOutsider(t, secretColumn, secretValue)
	if found := o.search(folder); len(found) == 0 {
		t.Fatal("the test does not see the words in dumps")
	}
	full := filepath.Join(t.TempDir(), "full")
	if _, err := backup.ToFile(t.Context(), n.BackupSource(), full, "", nil); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := backup.Restore(t.Context(), restored, []string{full}, nil); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(restored, "dumps*")); len(found) > 0 {
		t.Errorf("a backup has dumps: %q", found)
	}
	order := catalog.WithdrawalOrder{Targets: []string{host + "/latest.ttl", host + "/older.ttl", host + "/interrupted.ttl"},
		Reason: "It names people.", Copies: true}
	order.DryRun = true
	if _, err := n.Withdraw(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if list, _, err = n.Dumps.List(); err != nil || len(list) != 2 {
		t.Errorf("a trial has removed dumps: %+v, %v", list, err)
	}
	name := list[0].Name
	order.DryRun = false
	if _, err := n.Withdraw(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if list, _, err = n.Dumps.List(); err != nil || len(list) != 0 {
		t.Errorf("after the withdrawal: %+v, %v", list, err)
	}
	if w := get("/dumps/" + name); w.Code != 404 {
		t.Errorf("after the withdrawal: %d", w.Code)
	}
	if err := n.MakeDumps(t.Context()); err != nil { // between the withdrawal and the purge
		t.Fatal(err)
	}
	if _, err := n.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if list, _, err = n.Dumps.List(); err != nil || len(list) != 0 {
		t.Errorf("after the purge: %+v, %v", list, err)
	}
	if err := n.MakeDumps(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := o.search(n.Config.Data); len(found) > 0 {
		t.Errorf("withdrawn statements are in %q", found)
	}
}

// countStatements returns how many statements a dump has.
func countStatements(t *testing.T, kind string, body []byte) (n int) {
	t.Helper()
	if kind == catalog.DumpHDT {
		r, err := hdt.Open(t.Context(), bytes.NewReader(body), int64(len(body)), hdt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return int(r.Triples())
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(text, []byte("\n"))
}

func TestAServerMakesDumpsAtTheirTimes(t *testing.T) {
	t.Parallel()
	n := openNode(t, func(c *config.Config) {
		c.Dumps = config.Dumps{Every: time.Hour, Kinds: []string{catalog.DumpNQuads}, Keep: 1}
	})
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { n.Background(ctx, ctx, false) })
	defer group.Wait()
	defer cancel()
	until := func(what string, done func([]catalog.Dump) bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
			list, _, err := n.Dumps.List()
			if err != nil {
				t.Fatal(err)
			}
			if done(list) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %+v", what, list)
			}
		}
	}
	kinds := func(want ...string) func([]catalog.Dump) bool {
		return func(list []catalog.Dump) bool {
			var got []string
			for _, one := range list {
				got = append(got, one.Kind)
			}
			return slices.Equal(got, want)
		}
	}
	until("no dump was made", kinds(catalog.DumpNQuads))

	// What is damaged is made again as soon as it is discarded.
	list, _, err := n.Dumps.List()
	if err == nil {
		err = os.WriteFile(filepath.Join(n.Config.Data, "dumps", list[0].Name), make([]byte, list[0].Size), 0o640)
	}
	var found []disk.Damage
	if err == nil {
		found, err = n.Dumps.Verify(t.Context(), nil, nil)
	}
	if err == nil {
		err = n.Dumps.Discard(found)
	}
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	until("the damaged dump was not made again", kinds(catalog.DumpNQuads))
	if found, err = n.Dumps.Verify(t.Context(), nil, nil); err != nil || len(found) != 0 {
		t.Error(found, err)
	}

	// Changed settings are followed: with a shorter time, dumps are due at once.
	n.ReloadDumps(config.Dumps{Every: time.Nanosecond, Kinds: []string{catalog.DumpHDT}, Keep: 1})
	until("changed settings are not followed", kinds(catalog.DumpHDT))
	n.ReloadDumps(config.Dumps{})
}
