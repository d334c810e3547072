package archive

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

func found(t *testing.T, a *Archive, s catalog.Search) catalog.Found {
	t.Helper()
	f, err := a.Search(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func urls(list []catalog.Resource) (names []string) {
	for _, r := range list {
		names = append(names, strings.TrimPrefix(r.URL, "http://"))
	}
	return names
}

func TestSearchFindsWordsWhereverTheyStand(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a,
		catalog.Seed{URL: "http://wien.example/b%C3%A4ume.csv", Portal: "http://portal.example/", PortalTitle: "Offene Daten",
			Dataset: "http://portal.example/d/1", DatasetTitle: "Grünflächen", Title: "Straßenbäume 2019"},
		catalog.Seed{URL: "http://wien.example/luftGuete2020.csv", Portal: "http://portal.example/", Title: "Luftgüte"},
		catalog.Seed{URL: "http://tokyo.example/3", Title: "空気質データ"},
		catalog.Seed{URL: "http://air.example/airport.json", Title: "Airports", Format: "GeoJSON"},
		catalog.Seed{URL: "http://graz.example/air.json", Title: "Air"})
	visit(t, a, "http://graz.example/air.json", "station,Stickstoffdioxid\n1,2\n", day)
	for question, want := range map[string]string{
		"baume":                      "wien.example/b%C3%A4ume.csv",
		"STRASSENBÄUME 2019":         "wien.example/b%C3%A4ume.csv",
		"grün":                       "wien.example/b%C3%A4ume.csv",
		"guete 2020":                 "wien.example/luftGuete2020.csv",
		"空気":                         "tokyo.example/3",
		"データ":                        "tokyo.example/3",
		"offene luft":                "wien.example/luftGuete2020.csv",
		"geojson":                    "air.example/airport.json",
		"air":                        "graz.example/air.json air.example/airport.json",
		"stickstoff":                 "graz.example/air.json",
		"http://tokyo.example/3":     "tokyo.example/3",
		"http://air.example/airport": "air.example/airport.json",
		"nowhere":                    "",
		"…":                          "",
	} {
		f := found(t, a, catalog.Search{Text: question})
		if got := strings.Join(urls(f.Resources), " "); got != want || f.Total != len(f.Resources) {
			t.Errorf("%s: %q (%d in all), want %q", question, got, f.Total, want)
		}
	}
	f := found(t, a, catalog.Search{Text: "stickstoff"})
	if got := f.Columns[f.Resources[0].ID]; !slices.Equal(got, []string{"Stickstoffdioxid"}) {
		t.Errorf("columns found: %q", got)
	}
	visit(t, a, "http://graz.example/air.json", "station,value\n1,2\n", day.Add(time.Hour))
	if f := found(t, a, catalog.Search{Text: "stickstoff"}); f.Total != 0 {
		t.Errorf("a column that the latest version has no more is found: %+v", f)
	}
}

func TestPagesOfASearchMeetWithoutGapOrRepetition(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	var seeds []catalog.Seed
	for i := range 57 {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d.csv", i%3, i), Title: fmt.Sprintf("file %d", i%10),
			Portal: fmt.Sprintf("http://p%d.example/", i%2)})
	}
	register(t, a, seeds...)
	for i := range 20 {
		visit(t, a, seeds[i*2].URL, strings.Repeat("a,b\n", i%7+1), day.Add(time.Duration(i%5)*time.Hour))
	}
	for _, sort := range []string{"", "changed", "versions", "size", "title"} {
		for _, text := range []string{"", "file"} {
			seen := map[string]bool{}
			var last catalog.Resource
			for after, pages := "", 0; ; pages++ {
				f := found(t, a, catalog.Search{Text: text, Sort: sort, After: after, Limit: 10, Facets: true})
				if f.Total != 57 || len(f.Hosts) != 3 || len(f.Portals) != 2 || f.Hosts[0].Count != 19 || f.Types[0].Key != "text/csv" {
					t.Fatalf("sort %q: total %d, facets %v %v %v", sort, f.Total, f.Hosts, f.Portals, f.Types)
				}
				for _, r := range f.Resources {
					if seen[r.ID] {
						t.Fatalf("sort %q: %s comes twice", sort, r.URL)
					}
					if seen[r.ID] = true; sort == "size" && last.URL != "" && r.Size > last.Size || sort == "title" &&
						last.Title > r.Title || sort == "changed" && r.Changed.After(last.Changed) && last.URL != "" {
						t.Fatalf("sort %q: %+v after %+v", sort, r, last)
					}
					last = r
				}
				if after = f.Next; after == "" {
					break
				}
				if pages > 10 {
					t.Fatal("no end")
				}
			}
			if len(seen) != 57 {
				t.Errorf("sort %q: %d resources on all pages", sort, len(seen))
			}
		}
	}
	for _, mark := range []string{"x", "1.2", "-1.2.3.zz", "9999999999999999999999.1.1."} {
		if f := found(t, a, catalog.Search{After: mark, Limit: 3}); len(f.Resources) != 3 {
			t.Errorf("mark %q: %d resources", mark, len(f.Resources))
		}
	}
}

// searchEntries returns the contents of the search index, by resource instead of document number.
func searchEntries(t *testing.T, a *Archive) map[string]string {
	t.Helper()
	ids := map[uint32]string{}
	all := map[string]string{}
	err := a.view(func(t records.Txn) error {
		err := t.Scan(kv.SpaceSearch, []byte{'n'}, nil, func(k, v []byte) (bool, error) { // rows begin with the resource id
			id := hex.EncodeToString(v[:12])
			ids[binary.BigEndian.Uint32(k[1:])] = id
			all[id] = string(v)
			return true, nil
		})
		if err != nil {
			return err
		}
		return t.Scan(kv.SpaceSearch, []byte{'w'}, nil, func(k, v []byte) (bool, error) {
			chunk := binary.BigEndian.Uint32(k[len(k)-4:])
			if len(v) == 512 {
				return false, fmt.Errorf("a bitmap in a small index")
			}
			for i := 0; i < len(v); i += 2 {
				all[string(bytes.Clone(k[:len(k)-4]))+ids[chunk<<12|uint32(v[i])<<8|uint32(v[i+1])]] = "posted"
			}
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheSearchIndexMadeAgainIsTheOneThatGrew(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	register(t, a, listed, catalog.Seed{URL: "http://data.example/b.csv", Dataset: listed.Dataset, DatasetTitle: "Trees"})
	visit(t, a, file, "tree,height\n1,2\n", day)
	visit(t, a, file, "tree,width\n1,2\n", day.Add(time.Hour))
	register(t, a, catalog.Seed{URL: "http://data.example/b.csv", Dataset: listed.Dataset, DatasetTitle: "Trees and shrubs", Format: "CSV"})
	if _, err := a.Search(t.Context(), catalog.Search{}); err != nil {
		t.Fatal(err)
	}
	register(t, a, catalog.Seed{URL: "http://other.example/c.csv", Title: "Late"})
	indexTexts(t, a)
	grown := searchEntries(t, a)
	if err := a.db.DropSpace(kv.SpaceSearch); err != nil {
		t.Fatal(err)
	}
	if n, err := a.BuildSearch(t.Context()); n != 3 || err != nil {
		t.Fatalf("prepare: %d, %v", n, err)
	}
	if f := found(t, a, catalog.Search{Text: "shrubs"}); f.Total != 2 || f.Indexing.Waiting == 0 {
		t.Errorf("before the texts are indexed: %d found, %+v", f.Total, f.Indexing)
	}
	indexTexts(t, a)
	if again := searchEntries(t, a); !maps.Equal(grown, again) {
		t.Errorf("grown\n%q\nmade again\n%q", grown, again)
	}
	if n, err := a.BuildSearch(t.Context()); n != 0 || err != nil {
		t.Errorf("an index that is there was made again: %d, %v", n, err)
	}
	for text, want := range map[string]int{"shrubs": 2, "height": 0, "width": 1, "late": 1} {
		if f := found(t, a, catalog.Search{Text: text}); f.Total != want {
			t.Errorf("%s: %d found, want %d", text, f.Total, want)
		}
	}
	if err := a.db.Update(t.Context(),
		func(txn *kv.Txn) error { return txn.Set(kv.SpaceSearch, []byte("s"), []byte(`{"format":2}`)) }); err != nil {
		t.Fatal(err)
	}
	if _, err := a.BuildSearch(t.Context()); err == nil || !strings.Contains(err.Error(), "the search index has format 2") {
		t.Errorf("an index of another format: %v", err)
	}
}

func TestCapturesAreInTheOrderOfTheirKeysAndTimes(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	plain, secure, other := "http://data.example/b.csv", "https://www.data.example/b.csv", "http://data.example/a.csv"
	register(t, a, catalog.Seed{URL: plain}, catalog.Seed{URL: secure}, catalog.Seed{URL: other},
		catalog.Seed{URL: "http://data.example/never.csv"})
	visit(t, a, plain, "1\n", day)
	visit(t, a, secure, "1\n", day.Add(time.Hour))
	visit(t, a, plain, "2\n", day.Add(2*time.Hour))
	visit(t, a, other, "1\n", day.Add(3*time.Hour))
	list := func(prefix, after string) string {
		var got []string
		err := a.Captures(t.Context(), prefix, after, func(c catalog.Capture) (bool, error) {
			got = append(got, fmt.Sprintf("%s@%d/%d", strings.TrimPrefix(c.URL, "http"), c.At.Hour(), c.Status))
			return len(got) < 10, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(got, " ")
	}
	const b = "://data.example/b.csv@6/200 s://www.data.example/b.csv@7/200 ://data.example/b.csv@8/200"
	for _, c := range []struct{ prefix, after, want string }{
		{"example,data)", "", "://data.example/a.csv@9/200 " + b}, {"example,data)/b.csv\x00", "", b},
		{"example,data)", "example,data)/b.csv", b}, {"example,dat)", "", ""},
	} {
		if got := list(c.prefix, c.after); got != c.want {
			t.Errorf("%q from %q: %s, want %s", c.prefix, c.after, got, c.want)
		}
	}
}

// indexTexts indexes the texts of all that is marked.
func indexTexts(t *testing.T, a *Archive) {
	t.Helper()
	for n := 1; n > 0; {
		var err error
		if n, err = a.IndexTexts(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

const leastNDCG = 0.9
