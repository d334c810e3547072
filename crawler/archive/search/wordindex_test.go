package search

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"odarchive/triplestore/kv"
)

func TestWordsAreFoldedAndCut(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Bäume in Öffentlichen-Anlagen":      "baume in offentlichen anlagen",
		"STRASSE Straße":                     "strasse",
		"Luft2019":                           "luft2019 luft 2019",
		"LuftGuete":                          "luftguete luft guete",
		"https://www.data.example/a.csv?x=1": "data example a csv x 1",
		"空気質":                                "空気 気質 質",
		"空":                                  "空",
		"Ελλάδα":                             "ελλαδα",
		"a\xffb":                             "a b",
		"… !?":                               "",
		"b b B":                              "b",
		"/550E8400-e29b-41d4-a716-446655440000/trees.csv": "550e8400e29b41d4a716446655440000 trees csv",
		"x550e8400-e29b-41d4-a716-446655440000":           "x550e8400 550 8400 e29b 29 41d4 41 a716 716 446655440000",
		"550e8400-e29b-41d4-a716-4466554400001":           "550e8400 550 8400 e29b 29 41d4 41 a716 716 4466554400001",
		"550e8400-e29b-41d4-a716":                         "550e8400 550 8400 e29b 29 41d4 41 a716 716",
		"ab550e8400e29b41 ab550e8400e29b4":                "ab550e8400e29b41 ab550e8400e29b4 ab 550 8400 29",
	} {
		if got := strings.Join(Words(text, 100, true), " "); got != want {
			t.Errorf("words of %q: %q, want %q", text, got, want)
		}
	}
	if got := Words("Luft2019 空気質", 100, false); !slices.Equal(got, []string{"luft2019", "空気", "気質"}) {
		t.Errorf("words of a question: %q", got)
	}
	if got := Words("a b c d", 2, true); len(got) != 2 {
		t.Errorf("at most two words: %q", got)
	}
}

// An index of version 1 has the groups of a UUID as words.
func TestAUUIDIsFoundByItsOneWordAndByItsGroups(t *testing.T) {
	t.Parallel()
	const id, other = "550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440001"
	db := database(t)
	err := db.Update(t.Context(), func(txn *kv.Txn) error {
		var c Changes
		c.Replace(1, 'A', nil, strings.Split(id, "-"))
		c.Replace(2, 'A', nil, strings.Split(other, "-"))
		c.Replace(3, 'A', nil, Words("https://data.example/"+id+"/a.csv", 100, true))
		c.Replace(4, 'A', nil, Words("https://data.example/"+other+"/a.csv", 100, true))
		return c.Write(txn)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(txn *kv.Txn) error {
		for asked, want := range map[string][]uint32{strings.ToUpper(id): {1, 3}, other: {2, 4}, "550e8400": {1, 2, 3, 4},
			strings.Repeat("0", 8) + id[8:]: nil} {
			words := Words(asked, 100, false)
			if len(words) != 1 {
				t.Fatalf("words of %q: %q, want one", asked, words)
			}
			exact, beginning, err := Find(t.Context(), txn, 'A', words[0])
			if err != nil {
				return err
			}
			exact.Union(beginning)
			var got []uint32
			exact.Each(func(doc uint32) { got = append(got, doc) })
			if !slices.Equal(got, want) {
				t.Errorf("%s finds documents %v, want %v", asked, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func FuzzWords(f *testing.F) {
	f.Add("a 550e8400-e29b-41d4-a716-446655440000\u0301 550E8400-e29b-41d4-a716-446655440000é")
	f.Add("Bäume in Öffentlichen-Anlagen LuftGuete2019 空気質 \xff\u0301")
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range Words(text, 1000, true) {
			if w == "" || len(w) > maxWord || !utf8.ValidString(w) || strings.ContainsRune(w, 0) {
				t.Fatalf("word %q of %q", w, text)
			}
		}
		for _, w := range Words(text, 3, false) { // the limit of the index is much higher
			if !Begins(text, w) {
				t.Fatalf("the word %q of the question %q does not find it", w, text)
			}
		}
	})
}

func database(t testing.TB) *kv.DB {
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestFindsWhatWasWrittenAndNotWhatWasRemoved(t *testing.T) {
	t.Parallel()
	db := database(t)
	const field = Field('T')
	words := []string{"air", "airport", "airs", "a", "ai", "water", "空気"}
	random := rand.New(rand.NewPCG(1, 2))
	docs := map[uint32][]string{}
	for range 40 {
		err := db.Update(t.Context(), func(txn *kv.Txn) error {
			var c Changes
			for range 300 {
				doc := uint32(random.IntN(10_000))
				var now []string
				for _, w := range words {
					if random.IntN(3) > 0 {
						now = append(now, w)
					}
				}
				c.Replace(doc, field, docs[doc], now)
				docs[doc] = now
			}
			return c.Write(txn)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"air", "airp", "a", "ai", "w", "空", "nothing", "airport"} {
		var wantExact, wantBeginning, exact, beginning []uint32
		for doc := range uint32(10_000) {
			isThere := slices.Contains(docs[doc], word)
			if isThere {
				wantExact = append(wantExact, doc)
			}
			if findsBeginnings(word) &&
				slices.ContainsFunc(docs[doc], func(w string) bool { return w != word && strings.HasPrefix(w, word) }) {
				wantBeginning = append(wantBeginning, doc)
			}
		}
		err := db.View(func(txn *kv.Txn) error {
			e, b, err := Find(t.Context(), txn, field, word)
			e.Each(func(doc uint32) { exact = append(exact, doc) })
			b.Each(func(doc uint32) { beginning = append(beginning, doc) })
			other, _, err2 := Find(t.Context(), txn, 'C', word)
			if len(other) > 0 || err2 != nil {
				t.Errorf("another field: %v, %v", other, err2)
			}
			return err
		})
		if err != nil || !slices.Equal(exact, wantExact) || !slices.Equal(beginning, wantBeginning) {
			t.Errorf("%s: %d exact and %d beginning, %v; want %d and %d", word, len(exact), len(beginning), err, len(wantExact),
				len(wantBeginning))
		}
	}
}

func TestSets(t *testing.T) {
	t.Parallel()
	var a, b Set
	for _, d := range []uint32{1, 64, 5000} {
		a.Put(d)
	}
	for _, d := range []uint32{64, 5000, 90_000} {
		b.Put(d)
	}
	a.Intersect(b)
	var got []uint32
	a.Each(func(d uint32) { got = append(got, d) })
	if fmt.Sprint(got) != "[64 5000]" || !a.Has(64) || a.Has(1) || a.Has(1<<30) {
		t.Errorf("intersection %v", got)
	}
	a.Union(b)
	if !a.Has(90_000) || !a.Has(5000) {
		t.Error("union")
	}
}

func TestAChunkIsAmendedInPlaceAsIfItWereWrittenAnew(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	has := map[uint16]bool{}
	var raw []byte
	for round := range 3000 {
		changes := make([]change, 1+r.IntN(8))
		for i := range changes {
			// The chunk grows for half of the rounds, until a bitmap is much shorter, and then shrinks.
			changes[i] = change{uint16(r.IntN(chunkDocs / 8)), r.IntN(10) < 2+round/1500*6}
			if changes[i].removed {
				delete(has, changes[i].offset)
			} else {
				has[changes[i].offset] = true
			}
		}
		var ok bool
		if raw, ok = applyChanges(raw, changes); !ok {
			t.Fatalf("round %d: damaged", round)
		}
		if want := encode(slices.Sorted(maps.Keys(has))); !bytes.Equal(raw, want) {
			t.Fatalf("round %d: %d bytes, want %d for %d documents", round, len(raw), len(want), len(has))
		}
	}
}

func TestPostingsAreTheSameWithAndWithoutNewest(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 8))
	with, without := database(t), database(t)
	newest, next := &Newest{}, uint32(chunkDocs-50)
	field := Field('T')
	words := make(map[uint32][]string)
	for round := range 300 {
		aborted := round%7 == 3
		changed := map[uint32][2][]string{}
		first, last := next, next+uint32(random.IntN(40))
		for doc := first; doc < last; doc++ {
			changed[doc] = [2][]string{nil, someWords(random)}
		}
		for doc := range words { // a few known documents change too
			if changed[doc] = [2][]string{words[doc], someWords(random)}; len(changed) > 50 {
				break
			}
		}
		write := func(db *kv.DB, newest *Newest) {
			err := db.Update(t.Context(), func(txn *kv.Txn) error {
				c := Changes{Newest: newest}
				for doc := first; doc < last && newest != nil; doc++ {
					newest.Add(doc)
				}
				for doc, w := range changed {
					c.Replace(doc, field, w[0], w[1])
				}
				if err := c.Write(txn); err != nil {
					return err
				}
				if aborted {
					return fmt.Errorf("aborted on purpose")
				}
				return nil
			})
			if (err != nil) != aborted {
				t.Fatal(err)
			}
		}
		write(with, newest)
		write(without, nil)
		if aborted {
			continue
		}
		next = last
		for doc, w := range changed {
			words[doc] = w[1]
		}
	}
	if got, want := everything(t, with), everything(t, without); !maps.Equal(got, want) || len(want) == 0 {
		t.Fatalf("%d postings, want %d", len(got), len(want))
	}
}

// someWords returns some of 200 words.
func someWords(random *rand.Rand) (words []string) {
	for range random.IntN(6) {
		if w := fmt.Sprintf("w%d", random.IntN(200)); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return words
}

// everything returns the postings of a database by key.
func everything(t *testing.T, db *kv.DB) map[string]string {
	all := map[string]string{}
	err := db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceSearch, nil, nil, func(k, v []byte) (bool, error) {
			all[string(k)] = string(v)
			return true, nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
