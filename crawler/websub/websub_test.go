package websub

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/frontier"
	"odarchive/crawler/hints"
	"odarchive/crawler/schedule"
	"odarchive/triplestore/kv"
)

// hub is a WebSub hub, as a transport. It verifies while it answers, as some do.
type hub struct {
	w      *world
	asked  []url.Values
	status int
	verify bool
	lease  string
}

func (h *hub) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, err
	}
	h.asked = append(h.asked, form)
	if h.verify {
		in := Intent{Mode: form.Get("hub.mode"), Topic: form.Get("hub.topic"), Challenge: "c-123", Lease: h.lease}
		if got, err := h.w.Verify(r.Context(), h.id(), in); err != nil || got != "c-123" {
			h.w.t.Errorf("%s: %q, %v", in.Mode, got, err)
		}
	}
	return &http.Response{StatusCode: h.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("no: " + form.Encode())), Request: r}, nil
}

func (h *hub) last() url.Values { return h.asked[len(h.asked)-1] }
func (h *hub) id() string {
	return strings.TrimPrefix(h.last().Get("hub.callback"), "http://archive.example/websub/")
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

type world struct {
	*Subscriber
	t   testing.TB
	now time.Time
	hub *hub
	db  *kv.DB
	f   *frontier.Frontier
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, now: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)}
	w.hub = &hub{w: w, status: 202, verify: true, lease: "864000"}
	var err error
	if w.db, err = kv.Open("", kv.Options{InMemory: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.db.Close() })
	if w.f, err = frontier.New(w.db, frontier.Options{Now: w.clock}); err != nil {
		t.Fatal(err)
	}
	w.open(true)
	for _, u := range []string{"http://a.example/feed", "http://a.example/x.csv", "http://a.example/y.csv", "http://b.example/z.csv"} {
		if _, err := w.f.Add(t.Context(), catalog.Seed{URL: u}); err != nil {
			t.Fatal(err)
		}
		w.visit(u)
	}
	return w
}

func (w *world) clock() time.Time { return w.now }

// open opens the subscriptions, as after a kill.
func (w *world) open(on bool) {
	w.t.Helper()
	h := &hints.Hints{DB: w.db, Frontier: w.f, Clock: w.clock, Min: time.Hour}
	var err error
	if w.Subscriber, err = Open(Options{DB: w.db, Hints: h, Frontier: w.f, On: on, Base: "http://archive.example/", Client: &http.Client{Transport: w.hub}, Clock: w.clock}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) visit(u string) {
	w.t.Helper()
	l, err := w.f.LeaseURL(w.t.Context(), u)
	if err != nil {
		w.t.Fatal(err)
	}
	job, _ := l.Next()
	err = w.db.Update(w.t.Context(), func(txn *kv.Txn) error {
		return w.f.Done(txn, l, job, frontier.Result{Visit: schedule.Visit{At: w.now, Outcome: catalog.Archived, Changed: true}, NextDue: w.now.Add(30 * 24 * time.Hour), Why: "rule"})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) due(u string) bool {
	w.t.Helper()
	known, err := w.f.Get(u)
	if err != nil {
		w.t.Fatal(err)
	}
	return !known.Due.After(w.now)
}

func (w *world) note(page string, links ...string) {
	w.t.Helper()
	if err := w.Note(w.t.Context(), page, page, http.Header{"Link": links}, nil, false); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) round() {
	w.t.Helper()
	if err := w.Round(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

const feed = "http://a.example/feed"

func (w *world) subscribe() {
	w.t.Helper()
	w.note(feed, `<http://hub.example/>; rel=hub, <http://a.example/feed>; rel="self"`)
	w.round()
	if list := w.List(); len(list) != 1 || list[0].State != Active {
		w.t.Fatalf("%+v", list)
	}
}

func TestAHubBringsVisitsForward(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	secret := w.hub.last().Get("hub.secret")
	if len(secret) < 40 || len(w.hub.id()) < 26 || w.hub.last().Get("hub.topic") != feed {
		t.Errorf("%v", w.hub.asked)
	}
	w.open(true) // after a kill
	w.now = w.now.Add(2 * time.Hour)
	body := `<feed><entry><link href="/x.csv"/><updated>2026-11-21T07:00:00Z</updated></entry><entry><link href="/y.csv"/><updated>2026-11-21T05:00:00Z</updated></entry>
	<entry><link href="http://b.example/z.csv"/><updated>2026-11-21T07:00:00Z</updated></entry><entry><link href="/new.csv"/></entry></feed>`
	if moved, err := w.Deliver(t.Context(), w.hub.id(), sign(secret, body), strings.NewReader(body)); err != nil || moved != 2 {
		t.Errorf("%d visits, %v", moved, err)
	}
	for u, want := range map[string]bool{feed: true, "http://a.example/x.csv": true, "http://a.example/y.csv": false, "http://b.example/z.csv": false} {
		if w.due(u) != want {
			t.Errorf("%s: due %v", u, !want)
		}
	}
	if _, err := w.f.Get("http://a.example/new.csv"); !errors.Is(err, frontier.ErrUnknown) {
		t.Error("a hub must not add URLs")
	}
	// A delivery just after a visit counts when the next visit may be.
	w.visit(feed)
	w.now = w.now.Add(10 * time.Minute)
	if moved, err := w.Deliver(t.Context(), w.hub.id(), sign(secret, ""), strings.NewReader("")); err != nil || moved != 0 {
		t.Errorf("%d, %v", moved, err)
	}
	w.now = w.now.Add(61 * time.Minute)
	if w.round(); !w.due(feed) {
		t.Error("the delivery was forgotten")
	}
	// The lease is renewed before it ends.
	asked := len(w.hub.asked)
	w.now = w.now.Add(9 * 24 * time.Hour)
	if w.round(); len(w.hub.asked) != asked+1 || w.List()[0].State != Active || !w.List()[0].Lease.After(w.now.Add(9*24*time.Hour)) {
		t.Errorf("%+v", w.List())
	}
	// Unless it is wanted, it ends.
	w.open(false)
	if _, err := w.Deliver(t.Context(), w.hub.id(), sign(secret, ""), strings.NewReader("")); !errors.Is(err, ErrEnded) {
		t.Errorf("%v", err)
	}
	if w.round(); len(w.List()) != 0 || w.hub.last().Get("hub.mode") != "unsubscribe" {
		t.Errorf("%+v", w.List())
	}
	w.open(true)
	if len(w.List()) != 0 {
		t.Errorf("%+v", w.List())
	}
}

func TestNobodyButTheHubIsBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.verify = false
	w.note(feed, `<http://hub.example/>; rel="hub"`, `<http://a.example/feed>; rel="self"`)
	w.round()
	id, secret := w.hub.id(), w.hub.last().Get("hub.secret")
	for _, in := range []Intent{
		{Mode: "subscribe", Topic: "http://a.example/other", Challenge: "c"}, {Mode: "unsubscribe", Topic: feed, Challenge: "c"}, {Mode: "subscribe", Topic: feed},
		{Mode: "subscribe", Topic: feed, Challenge: strings.Repeat("c", 1<<20)}, {Mode: "x", Topic: feed, Challenge: "c"}, {},
	} {
		if got, err := w.Verify(t.Context(), id, in); !errors.Is(err, ErrUnknown) {
			t.Errorf("%.100v: %q, %v", in, got, err)
		}
	}
	if _, err := w.Verify(t.Context(), "guessed", Intent{Mode: "subscribe", Topic: feed, Challenge: "c"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("%v", err)
	}
	w.now = w.now.Add(2 * time.Hour)
	if _, err := w.Deliver(t.Context(), id, sign(secret, "x"), strings.NewReader("x")); !errors.Is(err, ErrUnknown) {
		t.Errorf("before it is verified: %v", err)
	}
	if _, err := w.Verify(t.Context(), id, Intent{Mode: "subscribe", Topic: feed, Challenge: "c", Lease: "99999999999999999999999"}); err != nil {
		t.Error(err)
	}
	if end := w.List()[0].Lease; end.After(w.now.Add(maxLease)) {
		t.Errorf("an endless lease ends at %s", end)
	}
	old := hmac.New(sha1.New, []byte(secret))
	old.Write([]byte("x"))
	for _, signature := range []string{"", "sha1=" + hex.EncodeToString(old.Sum(nil)), "sha256=", "sha256=zz", sign("other", "x"), sign(secret, "y"), "sha512" + strings.TrimPrefix(sign(secret, "x"), "sha256")} {
		if moved, err := w.Deliver(t.Context(), id, signature, strings.NewReader("x")); !errors.Is(err, ErrSignature) || moved != 0 {
			t.Errorf("%q: %d, %v", signature, moved, err)
		}
	}
	if _, err := w.Deliver(t.Context(), id, sign(secret, "x"), io.LimitReader(zeros{}, 1<<40)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v", err)
	}
	if w.due(feed) {
		t.Error("a forger was believed")
	}
	many := 0
	for range 1_000_000 {
		if _, err := w.Deliver(t.Context(), id, "sha256=00", strings.NewReader("x")); errors.Is(err, ErrTooMany) {
			many++
		}
	}
	if many < 1_000_000-2*burst {
		t.Errorf("%d of a million forgeries were read", 1_000_000-many)
	}
	if c := w.Counts(); c.Accepted != 0 || c.Refused < 1_000_000 {
		t.Errorf("%+v", c)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestHubsThatDoNotAnswerAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.hub.verify, w.hub.status = false, 500
	w.note(feed, `<http://hub.example/>; rel=hub, </feed>; rel=self`)
	w.round()
	if one := w.List()[0]; one.Failures != 1 || !strings.Contains(one.Why, "500") || strings.Contains(one.Why, w.hub.last().Get("hub.secret")) || strings.Contains(one.Why, w.hub.id()) {
		t.Errorf("%+v", one)
	}
	for range 200 {
		w.now = w.now.Add(12 * time.Hour)
		w.round()
	}
	if len(w.List()) != 0 || len(w.hub.asked) != maxFailures {
		t.Errorf("%d requests, %+v", len(w.hub.asked), w.List())
	}
}

func TestSubscriptionsFollowWhatPagesSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	first := w.hub.id()
	if err := w.Note(t.Context(), feed, feed, http.Header{}, nil, true); err != nil || w.List()[0].State != Active {
		t.Errorf("a 304 without links: %v %+v", err, w.List())
	}
	w.note(feed, `<http://other.example/>; rel=hub, <http://a.example/feed>; rel=self`)
	if w.round(); w.List()[0].Hub != "http://other.example/" || len(w.List()) != 1 || w.get(first) != nil {
		t.Errorf("%+v", w.List())
	}
	w.note(feed)
	if w.round(); len(w.List()) != 0 {
		t.Errorf("%+v", w.List())
	}
	w.note(feed, `<http://hub.example/>; rel=hub, <http://b.example/feed>; rel=self`)
	w.note(feed, `<http://user:pw@hub.example/>; rel=hub, <http://a.example/feed>; rel=self`)
	w.note(feed, `<ftp://hub.example/>; rel=hub, <http://a.example/feed>; rel=self`)
	if len(w.List()) != 0 {
		t.Errorf("%+v", w.List())
	}
	for i := range maxOfSite + 50 {
		page := fmt.Sprintf("http://a.example/%d", i)
		w.note(page, `<http://hub.example/>; rel=hub, <`+page+`>; rel=self`)
	}
	if n := len(w.List()); n != maxOfSite {
		t.Errorf("%d subscriptions of one site", n)
	}
	// Pages that are not visited any more need no hub.
	if w.round(); len(w.List()) != 0 {
		t.Errorf("%d subscriptions for unknown pages", len(w.List()))
	}
}

func TestADenialIsHeeded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.subscribe()
	if _, err := w.Verify(t.Context(), w.hub.id(), Intent{Mode: "denied", Topic: feed, Reason: strings.Repeat("no\xff ", 1000)}); err != nil {
		t.Fatal(err)
	}
	asked := len(w.hub.asked)
	w.now = w.now.Add(29 * 24 * time.Hour)
	if w.round(); len(w.hub.asked) != asked || w.List()[0].State != Denied || len(w.List()[0].Why) > 2*maxWhy {
		t.Errorf("%+v", w.List())
	}
	w.now = w.now.Add(2 * 24 * time.Hour)
	if w.round(); w.List()[0].State != Active {
		t.Errorf("%+v", w.List())
	}
}

func TestHubsAreFoundInHeadersFeedsAndPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, header, body, hub, topic string }{
		{"header", `<http://h.example/a>; rel="hub", <http://a.example/F?x=1>; rel="self"`, "", "http://h.example/a", "http://a.example/F?x=1"},
		{"relations", `</hub>;rel="nofollow HUB",<feed>;rel=self`, "", "http://a.example/hub", "http://a.example/d/feed"},
		{"atom", "", `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title type="html">&lt;b&gt;</title><link rel="hub" href="http://h.example/"/><link rel="self" href="http://a.example/f?a=1&amp;b=2"/><entry>`, "http://h.example/", "http://a.example/f?a=1&b=2"},
		{"rss", "", `<rss xmlns:atom="http://www.w3.org/2005/Atom"><channel><link>http://a.example/</link><atom:link rel="self" href="http://a.example/f"/><atom:link rel="hub" href="http://h.example/"/></channel></rss>`, "http://h.example/", "http://a.example/f"},
		{"page", "", `<!doctype html><html><head><link rel=hub href=http://h.example/><link rel=self href=/p></head><body>`, "http://h.example/", "http://a.example/p"},
		{"what others wrote", "", `<html><head></head><body><link rel=hub href=http://h.example/><link rel=self href=/p>`, "", ""},
		{"an entry", "", `<feed><entry><link rel="hub" href="http://h.example/"/><link rel="self" href="/p"/></entry>`, "", ""},
		{"no self", `<http://h.example/>; rel=hub`, "", "", ""},
		{"of another document", `<http://h.example/>; rel=hub; anchor="http://x.example/", <http://a.example/>; rel=self`, "", "", ""},
		{"script", `<javascript:x>; rel=hub, <http://a.example/>; rel=self`, "", "", ""},
		{"long", `<http://h.example/` + strings.Repeat("x", 2000) + `>; rel=hub, <http://a.example/>; rel=self`, "", "", ""},
	} {
		h := http.Header{}
		if c.header != "" {
			h.Set("Link", c.header)
		}
		hub, topic, ok := Find(h, []byte(c.body), "http://a.example/d/x")
		if hub != c.hub || topic != c.topic || ok != (c.hub != "") {
			t.Errorf("%s: %q %q %v", c.about, hub, topic, ok)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(`<http://h.example/>; rel=hub, <x>; rel=self`, []byte(`<feed><link rel="hub" href="x"/>`))
	f.Fuzz(func(t *testing.T, link string, body []byte) {
		hub, topic, ok := Find(http.Header{"Link": {link}}, body, "http://a.example/")
		for _, u := range []string{hub, topic} {
			if ok && (len(u) > maxAddress || !strings.Contains(u, "://")) {
				t.Errorf("%q", u)
			}
		}
	})
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(`<feed><entry><link href="/x"/></entry></feed>`))
	one := &subscription{Topic: feed, Page: feed, Site: "a.example"}
	f.Fuzz(func(t *testing.T, body []byte) {
		if list := one.entries(body, time.Unix(1, 0)); len(list) > maxEntries {
			t.Errorf("%d", len(list))
		}
	})
}
