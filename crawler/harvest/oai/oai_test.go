package oai

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/harvest"
)

func source(r harvest.Doer) Source {
	return Source{URL: "http://r.example/oai", HTTP: r, Now: func() time.Time { return time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) }}
}

func isList(args url.Values) bool {
	return strings.HasPrefix(args.Get("verb"), "List") && args.Get("verb") != "ListSets"
}

// atToken makes a repository fail whenever a record would be the first of a page requested by token.
func atToken(offset string, answer http.HandlerFunc) func(http.ResponseWriter, url.Values, *repo) bool {
	return func(w http.ResponseWriter, args url.Values, _ *repo) bool {
		if !strings.HasPrefix(args.Get("resumptionToken"), offset+"!") {
			return false
		}
		answer(w, nil)
		return true
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestEveryRecordIsHadWhateverBreaks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about   string
		repo    *repo
		without []string // identifiers that cannot be read
		asks    int      // maximum number of requests
		fails   bool     // the harvest returns an error because of them
	}{
		{"nothing breaks", &repo{items: some(35)}, nil, 8, false},
		{"a token at the end, and no closing tags",
			&repo{items: some(35), alters: func(b string, _ url.Values) string { return strings.TrimSuffix(b, "</OAI-PMH>") }}, nil, 8,
			false},
		{"the list's token is not taken in its middle",
			&repo{items: some(35), breaks: atToken("20", func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprint(w, `<OAI-PMH>`+fail("badResumptionToken")+`</OAI-PMH>`)
			})}, nil, 12, false},
		{"the same, with status 422", &repo{items: some(35), breaks: atToken("20", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(422)
			fmt.Fprint(w, `<OAI-PMH>`+fail("badResumptionToken")+`</OAI-PMH>`)
		})}, nil, 12, false},
		{"no token is ever taken", &repo{items: some(35), breaks: func(w http.ResponseWriter, args url.Values, _ *repo) bool {
			if args.Get("resumptionToken") != "" {
				fmt.Fprint(w, `<OAI-PMH>`+fail("badResumptionToken")+`</OAI-PMH>`)
			}
			return args.Get("resumptionToken") != ""
		}}, nil, 20, false},
		{"no token is ever taken, and dates do not ascend",
			&repo{items: reversed(some(35)), jumbled: true, breaks: func(w http.ResponseWriter, args url.Values, _ *repo) bool {
				if args.Get("resumptionToken") != "" {
					fmt.Fprint(w, `<OAI-PMH>`+fail("badResumptionToken")+`</OAI-PMH>`)
				}
				return args.Get("resumptionToken") != ""
			}}, nil, 40, false},
		{"status 500 at one token", &repo{items: some(35), breaks: atToken("20", status(500))}, nil, 20, false},
		{"status 500 wherever one record is", &repo{items: some(35), breaks: poisoned("oai:r.example:17")}, []string{"oai:r.example:17"},
			250, true},
		{"status 500 wherever one record is listed",
			&repo{items: some(35), breaks: func(w http.ResponseWriter, args url.Values, r *repo) bool {
				return args.Get("verb") == "ListRecords" && poisoned("oai:r.example:17")(w, args, r)
			}}, nil, 250, false},
		{"the same token for ever", &repo{items: some(35), token: func(end int) string {
			if end >= 20 {
				return "20!!!"
			}
			return fmt.Sprintf("%d!!!", end)
		}}, nil, 60, false},
		{"other tokens with the same page for ever", &repo{items: some(15), alters: endless()}, nil, 60, false},
		{"ListRecords is not known", &repo{items: some(12), breaks: func(w http.ResponseWriter, args url.Values, _ *repo) bool {
			if args.Get("verb") == "ListRecords" {
				fmt.Fprint(w, `<OAI-PMH>`+fail("badVerb")+`</OAI-PMH>`)
			}
			return args.Get("verb") == "ListRecords"
		}}, nil, 30, false},
		{"junk after the closing tag, warnings before the first", &repo{items: some(35), alters: func(b string, _ url.Values) string {
			return "\n<br />\n<b>Warning</b>: OAI-PMH: mysql gone\n" + b + "\n<!-- 0.3 s --><script>x()</script></html>"
		}}, nil, 8, false},
		{"control characters and references to them", &repo{items: some(35), alters: func(b string, _ url.Values) string {
			return strings.ReplaceAll(b, "A title", "A\x0b\x00 ti&#x1f;&#0;tle\xef\xbf\xbe &nbsp;&oddity; & more")
		}}, nil, 8, false},
		{"a declaration of another encoding", &repo{items: some(35), alters: func(b string, _ url.Values) string {
			return strings.ReplaceAll(strings.Replace(b, "UTF-8", "ISO-8859-1", 1), "A title", "Zürich")
		}}, nil, 8, false},
		{"a prefix before every element", &repo{items: some(35), alters: prefixed}, nil, 8, false},
		{"one answer broken in its middle", &repo{items: some(35), alters: once(func(b string) string { return b[:len(b)/2] })}, nil, 10,
			false},
		{"one answer a page of HTML",
			&repo{items: some(35), alters: once(func(string) string { return "<!DOCTYPE html><html><body>Please log in" })}, nil, 10,
			false},
		{"from and until are not listened to, and tokens not taken",
			&repo{items: some(12), lists: func(all []item, _ url.Values) []item { return all },
				breaks: func(w http.ResponseWriter, args url.Values, _ *repo) bool {
					bad := args.Get("resumptionToken") != "" && args.Get("verb") == "ListRecords"
					if bad {
						fmt.Fprint(w, `<OAI-PMH>`+fail("badResumptionToken")+`</OAI-PMH>`)
					}
					return bad
				}}, nil, 40, false},
		{"a token that came percent-encoded",
			&repo{items: some(35), alters: func(b string, _ url.Values) string { return strings.ReplaceAll(b, "!!!", "%21%21%21") }}, nil,
			12, false},
		{"a token that has to be encoded",
			&repo{items: some(35), alters: func(b string, _ url.Values) string { return strings.ReplaceAll(b, "0!!!", "0!!!+ &amp;=/?") },
				breaks: func(_ http.ResponseWriter, args url.Values, _ *repo) bool {
					if token, ok := strings.CutSuffix(args.Get("resumptionToken"), "+ &=/?"); ok {
						args.Set("resumptionToken", token)
					}
					return false
				}}, nil, 8, false},
		{"pages without records between", &repo{items: some(35), alters: hollow()}, nil, 12, false},
		{"a wrong completeListSize", &repo{items: some(35), alters: func(b string, _ url.Values) string {
			return strings.ReplaceAll(b, "<resumptionToken>", `<resumptionToken completeListSize="3" cursor="9">`)
		}}, nil, 8, false},
		{"a busy repository", &repo{items: some(35), breaks: busy()}, nil, 20, false},
		{"Identify is broken", &repo{items: some(35), alters: func(b string, args url.Values) string {
			if args.Get("verb") == "Identify" {
				return "<OAI-PMH><Identify><repositoryName>x"
			}
			return b
		}}, nil, 9, false},
	} {
		t.Run(c.about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := listen()
				src := source(c.repo)
				src.Stats = &harvest.Traffic{}
				err := src.Harvest(t.Context(), "", out)
				if (err != nil) != c.fails {
					t.Fatalf("error %v; troubles %v", err, src.Stats.Errors)
				}
				for _, it := range c.repo.items {
					_, had := out.datasets[it.id]
					if want := !contains(c.without, it.id); had != want {
						t.Errorf("%s: had %v, want %v", it.id, had, want)
					}
				}
				if len(c.repo.asked) > c.asks {
					t.Errorf("%d requests, want at most %d", len(c.repo.asked), c.asks)
				}
				if !c.fails && parsePosition(out.next).Since.IsZero() {
					t.Errorf("the next harvest begins at %q", out.next)
				}
			})
		})
	}
}

// A list that comes to the same page again may have ended, or not: what it did not bring must not be taken for deleted.
func TestAListThatRepeatsItselfIsNotTakenForAWholeOne(t *testing.T) {
	t.Parallel()
	items := some(35)
	for i := range items {
		items[i].stamp = items[0].stamp // of a bulk import: no smaller window can be asked for
	}
	stuck := func(end int) string { return fmt.Sprintf("%d!!!", min(end, 20)) }
	synctest.Test(t, func(t *testing.T) {
		out := listen()
		src := source(&repo{items: items, token: stuck})
		src.Stats = &harvest.Traffic{}
		if err := src.Harvest(t.Context(), "", out); err != nil {
			t.Fatal(err)
		}
		if len(out.datasets) >= len(items) || !out.whole || len(out.unknown) != 1 || !strings.Contains(out.unknown[0], "may be missing") {
			t.Errorf("%d of %d records, unknown %q; troubles %v", len(out.datasets), len(items), out.unknown, src.Stats.Errors)
		}
	})
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func reversed(items []item) []item {
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return items
}

// poisoned answers 500 to any request whose answer would have the record, except its header.
func poisoned(id string) func(http.ResponseWriter, url.Values, *repo) bool {
	return func(w http.ResponseWriter, args url.Values, r *repo) bool {
		if args.Get("verb") == "ListIdentifiers" || !strings.Contains(r.answer(args), "<identifier>"+id+"<") {
			return false
		}
		w.WriteHeader(500)
		return true
	}
}

// endless adds a token to the last page.
func endless() func(string, url.Values) string {
	n := 0
	return func(b string, args url.Values) string {
		if isList(args) {
			n++
			b = strings.ReplaceAll(b, "<resumptionToken></resumptionToken>", fmt.Sprintf("<resumptionToken>10!%%%d!!</resumptionToken>", n))
		}
		return strings.ReplaceAll(b, "%", "")
	}
}

func once(alter func(string) string) func(string, url.Values) string {
	done := false
	return func(b string, args url.Values) string {
		if !isList(args) || args.Get("resumptionToken") == "" || done {
			return b
		}
		done = true
		return alter(b)
	}
}

// hollow inserts an empty page before each one requested by token.
func hollow() func(string, url.Values) string {
	given := map[string]bool{}
	return func(b string, args url.Values) string {
		token := args.Get("resumptionToken")
		if token == "" || given[token] {
			return b
		}
		given[token] = true
		return `<OAI-PMH><ListRecords><resumptionToken>` + strings.Replace(token, "!", "!", 1) +
			`</resumptionToken></ListRecords></OAI-PMH>`
	}
}

// busy answers every other list with 503.
func busy() func(http.ResponseWriter, url.Values, *repo) bool {
	n := 0
	return func(w http.ResponseWriter, args url.Values, _ *repo) bool {
		if n++; !isList(args) || n%2 == 0 {
			return false
		}
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(503)
		return true
	}
}

// prefixed adds a prefix to every element of the protocol.
func prefixed(b string, _ url.Values) string {
	for _, name := range []string{"OAI-PMH", "responseDate", "request", "error", "Identify", "repositoryName", "ListRecords", "record",
		"header", "identifier", "datestamp", "metadata", "resumptionToken"} {
		b = strings.ReplaceAll(b, "<"+name+">", "<o:"+name+">")
		b = strings.ReplaceAll(b, "</"+name+">", "</o:"+name+">")
		b = strings.ReplaceAll(b, "<"+name+" ", "<o:"+name+" ")
	}
	return strings.ReplaceAll(b, "xmlns=", "xmlns:o=")
}

func TestTheNextHarvestAsksForWhatIsNewWithAnOverlap(t *testing.T) {
	t.Parallel()
	r := &repo{items: some(5)}
	out := listen()
	if err := source(r).Harvest(t.Context(), "", out); err != nil || !out.whole {
		t.Fatalf("%v, whole %v", err, out.whole)
	}
	r.items = append(r.items, item{id: "oai:r.example:new", stamp: "2020-12-31T23:55:00Z", metadata: dc("http://r.example/x.csv")},
		item{id: "oai:r.example:0", stamp: "2021-01-01T10:00:00Z", deleted: true})
	r.asked, r.date = nil, "2021-01-02T00:00:00Z"
	again := listen()
	if err := source(r).Harvest(t.Context(), out.next, again); err != nil || again.whole {
		t.Fatalf("%v, whole %v", err, again.whole)
	}
	from := r.asked[len(r.asked)-1].Get("from")
	if from != "2020-12-31T23:50:00Z" || len(again.datasets) != 1 || len(again.gone) != 1 {
		t.Fatalf("from %q: %d datasets, %d gone; want 2020-12-31T23:50:00Z, 1, 1", from, len(again.datasets), len(again.gone))
	}
	if want := "http://r.example/oai?identifier=oai%3Ar.example%3A0&metadataPrefix=oai_dc&verb=GetRecord"; again.gone[0] != want {
		t.Fatalf("gone %q, want %q", again.gone[0], want)
	}
}

func TestAHarvestGoesOnInTheMiddleOfTheList(t *testing.T) {
	t.Parallel()
	r := &repo{items: some(50)}
	out := listen()
	out.stopAt = 3
	if err := source(r).Harvest(t.Context(), "", out); !errors.Is(err, errStop) {
		t.Fatalf("error %v", err)
	}
	if len(out.datasets) != 30 {
		t.Fatalf("%d records before, want 30", len(out.datasets))
	}
	rest := listen()
	if err := source(r).Harvest(t.Context(), out.last(), rest); err != nil {
		t.Fatal(err)
	}
	if len(rest.datasets) != 20 || !rest.whole { // both together have the whole list
		t.Fatalf("%d records after, whole %v; want 20, true", len(rest.datasets), rest.whole)
	}
}

func TestATokenThatHasExpiredIsNotAskedFor(t *testing.T) {
	t.Parallel()
	r := &repo{items: some(50), alters: func(b string, _ url.Values) string {
		return strings.ReplaceAll(b, "<resumptionToken>", `<resumptionToken expirationDate="2020-12-01T00:00:00Z">`)
	}}
	out := listen()
	if err := source(r).Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 50 {
		t.Fatalf("%v, %d records", err, len(out.datasets))
	}
	for _, args := range r.asked {
		if args.Get("resumptionToken") != "" {
			t.Fatalf("asked with %v", args)
		}
	}
}

func TestAGranularityThatLiesIsSwapped(t *testing.T) {
	t.Parallel()
	for says, wants := range map[string]int{"YYYY-MM-DDThh:mm:ssZ": 10, "YYYY-MM-DD": 20} {
		r := &repo{items: some(20), granularity: says, breaks: func(w http.ResponseWriter, args url.Values, _ *repo) bool {
			bad := args.Has("from") && len(args.Get("from")) != wants
			if bad {
				fmt.Fprint(w, `<OAI-PMH>`+fail("badArgument")+`</OAI-PMH>`)
			}
			return bad
		}}
		out := listen()
		src := source(r)
		src.From = "2020-01-15"
		if err := src.Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 6 {
			t.Errorf("%s: %v, %d records, want 6", says, err, len(out.datasets))
		}
	}
}

func TestASelectionIsKeptToEvenWhereTheRepositoryIgnoresIt(t *testing.T) {
	t.Parallel()
	r := &repo{items: some(40), lists: func(all []item, _ url.Values) []item { return all }}
	out := listen()
	src := source(r)
	src.From, src.Until, src.Stats = "2020-01-10T00:00:00Z", "2020-01-12T23:59:59Z", &harvest.Traffic{}
	if err := src.Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 3 || src.Stats.Outside == 0 {
		t.Fatalf("%v, %d records, %d outside", err, len(out.datasets), src.Stats.Outside)
	}
	if out.next != "" {
		t.Fatalf("a selection with an end leads on to %q", out.next)
	}
}

func TestSetsAreAskedForOneByOne(t *testing.T) {
	t.Parallel()
	items := some(9)
	for i := range items {
		items[i].set = string(rune('a' + i%3))
	}
	r := &repo{items: items}
	out := listen()
	src := source(r)
	src.Sets = []string{"a", "c"}
	if err := src.Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 6 || out.whole {
		t.Fatalf("%v, %d records, whole %v", err, len(out.datasets), out.whole)
	}
	d := out.datasets["oai:r.example:0"]
	if len(d.IsPartOf) != 1 || !strings.HasSuffix(d.IsPartOf[0], "set=a&verb=ListRecords") {
		t.Fatalf("part of %q", d.IsPartOf)
	}
}

func TestCompressedAnswersAreOpened(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"gzip", "deflate"} {
		r := &repo{items: some(30)}
		r.breaks = func(w http.ResponseWriter, args url.Values, r *repo) bool {
			var b bytes.Buffer
			var z interface {
				Write([]byte) (int, error)
				Close() error
			} = gzip.NewWriter(&b)
			if encoding == "deflate" {
				z = zlib.NewWriter(&b)
			}
			z.Write([]byte(r.answer(args)))
			z.Close()
			w.Header().Set("Content-Encoding", encoding)
			w.Write(b.Bytes())
			return true
		}
		out := listen()
		if err := source(r).Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 30 {
			t.Errorf("%s: %v, %d records", encoding, err, len(out.datasets))
		}
	}
}

func TestWhatIsNoRepositoryIsToldInOneSentence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, url, want string
		says             func(http.ResponseWriter, url.Values, *repo) bool
	}{
		{"a page of HTML", "http://r.example/", "page of HTML", func(w http.ResponseWriter, _ url.Values, _ *repo) bool {
			fmt.Fprint(w, "<html><h1>Welcome</h1>")
			return true
		}},
		{"not found", "http://r.example/", "answered 404", func(w http.ResponseWriter, _ url.Values, _ *repo) bool {
			w.WriteHeader(404)
			return true
		}},
		{"no address", "oai.example", "is not the address", nil},
		{"a format it has not", "http://r.example/oai", "cannotDisseminateFormat",
			func(w http.ResponseWriter, args url.Values, _ *repo) bool {
				if args.Get("verb") == "ListRecords" {
					fmt.Fprint(w, `<OAI-PMH>`+fail("cannotDisseminateFormat")+`</OAI-PMH>`)
				}
				return args.Get("verb") == "ListRecords"
			}},
		{"dead in the middle", "http://r.example/oai", "answered 410", func(w http.ResponseWriter, args url.Values, r *repo) bool {
			if len(r.asked) > 5 {
				w.WriteHeader(410)
			}
			return len(r.asked) > 5
		}},
	} {
		src := source(&repo{items: some(50), breaks: c.says})
		src.URL = c.url
		err := src.Harvest(t.Context(), "", listen())
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in it", c.about, err, c.want)
		}
	}
}

func TestARedirectIsFollowedOnceAndForAll(t *testing.T) {
	t.Parallel()
	r := &repo{items: some(30)}
	moved := doer(func(req *http.Request) (*http.Response, error) {
		resp, err := r.Do(req)
		u := *req.URL
		u.Scheme = "https"
		resp.Request = &http.Request{URL: &u}
		return resp, err
	})
	var schemes []string
	watched := doer(func(req *http.Request) (*http.Response, error) {
		schemes = append(schemes, req.URL.Scheme)
		return moved(req)
	})
	out := listen()
	if err := source(watched).Harvest(t.Context(), "", out); err != nil || len(out.datasets) != 30 {
		t.Fatalf("%v, %d records", err, len(out.datasets))
	}
	if schemes[0] != "http" || schemes[len(schemes)-1] != "https" || !strings.HasPrefix(out.datasets["oai:r.example:0"].IRI, "http://") {
		t.Fatalf("asked by %v", schemes)
	}
}

type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(r *http.Request) (*http.Response, error) { return d(r) }
