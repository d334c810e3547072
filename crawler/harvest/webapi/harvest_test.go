package webapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portaltest"
)

// simple returns a document of a list at /list, with a paging.
func simple(paging string) string {
	if paging != "" {
		paging = "paging = { " + paging + " }"
	}
	return `[api]
base = "https://api.example"
[[api.request]]
path = "/list"
items = "items"
total = "total"
id = "id"
` + paging + `
[api.dataset]
id = "id"
title = "name"
`
}

func items(from, to int) string {
	var list []string
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprintf(`{"id":"d%d","name":"Set %d"}`, i, i))
	}
	return strings.Join(list, ",")
}

func TestEveryKindOfPagingReadsEveryItemOnceAndCanBeCutOff(t *testing.T) {
	t.Parallel()
	const n = 10
	number := func(r *http.Request, name string, otherwise int) int {
		fmt.Sscan(r.URL.Query().Get(name), &otherwise)
		return otherwise
	}
	for paging, h := range map[string]http.HandlerFunc{
		`kind = "page", parameter = "page"`: func(w http.ResponseWriter, r *http.Request) {
			p := number(r, "page", 0)
			fmt.Fprintf(w, `{"items":[%s]}`, items(p*3, min(p*3+3, n)))
		},
		`kind = "page", parameter = "page", first = 1, more = "more"`: func(w http.ResponseWriter, r *http.Request) {
			p := number(r, "page", -1) - 1
			fmt.Fprintf(w, `{"items":[%s],"more":%v}`, items(p*3, min(p*3+3, n)), p*3+3 < n)
		},
		`kind = "offset", parameter = "start"`: func(w http.ResponseWriter, r *http.Request) {
			o := number(r, "start", 0)
			fmt.Fprintf(w, `{"items":[%s],"total":10}`, items(o, min(o+3, n)))
		},
		`kind = "offset", parameter = "start", first = 1`: func(w http.ResponseWriter, r *http.Request) {
			o := number(r, "start", 999) - 1
			fmt.Fprintf(w, `{"items":[%s],"total":10}`, items(o, min(o+3, n)))
		},
		`kind = "cursor", parameter = "c", next = "cursor"`: func(w http.ResponseWriter, r *http.Request) {
			o := number(r, "c", 0)
			next := ""
			if o+3 < n {
				next = fmt.Sprint(o + 3)
			}
			fmt.Fprintf(w, `{"items":[%s],"cursor":%q}`, items(o, min(o+3, n)), next)
		},
		`kind = "next", next = "links.next"`: func(w http.ResponseWriter, r *http.Request) {
			o := number(r, "o", 0)
			next := "null"
			if o+3 < n {
				next = fmt.Sprintf(`"/list?o=%d"`, o+3)
			}
			fmt.Fprintf(w, `{"items":[%s],"links":{"next":%s}}`, items(o, min(o+3, n)), next)
		},
		`kind = "link"`: func(w http.ResponseWriter, r *http.Request) {
			o := number(r, "o", 0)
			if o+3 < n {
				w.Header().Add("Link",
					fmt.Sprintf(`<http://api.example/list?o=0>; rel="first", <http://api.example/list?o=%d>; title="a;b"; rel="next last"`,
						o+3))
			}
			fmt.Fprintf(w, `{"items":[%s]}`, items(o, min(o+3, n)))
		},
	} {
		source := compile(t, simple(paging), h)
		notes, err := portaltest.Harvest(t, source, "")
		if err != nil || len(notes.Datasets) != n || len(notes.Skipped) > 0 || !notes.Whole {
			t.Errorf("%s: %v, %v, %v", paging, err, notes.IRIs(), notes.Skipped)
			continue
		}
		portaltest.Resumes(t, source)
	}
}

// TestHostileInterfaces has interfaces that never end, answer with something else, or lead astray. Each ends after a
// bounded number of requests with one sentence, or leaves out what is wrong.
func TestHostileInterfaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, paging string
		answer        func(n int, w http.ResponseWriter, r *http.Request)
		want          string // of the error
		datasets      int    // at least
		asked         int    // at most
	}{
		{"a page that repeats", `kind = "page", parameter = "p"`,
			func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"items":[%s]}`, items(0, 3)) }, "repeats itself after",
			3, 5},
		{"a cursor that loops", `kind = "cursor", parameter = "c", next = "c"`, func(n int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s],"c":"c%d"}`, items(n*3, n*3+3), n%2)
		}, "go in a circle", 6, 4},
		{"a next page that is itself", `kind = "next", next = "next"`, func(n int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s],"next":"/list?x"}`, items(n*3, n*3+3))
		}, "go in a circle", 3, 3},
		{"a next page elsewhere", `kind = "next", next = "next"`, func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s],"next":"http://169.254.169.254/latest"}`, items(0, 3))
		}, "at another host", 3, 1},
		{"a redirect elsewhere", "", func(_ int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://other.example/list", http.StatusFound)
		}, "which is not followed", 0, 1},
		{"redirects without an end", "", func(n int, w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, fmt.Sprintf("/list?%d", n), http.StatusFound)
		}, "which is not followed", 0, 11},
		{"pages without an end", `kind = "page", parameter = "p"`, func(n int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s]}`, items(n*3, n*3+3))
		}, "budget of the round is used up", 100, 50},
		{"empty pages without an end", `kind = "next", next = "next"`, func(n int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[],"next":"/list?%d"}`, n)
		}, "repeats itself", 0, 5},
		{"a cursor of a megabyte", `kind = "cursor", parameter = "c", next = "c"`, func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s],"c":"%s"}`, items(0, 3), strings.Repeat("c", 1<<20))
		}, "a cursor of 1048576 bytes", 3, 1},
		{"a page for people", "", func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `<!doctype html><title>Log in</title><input type="password">`)
		}, "a login page instead of JSON", 0, 1},
		{"a huge answer", "", func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":["%s"]}`, strings.Repeat("x", 1<<20))
		}, "answered with more than", 0, 1},
		{"an answer that breaks off", "", func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"items":[%s,{"id":"d9","na`, items(0, 3))
		}, "breaks off", 3, 1},
		{"another shape", "", func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"error":"quota exceeded"}`) },
			`without the list "items"`, 0, 1},
		{"text for a list", "", func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"items":"none"}`) },
			`"items" as text instead of a list`, 0, 1},
		{"numbers for a document", "", func(_ int, w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `42`) },
			`without the list "items"`, 0, 1},
		{"wrong types in items", "", func(_ int, w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"items":[7,null,[1],"x",{"id":{"a":1}},{"id":["d1"],"name":{"de":"N"}},{"id":"d2","name":[1,2]}]}`)
		}, "", 2, 1},
		{"fewer than it says", `kind = "page", parameter = "p"`, func(n int, w http.ResponseWriter, _ *http.Request) {
			if n > 1 {
				fmt.Fprint(w, `{"items":[],"total":9}`)
				return
			}
			fmt.Fprintf(w, `{"items":[%s],"total":9}`, items(0, 3))
		}, "", 3, 2},
		{"refused", "", func(_ int, w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) },
			"answered 403 Forbidden", 0, 1},
	} {
		asked := 0
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			c.answer(asked, w, r)
		})
		document := strings.Replace(simple(c.paging), "[api]\n", "[api]\nmax-requests = 50\nmax-answer = 1048576\n", 1)
		if strings.HasPrefix(c.about, "a cursor of") {
			document = strings.Replace(document, "1048576", "2097152", 1)
		}
		notes, err := portaltest.Harvest(t, compile(t, document, h), "")
		if asked > c.asked || len(notes.Datasets) < c.datasets {
			t.Errorf("%s: %d requests, %d datasets", c.about, asked, len(notes.Datasets))
		}
		switch {
		case c.want == "" && err != nil, c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 600):
			t.Errorf("%s: %v, want %q", c.about, err, c.want)
		case c.about == "fewer than it says" && (len(notes.Unread) != 1 || notes.Unread[0] != harvest.Short(6)):
			t.Errorf("%s: %q, %q", c.about, notes.Unread, notes.Skipped)
		}
	}
}

// kaggle is the part of Kaggle's interface that its documentation describes and the example asks for.
type kaggle struct {
	asked []string
	wrong int // refused for their credentials
}

func (k *kaggle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.asked = append(k.asked, r.URL.RequestURI())
	if user, key, _ := r.BasicAuth(); user != "ann" || key != "s3cr3t/key+1" {
		k.wrong++
		http.Error(w, `{"code":401,"message":"Unauthenticated"}`, http.StatusUnauthorized)
		return
	}
	q := r.URL.Query()
	switch {
	case r.URL.Path == "/api/v1/datasets/list":
		var page int
		fmt.Sscan(q.Get("page"), &page)
		if page > 2 {
			fmt.Fprint(w, "[]")
			return
		}
		one := func(slug string) string {
			return fmt.Sprintf(`{"ref":"lee/%s","title":"%s","subtitle":"About %s","ownerName":"Lee","ownerRef":"lee","url":"https://www.kaggle.com/datasets/lee/%s","lastUpdated":"2026-01-02T03:04:05Z",
			"licenseName":"CC0-1.0","isPrivate":%v,"totalBytes":1234,"currentVersionNumber":3,"tags":[{"ref":"t","name":"transport"},{"name":"cities"}]}`, slug, slug, slug, slug, slug == "mine")
		}
		list := map[string][]string{"public transport1": {"buses", "trams"}, "public transport2": {"mine", "gone"},
			"air quality1": {"trams", "air"}}[q.Get("search")+fmt.Sprint(page)]
		for i := range list {
			list[i] = one(list[i])
		}
		fmt.Fprintf(w, "[%s]", strings.Join(list, ","))
	case r.URL.Path == "/api/v1/datasets/list/lee/gone":
		http.Error(w, `{"code":404,"message":"Not found"}`, http.StatusNotFound)
	case strings.HasPrefix(r.URL.Path, "/api/v1/datasets/list/lee/"):
		fmt.Fprint(w,
			`{"datasetFiles":[{"name":"a `+
				`b.csv","totalBytes":56,"creationDate":"2026-01-01T00:00:00Z","description":"all"}],"nextPageToken":""}`)
	default:
		http.NotFound(w, r)
	}
}

func environment(name string) string {
	return map[string]string{"API_KAGGLE_USER": "ann", "API_KAGGLE_KEY": "s3cr3t/key+1", "API_KEY": "s3cr3t/key+1"}[name]
}

func TestKaggleIsADocument(t *testing.T) {
	t.Parallel()
	k := &kaggle{}
	source := compile(t, example(t, "kaggle.toml"), k)
	source.Getenv = environment
	source.Pacer = &Pacer{}
	notes, err := portaltest.Harvest(t, source, "")
	if err != nil || notes.Whole || !slices.Equal(notes.Unread, []string{"lee/gone"}) || k.wrong > 0 {
		t.Fatalf("%v, whole %v, %q %q, asked %q", err, notes.Whole, notes.Unread, notes.Skipped, k.asked)
	}
	portaltest.Golden(t, "kaggle.golden", notes.String())
	for _, path := range []string{"/api/v1/datasets/list?page=1&search=public+transport&sortBy=updated",
		"/api/v1/datasets/list/lee/trams?pageSize=200"} {
		if !slices.Contains(k.asked, path) {
			t.Errorf("%s was not requested: %q", path, k.asked)
		}
	}
	if slices.ContainsFunc(k.asked, func(uri string) bool { return strings.Contains(uri, "lee/mine") }) {
		t.Error("a private dataset was asked for")
	}
	portaltest.Resumes(t, source)
	source.Getenv = func(string) string { return "wrong" }
	if _, err := portaltest.Harvest(t, source, ""); err == nil ||
		!strings.Contains(err.Error(), "does not accept the credentials in API_KAGGLE_KEY") {
		t.Errorf("wrong credentials: %v", err)
	}
	source.Getenv = func(string) string { return "" }
	if _, err := portaltest.Harvest(t, source, ""); err == nil || !strings.Contains(err.Error(), "API_KAGGLE_KEY is not set") {
		t.Errorf("no credentials: %v", err)
	}
}

// TestASecretIsSentToTheInterfaceOnlyAndRepeatedNowhere has an interface that repeats the key wherever it can.
func TestASecretIsSentToTheInterfaceOnlyAndRepeatedNowhere(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t/key+1"
	basic := secrets("ann", secret)[0]
	query, path, php := url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(secret, "/", `\/`)
	spelled := []string{secret, basic, query, path, php, strings.ToLower(query)}
	for _, auth := range []string{
		`kind = "bearer", env = "API_KEY"`, `kind = "header", env = "API_KEY", name = "X-App-Token"`,
		`kind = "query", env = "API_KEY", name = "api_key"`,
		`kind = "basic", env = "API_KEY", user-env = "API_KAGGLE_USER"`,
	} {
		sent := 0
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, password, _ := r.BasicAuth()
			has := slices.Contains([]string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-App-Token"),
				r.URL.Query().Get("api_key"), password}, secret)
			if r.URL.Host != "api.example" && has {
				t.Errorf("%s: the secret was sent to %s", auth, r.URL.Host)
			}
			if has {
				sent++
			}
			if r.URL.Query().Get("o") == "" {
				fmt.Fprintf(w,
					`{"items":[{"id":"d1","name":"key %s %s","files":["https://api.example/f?api_key=%s"]}],"next":"/list?o=1&api_key=%s"}`,
					secret, php, strings.ToLower(query), path)
				return
			}
			w.Header().Set("Content-Type", secret)
			http.Error(w, "who is "+secret+" "+basic+" "+php, http.StatusForbidden)
		})
		document := strings.Replace(simple(`kind = "next", next = "next"`), "[api]\n", "[api]\nauth = { "+auth+" }\n", 1) +
			"[[api.dataset.distribution]]\neach = \"files\"\nurl = \"@\"\n"
		source := compile(t, document, h)
		source.Getenv = environment
		var asked []string
		source.Asked = func(address string) { asked = append(asked, address) }
		notes, err := portaltest.Harvest(t, source, "")
		if err == nil || len(notes.Datasets) != 1 || sent != 2 {
			t.Errorf("%s: %v, %d datasets, sent %d times", auth, err, len(notes.Datasets), sent)
		}
		said := fmt.Sprintf("%v %+v %q %q", err, err, notes.Marks, asked) + notes.String()
		var status *harvest.StatusError
		if errors.As(err, &status) {
			said += string(status.Body)
		}
		for _, one := range spelled {
			if strings.Contains(said, one) {
				t.Errorf("%s: %q is in %s", auth, one, said)
			}
		}
		if !strings.Contains(notes.Datasets[0].Title[0].Value, "key [removed] [removed]") {
			t.Errorf("%s: title %q", auth, notes.Datasets[0].Title)
		}
	}
}

func TestTheRateAndTheBudgetOutlastTheProcess(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var kept Pace
	start := func() *Pacer {
		return &Pacer{Every: 20 * time.Millisecond, Max: 3, Now: func() time.Time { return at },
			Load: func(context.Context) (Pace, error) { return kept, nil },
			Save: func(_ context.Context, p Pace) error { kept = p; return nil }}
	}
	p := start()
	for n := 1; n <= 3; n++ {
		switch n {
		case 2:
			p = start() // another process
		case 3:
			at = kept.Next.Add(-time.Millisecond)
		}
		if err := p.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := time.Date(2026, 3, 1, 0, 0, 0, n*20_000_000, time.UTC); !kept.Next.Equal(want) || kept.Used != n {
			t.Errorf("after request %d: %+v, want %s", n, kept, want)
		}
	}
	waiting := &Pacer{Every: time.Hour,
		Load: func(context.Context) (Pace, error) { return Pace{Next: time.Now().Add(time.Hour), Used: 7}, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- waiting.Take(ctx) }()
	for waiting.Used() != 7 { // can be read while a request waits
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || waiting.Used() != 7 {
		t.Errorf("a request that is given up: %v, %d counted", err, waiting.Used())
	}
	if err := start().Take(t.Context()); !errors.Is(err, ErrBudget) {
		t.Errorf("request 4 of 3: %v", err)
	}
	for rate, want := range map[string]time.Duration{"": 0, "600/h": 6 * time.Second, "2/s": 500 * time.Millisecond,
		"30/minute": 2 * time.Second, "0.5/s": 2 * time.Second, "86400/day": time.Second} {
		if every, err := parseRate(rate); err != nil || every != want {
			t.Errorf("%s: %s, %v", rate, every, err)
		}
	}
}

func TestFaultsOfADocumentAreNamedWithTheirLine(t *testing.T) {
	t.Parallel()
	whole := simple("") +
		"[[api.dataset.distribution]]\nurl = \"link\"\n[[api.dataset.distribution]]\nurl = \"other\"\nwith = [{ a = \"b\" }]\n"
	for _, c := range []struct {
		from, to string
		line     int
		want     string
	}{
		{`"https://api.example"`, `"ftp://api.example"`, 2, "base: "},
		{`"https://api.example"`, `"https://u:p@api.example"`, 2, "environment variables"},
		{`"https://api.example"`, "\"https://api.example\"\nrate = \"fast\"", 3, "rate: expected"},
		{`"https://api.example"`, "\"https://api.example\"\nauth = { kind = \"bearer\", env = \"AWS_SECRET\" }", 3, "begins with API_"},
		{`"https://api.example"`, "\"http://api.example\"\nauth = { kind = \"bearer\", env = \"API_KEY\" }", 2, "over https only"},
		{`items = "items"`, `items = "items["`, 5, "request.1.items"},
		{`path = "/list"`, `path = "/list/{x"`, 4, "request.1.path"},
		{`path = "/list"`, `path = "list"`, 4, "begins with"},
		{`id = "id"` + "\ntitle", `id = ""` + "\ntitle", 9, "id or iri is missing"},
		{`title = "name"`, `title = "name |"`, 11, "dataset.title"},
		{`url = "other"`, `url = "oth(er"`, 15, "dataset.distribution.2.url"},
		{`url = "other"`, `each = "x"` + "\n" + `url = "other"`, 17, "either each or with"},
	} {
		text := strings.Replace(whole, c.from, c.to, 1)
		_, err := Compile(read(t, text).API)
		var fault *Fault
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.to, err, c.want)
			continue
		}
		if line := fault.Line(text); line != c.line {
			t.Errorf("%s: line %d, want %d (%v)", c.to, line, c.line, err)
		}
	}
}

func TestAnswersInXML(t *testing.T) {
	t.Parallel()
	document := `[api]
base = "https://api.example"
xml = true
[[api.request]]
path = "/list"
items = "feed.set"
[api.dataset]
id = "@id"
title = "title"
keywords = "word"
[[api.dataset.distribution]]
each = "file"
url = "@href"
title = "#text"
`
	document = strings.NewReplacer(`id = "@id"`, `id = '"@id"'`, `url = "@href"`, `url = '"@href"'`, `title = "#text"`,
		`title = '"#text"'`).Replace(document)
	notes, err := portaltest.Harvest(t, compile(t, document, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w,
			`<?xml version="1.0"?><x:feed xmlns:x="urn:x"><x:set id="1"><title>One</title><word>a</word><word>b</word><file `+
				`href="https://f.example/1.csv">CSV</file></x:set><x:set id="2"><title>Two &amp; a half</title></x:set></x:feed>`)
	})), "")
	if err != nil || len(notes.Datasets) != 2 || notes.Datasets[1].Title[0].Value != "Two & a half" ||
		len(notes.Datasets[0].Keywords) != 2 || notes.Datasets[0].Distributions[0].URL != "https://f.example/1.csv" {
		t.Fatalf("%v\n%s", err, notes)
	}
	if got := base64.StdEncoding.EncodeToString([]byte("ann:x")); secrets("ann", "x")[0] != strings.TrimRight(got, "=") {
		t.Error("the first secret is that of basic authentication")
	}
	for body, want := range map[string]string{"<feed><set>": "breaks off", "": "without any element",
		"<!doctype html><title>x</title>": "web page"} {
		if _, err := portaltest.Harvest(t,
			compile(t, document, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })), ""); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
