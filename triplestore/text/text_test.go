package text_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/triplestore/text"
)

func query(t testing.TB, s string, o text.Options) *text.Query {
	t.Helper()
	q, err := text.ParseQuery(s, o)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return q
}

func TestAQueryFindsATextByItsWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, text, tag string
		any, want        bool
	}{
		{query: "wien", text: "Bevölkerung in Wien 2020", want: true},
		{query: "WIEN bevolkerung", text: "Bevölkerung in Wien", want: true},
		{query: "wien graz", text: "Bevölkerung in Wien", want: false},
		{query: "wien graz", any: true, text: "Bevölkerung in Wien", want: true},
		{query: "wien OR graz", text: "Bevölkerung in Wien", want: true},
		{query: "wien AND graz", any: true, text: "Bevölkerung in Wien", want: false},
		{query: "wien NOT graz", text: "Wien und Graz", want: false},
		{query: "wien NOT graz", text: "Wien und Linz", want: true},
		{query: "+wien -graz linz", any: true, text: "Wien", want: true},
		{query: "+wien -graz linz", any: true, text: "Linz", want: false},
		{query: "NOT graz", text: "Wien", want: false},
		{query: "wien AND NOT graz", text: "Wien", want: true},
		{query: "(wien OR graz) linz", text: "Graz Linz", want: true},
		{query: "(wien OR graz) linz", text: "Graz", want: false},
		{query: `"in wien"`, text: "Bevölkerung in Wien", want: true},
		{query: `"wien in"`, text: "Bevölkerung in Wien", want: false},
		{query: "bev*", text: "Bevölkerung", want: true},
		{query: `"in wi*"`, text: "Menschen in Wien", want: true},
		{query: "evölk*", text: "Bevölkerung", want: false},
		{query: "bevölkerungen", text: "Bevölkerung", tag: "de-AT", want: true},
		{query: "bevölkerungen", text: "Bevölkerung", want: false}, // no language, no stems
		{query: "cities", text: "the city of Vienna", tag: "en", want: true},
		{query: `"city of"`, text: "Cities of Europe", tag: "en", want: true},
		{query: "données", text: "donnée ouverte", tag: "fr", want: true},
		{query: "strasse", text: "Straße", want: true},
		{query: "ΣΊΣΥΦΟΣ", text: "Σίσυφος", want: true},
		{query: "北京", text: "地图北京市", want: true},
		{query: "京北", text: "地图北京市", want: false},
		{query: "luft-2019", text: "Luft 2019", want: true},
		{query: "wien^2 grz~1", any: true, text: "Wien", want: true},
		{query: "and", text: "sand and stone", want: true},
		{query: "ANDERE", text: "andere", want: true},
		{query: "", text: "anything", want: false},
		{query: "!?", text: "anything", want: false},
	} {
		q := query(t, c.query, text.Options{Any: c.any})
		if got := q.Match(&text.Analyser{}, c.text, c.tag); got != c.want {
			t.Errorf("%q finds %q (%s): %v, want %v", c.query, c.text, c.tag, got, c.want)
		}
	}
	german := query(t, "wien", text.Options{Lang: "de"})
	for tag, want := range map[string]bool{"de": true, "DE-at": true, "den": false, "en": false, "": false} {
		if got := german.Match(&text.Analyser{}, "Wien", tag); got != want {
			t.Errorf("in German, a text in %q: %v, want %v", tag, got, want)
		}
	}
}

func TestWhatIsNotAQueryIsAnError(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"(wien", `"wien`, "wien)", strings.Repeat("(", 100), strings.Repeat("x ", 100),
		strings.Repeat("x", 10_000)} {
		if _, err := text.ParseQuery(s, text.Options{}); !errors.Is(err, text.ErrQuery) {
			t.Errorf("%.30q: %v", s, err)
		}
	}
}

func FuzzAQueryNeitherPanicsNorMatchesWithoutItsWords(f *testing.F) {
	for _, s := range []string{"a b", `"a b" OR c`, "a* -b", "+(a OR b) NOT c", "((", "\x00\xff", "北京 AND bev*"} {
		f.Add(s, "a b c", "en", true)
	}
	f.Fuzz(func(t *testing.T, s, doc, tag string, any bool) {
		q, err := text.ParseQuery(s, text.Options{Any: any})
		if err != nil {
			return
		}
		if q.Match(&text.Analyser{}, "", tag) {
			t.Fatalf("%q matches the empty text", s)
		}
		q.Match(&text.Analyser{}, doc, tag)
	})
}

func open(t testing.TB, dir string) *kv.DB {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

var vocabulary = strings.Fields(
	"wien Wien graz Häuser Haus haus city cities City of the in bevölkerung Bevölkerungen données donnée 2019 luft-güte 北京 京 a ab abc abcd")

func randomText(r *rand.Rand) string {
	var words []string
	for range r.IntN(8) {
		words = append(words, vocabulary[r.IntN(len(vocabulary))])
	}
	return strings.Join(words, " ")
}

func randomQuery(r *rand.Rand, depth int) string {
	word := func() string { return vocabulary[r.IntN(len(vocabulary))] }
	switch k := r.IntN(9); {
	case k == 0 && depth > 0:
		return "(" + randomQuery(r, depth-1) + ")"
	case k <= 2 && depth > 0:
		return randomQuery(r, depth-1) + []string{" AND ", " OR ", " NOT ", " ", " -", " +"}[r.IntN(6)] + randomQuery(r, depth-1)
	case k == 3:
		return `"` + word() + " " + word() + `"`
	case k == 4:
		w := []rune(word())
		return string(w[:1+r.IntN(len(w))]) + "*"
	}
	return word()
}

// The index must find what reading every text finds: in memory, stored, merged, opened again, and kept in memory only.
func TestTheIndexFindsWhatReadingEveryTextFinds(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 2))
		n++
		dir := fmt.Sprintf("%s/%d", base, n)
		db, err := kv.Open(dir, kv.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		keep := r.IntN(4) > 0
		x := text.NewIndex(db, keep)
		docs := map[term.ID]text.Doc{}
		ctx := context.Background()
		check := func(when string) {
			if x.Docs() != len(docs) {
				rt.Fatalf("%s: %d documents, want %d", when, x.Docs(), len(docs))
			}
			for range 10 {
				s := randomQuery(r, 2)
				q, err := text.ParseQuery(s, text.Options{Any: r.IntN(2) == 0})
				if err != nil {
					continue
				}
				var want, got []term.ID
				for id, d := range docs {
					if q.Match(&text.Analyser{}, d.Text, d.Tag) {
						want = append(want, id)
					}
				}
				hits, err := x.Find(ctx, q, nil)
				if err != nil {
					rt.Fatal(err)
				}
				for _, h := range hits {
					got = append(got, h.ID)
					if !(h.Score > 0) {
						rt.Errorf("%s: %q: score %v", when, s, h.Score)
					}
				}
				slices.Sort(want)
				slices.Sort(got)
				if !slices.Equal(got, want) {
					rt.Fatalf("%s: %q finds %v, want %v in %v", when, s, got, want, docs)
				}
				count, err := x.Count(ctx, q)
				if err != nil || count < float64(len(got)) {
					rt.Fatalf("%s: %q: estimated %v (%v) of %d", when, s, count, err, len(got))
				}
			}
		}
		for round := range 5 {
			var list []text.Doc
			for range 1 + r.IntN(20) {
				id := term.ID(1 + r.IntN(200))
				d, ok := docs[id]
				if !ok {
					d = text.Doc{ID: id, Text: randomText(r), Tag: []string{"", "de", "en", "fr", "xx"}[r.IntN(5)]}
					docs[id] = d
				}
				list = append(list, d)
			}
			x.Add(list)
			check("after Add")
			if r.IntN(3) > 0 {
				if err := x.Flush(ctx, []byte{byte(round)}); err != nil {
					rt.Fatal(err)
				}
				check("after Flush")
				if err := x.Verify(ctx); err != nil {
					rt.Fatal(err)
				}
				if keep && r.IntN(2) == 0 {
					x = text.NewIndex(db, true)
					mark, ok, err := x.Load()
					if err != nil || !ok || len(mark) != 1 || mark[0] != byte(round) {
						rt.Fatalf("loaded with mark %v, %v, %v", mark, ok, err)
					}
					check("after Load")
				}
			}
		}
	})
}

func TestABetterHitHasAHigherScore(t *testing.T) {
	t.Parallel()
	x := text.NewIndex(open(t, t.TempDir()), true)
	x.Add([]text.Doc{{ID: 1, Text: "luft und wasser und erde und feuer und vieles andere mehr"}, {ID: 2, Text: "luft luft"},
		{ID: 3, Text: "wasser"}, {ID: 4, Text: "luft wasser"}})
	hits, err := x.Find(context.Background(), query(t, "luft wasser", text.Options{Any: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(hits, func(a, b text.Hit) int { return int(1e6 * (b.Score - a.Score)) })
	if len(hits) != 4 || hits[0].ID != 4 {
		t.Errorf("%v: the text with both words and nothing else should come first", hits)
	}
}

func TestASearchCountsItsMemoryBeforeItTakesIt(t *testing.T) {
	t.Parallel()
	x := text.NewIndex(open(t, t.TempDir()), true)
	var list []text.Doc
	for i := range 5000 {
		list = append(list, text.Doc{ID: term.ID(i + 1), Text: "wasser und luft"})
	}
	x.Add(list)
	full := errors.New("full")
	for _, s := range []string{"wasser", "was*", `"wasser und"`, "wasser AND luft", "wasser OR luft", "erde OR luft"} {
		q, total := query(t, s, text.Options{}), 0
		hits, err := x.Find(t.Context(), q, func(bytes int) error { total += bytes; return nil })
		if least := 24 * len(hits); err != nil || total < least || len(hits) != len(list) {
			t.Errorf("%s: %d hits and %d bytes, %v; want at least %d bytes", s, len(hits), total, err, least)
		}
		for limit := total - 1; limit > 0; limit /= 2 {
			left := limit
			if _, err := x.Find(t.Context(), q, func(bytes int) error {
				if left -= bytes; left < 0 {
					return full
				}
				return nil
			}); !errors.Is(err, full) {
				t.Errorf("%s: with room for %d of %d bytes: %v", s, limit, total, err)
			}
		}
	}
}

func TestAStoredValueThatIsDamagedIsAnError(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	x := text.NewIndex(db, true)
	x.Add([]text.Doc{{ID: 1, Text: "luft"}, {ID: 2, Text: "wasser"}})
	if err := x.Flush(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	var keys [][]byte
	snap := db.Snapshot()
	if err := snap.Scan(kv.SpaceText, nil, nil, func(k, _ []byte) (bool, error) {
		keys = append(keys, slices.Clone(k))
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	snap.Close()
	for _, k := range keys {
		var before []byte
		if err := db.Update(context.Background(), func(kt *kv.Txn) error {
			v, _, err := kt.Get(kv.SpaceText, k)
			before = slices.Clone(v)
			bad := slices.Clone(v)
			bad[len(bad)/2] ^= 1
			return errors.Join(err, kt.Set(kv.SpaceText, k, bad))
		}); err != nil {
			t.Fatal(err)
		}
		again := text.NewIndex(db, true)
		_, _, err := again.Load()
		if err == nil {
			err = again.Verify(context.Background())
		}
		if err == nil {
			t.Errorf("value %q is damaged, and nobody noticed", k)
		}
		if err := db.Update(context.Background(), func(kt *kv.Txn) error { return kt.Set(kv.SpaceText, k, before) }); err != nil {
			t.Fatal(err)
		}
	}
}
