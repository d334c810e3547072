package check_test

import (
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"maps"
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
	"odarchive/crawler/archive"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func TestALossIsDamageUntilARepairHasNamedIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	n, err := openIn(t, dir, "http://a.example/", store.Options{Create: true})
	if err == nil {
		err = n.SetSetting(t.Context(), "app/losses",
			`[{"file":"log/1.log","offset":7,"why":"torn","found":"2026-11-22T15:00:00Z","mended":"2026-11-22T15:00:01Z","how":"tables","`+
				`lost":"2 write sets","named":false}]`)
	}
	closeNode(t, n, err)
	for i, c := range []struct {
		repair                   bool
		damaged, newlyLost, lost int
		fails                    bool
	}{{false, 1, 0, 0, true}, {true, 0, 1, 1, true}, {false, 0, 0, 1, false}, {true, 0, 0, 1, false}} {
		if n, err = openIn(t, dir, "http://a.example/", store.Options{}); err != nil {
			t.Fatal(err)
		}
		r, err := n.Check(t.Context(), c.repair, time.Time{}, nil)
		if err != nil || len(r.Damaged) != c.damaged || len(r.NewlyLost) != c.newlyLost || len(r.Lost) != c.lost ||
			(r.Err(c.repair) != nil) != c.fails {
			t.Errorf("check %d: %+v, %v, %v", i, r, r.Err(c.repair), err)
		}
		closeNode(t, n, nil)
	}
}

func TestVersionsThatNoTripleNamesAreMissedAndDescribedAgain(t *testing.T) {
	t.Parallel()
	n, host := crawled(t)
	all := func() map[term.Quad]bool {
		t.Helper()
		quads := map[term.Quad]bool{}
		err := n.Triples.View(t.Context(), func(sn *triplestore.Snapshot) error {
			return sn.Dump(t.Context(), term.Pattern{}, func(q term.Quad) error { quads[q] = true; return nil })
		})
		if err != nil {
			t.Fatal(err)
		}
		return quads
	}
	run := func(repair bool) check.Report {
		t.Helper()
		r, err := n.Check(t.Context(), repair, time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(false); r.Err(false) != nil || r.Versions != catalog.Counted(2) {
		t.Fatalf("before: %+v", r)
	}
	whole := all()
	if _, err := n.Update(t.Context(),
		"DELETE WHERE { <"+host+"/a.csv> <http://purl.org/dc/terms/hasVersion> ?v . ?v ?p ?o }"); err != nil {
		t.Fatal(err)
	}
	if r := run(false); r.Err(false) == nil ||
		!slices.ContainsFunc(r.Damaged, func(d string) bool { return strings.Contains(d, "1 versions are not described") }) {
		t.Errorf("%+v", r)
	}
	if r := run(true); r.Err(true) != nil || !maps.Equal(all(), whole) {
		t.Errorf("%+v: %d quads of %d", r, len(all()), len(whole))
	}
	n.Mint.Base = "http://b.example/" // the archive is used below another base: what it holds is described all the same
	if r := run(false); r.Err(false) != nil {
		t.Errorf("below another base: %+v", r)
	}
	closeNode(t, n, nil)
}

func TestAStretchThatIsDescribedBelowTwoBasesIsDamageThatARepairMends(t *testing.T) {
	t.Parallel()
	n, host := crawled(t)
	acts, err := n.Archive.Activities(t.Context(), catalog.ActivityQuery{URL: host + "/a.csv"})
	if err != nil || len(acts) != 1 {
		t.Fatalf("%+v, %v", acts, err)
	}
	err = n.Triples.Update(t.Context(), func(txn *triplestore.Txn) error {
		return describe.Replace(txn, nil, describe.Activity(ns.Mint{Base: "http://b.example/"}, acts[0]))
	})
	if err != nil {
		t.Fatal(err)
	}
	n.Mint.Former = []string{"http://b.example/"}
	n.Archive = archive.New(n.Mint, n.DB, n.Triples, n.Content)
	r, err := n.Check(t.Context(), false, time.Time{}, nil)
	if err != nil || !slices.ContainsFunc(r.Damaged,
		func(d string) bool { return strings.Contains(d, "1 stretches of visits are described twice") }) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = n.Check(t.Context(), true, time.Time{}, nil); err != nil || len(r.Damaged) > 0 || len(r.Repaired) != 1 {
		t.Errorf("after the repair: %+v, %v", r, err)
	}
	closeNode(t, n, nil)
}

func TestVisitsWhoseRecordCannotBeReadAreNamedAndGivenUp(t *testing.T) {
	t.Parallel()
	n, host := crawled(t)
	v, err := n.Archive.Newest(t.Context(), host+"/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	resource, _, _ := ns.SplitVersionID(v.ID)
	err = n.DB.Update(t.Context(), func(txn *kv.Txn) error {
		key := append([]byte("b"), resource...)
		return txn.Set(kv.SpaceArchive, binary.BigEndian.AppendUint64(key, ^uint64(v.At.UnixMilli())), []byte("damaged"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := n.Archive.Fetched(v.ID); err != nil || f.Version.ID != v.ID { // an export goes on without it
		t.Errorf("%+v, %v", f, err)
	}
	if acts, err := n.Archive.Activities(t.Context(), catalog.ActivityQuery{URL: v.URL}); err != nil || len(acts) != 0 {
		t.Errorf("visits: %+v, %v", acts, err)
	}
	if acts, err := n.Archive.Activities(t.Context(), catalog.ActivityQuery{}); err != nil || len(acts) == 0 ||
		slices.ContainsFunc(acts, func(a catalog.Activity) bool { return a.URL == v.URL }) {
		t.Errorf("visits of all files: %+v, %v", acts, err)
	}
	if _, err := n.Archive.MendActivities(t.Context()); err != nil { // as a rebase does
		t.Error(err)
	}
	want := "visits: the records of 1 stretches of visits cannot be read, such as one of " + v.URL
	lost := "the times of single visits of 1 stretches, which could not be read"
	for i, c := range []struct {
		repair         bool
		damaged, newly []string
	}{{false, []string{want}, nil}, {true, nil, []string{lost}}, {false, nil, nil}} {
		r, err := n.Check(t.Context(), c.repair, time.Time{}, nil)
		if err != nil || !slices.Equal(r.Damaged, c.damaged) || !slices.Equal(r.NewlyLost, c.newly) {
			t.Errorf("check %d: %+v, %v", i, r, err)
		}
	}
	closeNode(t, n, nil)
}

func TestADamagedRecordOfAnExchangeIsNamedAndGivenUp(t *testing.T) {
	t.Parallel()
	n, host := crawled(t)
	v, err := n.Archive.Newest(t.Context(), host+"/a.csv")
	if err != nil {
		t.Fatal(err)
	}
	resource, number, _ := ns.SplitVersionID(v.ID)
	err = n.DB.Update(t.Context(), func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceArchive, records.VersionKey('z', resource, number), []byte("damaged"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if f, err := n.Archive.Fetched(v.ID); err != nil || f.Exchange != nil { // an export goes on without it
		t.Errorf("%+v, %v", f.Exchange, err)
	}
	want := "what was on the wire for version " + v.ID + " of " + v.URL + " cannot be read"
	// The leaf of the version has its digest of the head from there. It is stored whole before the exchange is given
	// up.
	leaf := func(s string) bool {
		return strings.HasPrefix(s, "transparency log: leaf ") &&
			strings.HasSuffix(s, " has a record of its version "+v.ID+" that cannot be read; its parity has it")
	}
	for i, c := range []struct {
		repair         bool
		damaged, newly []string
	}{{false, []string{want}, nil}, {true, nil, []string{want}}, {false, nil, nil}} {
		r, err := n.Check(t.Context(), c.repair, time.Time{}, nil)
		if slices.ContainsFunc(r.Damaged, leaf) != (i == 0) {
			t.Errorf("check %d says of the leaf: %q", i, r.Damaged)
		}
		r.Damaged = slices.DeleteFunc(r.Damaged, leaf)
		if err != nil || !slices.Equal(r.Damaged, c.damaged) || !slices.Equal(r.NewlyLost, c.newly) {
			t.Errorf("check %d: %+v, %v", i, r, err)
		}
	}
	closeNode(t, n, nil)
}

func TestTheLogOfEventsIsChecked(t *testing.T) {
	t.Parallel()
	n, host := crawled(t)
	run := func(repair bool) check.Report {
		t.Helper()
		r, err := n.Check(t.Context(), repair, time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := run(false); r.Err(false) != nil {
		t.Fatalf("before: %+v", r)
	}
	var kept [][2][]byte // the log as it is
	err := n.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceEvents, nil, nil, func(k, v []byte) (bool, error) {
			kept = append(kept, [2][]byte{slices.Clone(k), slices.Clone(v)})
			return true, nil
		})
	})
	if err != nil || len(kept) < 5 {
		t.Fatal(len(kept), err)
	}
	change := func(set [][2][]byte) {
		t.Helper()
		err := n.DB.Update(t.Context(), func(txn *kv.Txn) error {
			for _, kv2 := range set {
				var err error
				if kv2[1] == nil {
					err = txn.Delete(kv.SpaceEvents, kv2[0])
				} else {
					err = txn.Set(kv.SpaceEvents, kv2[0], kv2[1])
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first := []byte{'e', 255, 255, 255, 255, 255, 255, 255, 255} // event 0
	second := []byte{'e', 255, 255, 255, 255, 255, 255, 255, 254}
	for want, damage := range map[string][2][]byte{
		"event 0 is missing":          {first, nil},
		"event 1 is missing":          {second, nil},
		"event " + "65ffffffffffffff": {first, []byte("damaged")},
		"state cannot be read":        {[]byte("n"), []byte("x")},
		"event 1 is not counted":      {[]byte("n"), []byte{1, 1, 1, 0, 0, 0, 0}},
		"2 events have versions":      {[]byte("n"), []byte{1, 2, 1, 0, 0, 0, 0}},
	} {
		change([][2][]byte{damage})
		if r := run(false); r.Err(false) == nil ||
			!slices.ContainsFunc(r.Damaged, func(d string) bool { return strings.Contains(d, want) }) {
			t.Errorf("%s: %+v", want, r)
		}
		change(kept)
	}

	// Without its log, an archive has versions that no event names. A repair adds them.
	var all [][2][]byte
	for _, one := range kept {
		all = append(all, [2][]byte{one[0], nil})
	}
	change(all)
	if r := run(false); r.Err(false) == nil ||
		!slices.ContainsFunc(r.Damaged, func(d string) bool { return strings.Contains(d, "2 versions are missing") }) {
		t.Errorf("%+v", r)
	}
	if r := run(true); r.Err(true) != nil {
		t.Errorf("%+v", r)
	}
	if r := run(false); r.Err(false) != nil {
		t.Errorf("%s after a repair: %+v", host, r)
	}
	closeNode(t, n, nil)
}

// crawled returns an archive with two versions, and the address of their host.
func crawled(t *testing.T) (*app.Node, string) {
	t.Helper()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".csv") {
			w.Write([]byte("id,name\n1,a\n2,b\n" + r.URL.Path))
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(host.Close)
	cfg := config.Defaults()
	cfg.Data, cfg.Base, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay = t.TempDir(), "http://a.example/", true, 0
	n, err := app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err == nil {
		_, err = n.Intake.Add(t.Context(), []catalog.Seed{{URL: host.URL + "/a.csv"}, {URL: host.URL + "/b.csv"}})
	}
	if err == nil {
		_, err = n.Pipeline.Run(t.Context(), crawler.RunOptions{Once: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return n, host.URL
}

// openIn opens the archive of a directory.
func openIn(t *testing.T, dir, base string, opts store.Options) (*app.Node, error) {
	t.Helper()
	cfg := config.Defaults()
	cfg.Data, cfg.Base = dir, base
	return app.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), opts)
}

func closeNode(t *testing.T, n *app.Node, err error) {
	t.Helper()
	if err == nil {
		err = n.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestADamagedDumpIsNamedAndRemovedByARepair(t *testing.T) {
	t.Parallel()
	n, _ := crawled(t)
	n.ReloadDumps(config.Dumps{Every: time.Hour, Kinds: []string{catalog.DumpNQuads, catalog.DumpHDT}, Keep: 1})
	if err := n.MakeDumps(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, _, err := n.Dumps.List()
	if err == nil && len(list) == 2 {
		err = os.Truncate(filepath.Join(n.Config.Data, "dumps", list[0].Name), list[0].Size-1)
	}
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for i, c := range []struct {
		repair            bool
		damaged, repaired int
		left              int
	}{{false, 1, 0, 1}, {true, 0, 1, 1}, {false, 0, 0, 1}} {
		r, err := n.Check(t.Context(), c.repair, time.Time{}, nil)
		left, _, failed := n.Dumps.List()
		if err != nil || failed != nil || len(r.Damaged) != c.damaged || len(r.Repaired) != c.repaired || len(r.NewlyLost) != 0 ||
			len(left) != c.left {
			t.Errorf("check %d: %+v, %v, %d left", i, r, err, len(left))
		}
		for _, said := range append(r.Damaged, r.Repaired...) {
			if !strings.Contains(said, "dumps/"+list[0].Name) {
				t.Errorf("check %d says %q", i, said)
			}
		}
	}
	closeNode(t, n, nil)
}

func TestAFigureThatDamageKeptFromBeingCountedIsNotZero(t *testing.T) {
	t.Parallel()
	n, _ := crawled(t)
	stored := func() check.Report {
		t.Helper()
		r, err := n.Check(t.Context(), false, time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := stored(); !r.Triples.Known() || !r.Terms.Known() || !r.Packs.Known() || r.Versions != catalog.Counted(2) {
		t.Errorf("a sound archive: %+v", r)
	}
	err := n.DB.Update(t.Context(), func(txn *kv.Txn) error { // a record of the log of triples that cannot be read
		return txn.Set(kv.SpaceTripleLog, append(binary.BigEndian.AppendUint64(nil, 1), 0xff), []byte{0xff})
	})
	if err != nil {
		t.Fatal(err)
	}
	r := stored()
	if raw, err := json.Marshal(r); err != nil || r.Triples.Known() || strings.Contains(string(raw), `"triples"`) ||
		!strings.Contains(string(raw), `"versions":2`) {
		t.Errorf("a damaged log: %s, %v", raw, err)
	}
	closeNode(t, n, nil)
}
