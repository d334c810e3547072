package diff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func side(mediaType, text string) Side {
	return Side{R: strings.NewReader(text), Size: int64(len(text)), Type: mediaType}
}

func compare(t testing.TB, mediaType, from, to string, o Options) *Report {
	t.Helper()
	r, err := Compare(context.Background(), side(mediaType, from), side(mediaType, to), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestChangesReadAsASentenceAndAList shows, for two versions each, what is written for a terminal.
func TestChangesReadAsASentenceAndAList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mediaType, from, to, want string
	}{
		{"rows by a key that is found", "text/csv",
			"id,place,value\n1,Wien,10\n2,Graz,20\n3,Linz,30\n4,Wels,40\n",
			"id,place,value\n1,Wien,10\n2,Graz,21\n4,Wels,40\n5,Steyr,50\n", `
1 row added, 1 row removed, 1 row changed
rows are matched by id
- row 3: 3 | Linz | 30
+ row 4: 5 | Steyr | 50
~ row 2 2
    value: 20 -> 21
`},
		{"the schema first", "text/csv; charset=utf-8",
			"nr;name;old;kind\n1;a;x;1\n2;b;y;2\n3;c;z;3\n",
			"nr;title;kind;new\n1;a;1,5;p\n2;b;2,5;q\n3;c;3,5;r\n", `
1 column added, 1 column removed, 1 column renamed, 1 column of another type, 3 rows changed
+ column new (string)
- column old (string)
~ column name is now title
~ column kind was integer, is decimal
rows are matched by nr
~ row 1 1
    kind: 1 -> 1,5
~ row 2 2
    kind: 2 -> 2,5
~ row 3 3
    kind: 3 -> 3,5
`},
		{"columns and rows in another order", "text/csv",
			"a,b\n1,x\n2,\"y \"\"z\"\"\n\"\n", "b,a\n\"y \"\"z\"\"\n\",2\nx,1\n", `
the same content, written differently
rows are matched by b
`},
		{"rows without a key", "text/tab-separated-values",
			"a\tb\nx\t1\nx\t1\ny\t1\ny\t1\n", "a\tb\nx\t1\ny\t1\ny\t1\ny\t1\n", `
1 row added, 1 row removed
- row 2: x | 1
+ row 4: y | 1
`},
		{"statements", "text/turtle",
			"@prefix e: <http://e.example/> . e:a e:p 1, 2 ; e:q [ e:r \"x\" ; e:s [ e:t \"deep\" ] ] .",
			"@prefix x: <http://e.example/> . x:a x:q [ x:s [ x:t \"deep\" ] ; x:r \"x\" ] ; x:p 2, 3 .", `
1 statement added, 1 statement removed
- <http://e.example/a> <http://e.example/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .
+ <http://e.example/a> <http://e.example/p> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .
`},
		{"places in JSON", "application/json",
			`{"a": [1, 2, {"id": 7, "v": "x"}, {"id": 8, "v": "y"}], "gone": null, "b c": {"d": true}}`,
			`{"b c": {"d": false}, "a": [1, {"id": 8, "v": "z"}, {"id": 9}], "new": 1.50}`, `
2 places added, 3 places removed, 2 places changed
~ $["b c"].d: true -> false
~ $.a[1].v: "y" -> "z"
+ $.a[2]: {id: 9}
- $.a[1]: 2
- $.a[2]: {id: 7, v: "x"}
+ $.new: 1.50
- $.gone: null
`},
		{"places in XML", "application/xml",
			"<?xml version=\"1.0\"?><l><e id=\"1\"><n>a</n></e><e id=\"2\"><n>b</n></e></l>",
			"<l>\n  <e id=\"2\"><n>c</n></e>\n  <e id=\"3\" x=\"y\"/>\n</l>", `
1 place added, 1 place removed, 1 place changed
~ /l/e[1]/n[1]/text(): b -> c
+ /l/e[2]: [@id: 3, @x: y]
- /l/e[1]: [@id: 1, n: [text(): a]]
`},
		{"bytes", "image/png", "abcdefgh", "abXXXXfgh", `
8 bytes became 9; 4 of them differ
the first 2 and the last 3 bytes are the same
`},
		{"nothing", "text/csv", "a,b\n", "a,b\n", `
nothing changed
`},
		{"what is not what it says", "application/json", `{"a": 1}`, `{"a": `, `
8 bytes became 6; 0 of them differ
(it cannot be compared as json: the document is incomplete)
the first 6 and the last 0 bytes are the same
`},
		{"terminals are safe", "text/csv", "id,n\n1,a\n2,b\n", "id,n\n1,a\n2,\x1b[31m\x07red\n", `
1 row changed
rows are matched by id
~ row 2 2
    n: b -> ` + "\uFFFD[31m\uFFFD" + `red
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := compare(t, c.mediaType, c.from, c.to, Options{})
			var out strings.Builder
			if err := r.WriteText(&out); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + out.String(); got != c.want {
				t.Errorf("got%s\nwant%s", got, c.want)
			}
		})
	}
}

func TestCountsAreExactWhateverTheMemoryAndTheListsAreCapped(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		from, to := map[int]int{}, map[int]int{}
		for i := range 1500 {
			from[i*7] = r.IntN(50)
		}
		maps.Copy(to, from)
		for range r.IntN(200) {
			delete(to, r.IntN(1500)*7)
			to[r.IntN(12000)] = r.IntN(50)
		}
		var added, removed, changed int64
		for k, v := range to {
			if w, ok := from[k]; !ok {
				added++
			} else if v != w {
				changed++
			}
		}
		for k := range from {
			if _, ok := to[k]; !ok {
				removed++
			}
		}
		for _, o := range []Options{{List: 5}, {List: 5, Memory: 9000, Key: []string{"nr"}}, {List: -1}} {
			got := compare(t, "text/csv", csvOf(r, from), csvOf(r, to), o)
			if got.Kind != Tables || got.RowsAdded != added || got.RowsRemoved != removed || got.RowsChanged != changed {
				t.Fatalf("%+v: got %+v (%s), want %d added, %d removed, %d changed", o, got.Summary, got.Why, added, removed, changed)
			}
			if want := min(added, int64(max(o.List, 0))) + min(removed, int64(max(o.List, 0))) + min(changed,
				int64(max(o.List, 0))); int64(len(got.Table.Rows)) != want {
				t.Errorf("%d rows are listed, want %d", len(got.Table.Rows), want)
			}
		}
	}
}

func csvOf(r *rand.Rand, m map[int]int) string {
	keys := slices.Sorted(maps.Keys(m))
	r.Shuffle(len(keys), func(i, k int) { keys[i], keys[k] = keys[k], keys[i] })
	var b strings.Builder
	b.WriteString("nr,value,same\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "%d,%d,x\n", k, m[k])
	}
	return b.String()
}

func TestTheDialectAndTheCharsetAreThoseGiven(t *testing.T) {
	t.Parallel()
	d := &Dialect{Delimiter: '|', Quote: '\'', Skip: 1}
	from := Side{R: strings.NewReader("# made 2026\nid|n\n1|'a|b'\n2|Stra\xdfe\n"), Size: 38, Type: "text/csv", Charset: "iso-8859-1",
		Dialect: d}
	text := "# made 2027\nid|n\n1|'a|b'\n2|Straße\n"
	to := Side{R: strings.NewReader(text), Size: int64(len(text)), Type: "text/csv", Dialect: d}
	from.Size = int64(len("# made 2026\nid|n\n1|'a|b'\n2|Stra\xdfe\n"))
	r, err := Compare(t.Context(), from, to, Options{})
	if err != nil || r.Kind != Tables || !r.Same || r.Table.RowsTo != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestHostileFilesEndAsBytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxRow+10)
	for name, c := range map[string][2]string{
		"deep JSON":          {"application/json", strings.Repeat("[", 100_000)},
		"deep XML":           {"application/xml", strings.Repeat("<a>", 100_000)},
		"an open quote":      {"text/csv", "a,b\n\"" + long},
		"many columns":       {"text/csv", strings.Repeat(",", maxColumns+1)},
		"broken Turtle":      {"text/turtle", "<a> <b> ''''x'y''' . <"},
		"a zip called CSV":   {"text/csv", "PK\x03\x04" + strings.Repeat("\x00\xff,\"", 1000)},
		"XML without end":    {"text/xml", "<a><b></b>"},
		"two JSON documents": {"application/json", "1 2"},
	} {
		r := compare(t, c[0], c[1], c[1]+" ", Options{})
		if r.Kind == Bytes && r.Why == "" {
			t.Errorf("%s: no reason is given", name)
		}
		if name != "a zip called CSV" && r.Kind != Bytes {
			t.Errorf("%s: compared as %s", name, r.Kind)
		}
	}
}

func TestAReportIsAFragmentOfSafeHTMLAndJSON(t *testing.T) {
	t.Parallel()
	r := compare(t, "text/csv", "id,<b>\n1,a\n2,b\n", "id,<b>\n1,<script>alert(1)</script>\n2,b\n3,c\n", Options{})
	var page, data bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<section", "&lt;script&gt;", `<th scope="col">&lt;b&gt;</th>`, "<td>1</td><td><del>a</del>",
		`<tr class="added">`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in %s", want, page.String())
		}
	}
	if strings.Contains(page.String(), "<script>") {
		t.Errorf("markup of a file got through: %s", page.String())
	}
	var back Report
	if err := r.WriteJSON(&data); err != nil || json.Unmarshal(data.Bytes(), &back) != nil || back.Summary != r.Summary {
		t.Errorf("%s, %v", data.String(), err)
	}
}

type brokenReader struct{}

func (brokenReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the disk is gone") }

func TestReadingThatFailsIsAnErrorAndCancellingEndsIt(t *testing.T) {
	t.Parallel()
	if _, err := Compare(t.Context(), Side{R: brokenReader{}, Size: 5}, side("", "hello"), Options{}); err == nil {
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	big := strings.Repeat("a,b\n", 10_000)
	s := side("text/csv", big)
	s.R = cancelAt{strings.NewReader(big), cancel}
	if _, err := Compare(ctx, s, side("text/csv", big+"c,d\n"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

type cancelAt struct {
	io.ReaderAt
	cancel func()
}

func (c cancelAt) ReadAt(p []byte, off int64) (int, error) {
	c.cancel()
	return c.ReaderAt.ReadAt(p, off)
}

func FuzzCompare(f *testing.F) {
	types := []string{"text/csv", "text/turtle", "application/json", "application/xml", "application/rdf+xml", "text/tab-separated-values"}
	f.Add(byte(0), "id,b\n1,2\n", "id,c\n1,\"2\"\"\n")
	f.Add(byte(1), "<http://a> <http://b> [] .", "_:x <http://b> _:x .")
	f.Add(byte(2), `{"a":[1,{"id":2}]}`, `{"a":[{"id":2,"x":null}]}`)
	f.Add(byte(3), "<a b='c'>d</a>", "<a><b/></a>")
	f.Fuzz(func(t *testing.T, kind byte, from, to string) {
		mediaType := types[int(kind)%len(types)]
		r, err := Compare(context.Background(), side(mediaType, from), side(mediaType, to), Options{List: 3, Memory: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if from == to && !r.Same {
			t.Errorf("the same files differ: %+v", r.Summary)
		}
		if r.WriteText(io.Discard) != nil || r.WriteHTML(io.Discard) != nil || r.WriteJSON(io.Discard) != nil {
			t.Error("it cannot be written")
		}
		if t1 := r.Table; t1 != nil && t1.RowsTo-t1.RowsFrom != r.RowsAdded-r.RowsRemoved {
			t.Errorf("%d rows, then %d, but %d added and %d removed", t1.RowsFrom, t1.RowsTo, r.RowsAdded, r.RowsRemoved)
		}
	})
}

func BenchmarkTable(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	from := map[int]int{}
	for i := range 200_000 {
		from[i] = r.IntN(1000)
	}
	to := maps.Clone(from)
	for range 500 {
		to[r.IntN(210_000)] = r.IntN(1000)
	}
	x, y := csvOf(r, from), csvOf(r, to)
	b.SetBytes(int64(len(x) + len(y)))
	for b.Loop() {
		compare(b, "text/csv", x, y, Options{})
	}
}

func TestAKeyThatDoesNotFitIsAnErrorThatSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mediaType, a, b, key, want string
	}{
		{"text/csv", "id,name\n1,a\n2,b\n", "id,name\n1,a\n2,c\n", "nme",
			`the key column "nme" is not in both versions; they have id, name`},
		{"text/csv", "id,name\n1,a\n2,b\n", "id,name\n1,a\n2,b\n", "id", ""},
		{"application/json", `{"a":1}`, `{"a":2}`, "a", "a key names columns of a table, and these versions are not both tables"},
	} {
		_, err := Compare(t.Context(), side(c.mediaType, c.a), side(c.mediaType, c.b), Options{Key: []string{c.key}})
		var key *KeyError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &key) || key.Error() != c.want) {
			t.Errorf("%s, %s: %v", c.mediaType, c.key, err)
		}
	}
}
