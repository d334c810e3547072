package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// memory is a log of changes in memory, of which every third event is of the kind "gone" and the others are "rows".
type memory struct {
	mu    sync.Mutex
	count uint64
	marks map[string]uint64
}

func (m *memory) EventCount() (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count, nil
}

func (m *memory) grow(n uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count += n
}

func (m *memory) EventsFrom(_ context.Context, q catalog.EventQuery, from uint64) (list []catalog.Event, next uint64, err error) {
	count, _ := m.EventCount()
	for next = from; next < min(count, from+5); next++ {
		kind := "rows"
		if next%3 == 2 {
			kind = "gone"
		}
		if q.Kinds == "" || strings.Contains(q.Kinds, kind) {
			list = append(list, catalog.Event{Seq: next, Kinds: []string{kind}, URL: "http://data.example/a.csv", N: -1})
		}
	}
	return list, next, nil
}

func (m *memory) EventMark(reader string) (uint64, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, known := m.marks[reader]
	return next, known, nil
}

func (m *memory) SetEventMark(_ context.Context, reader string, next uint64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.marks[reader] = next
	return nil
}

// inbox is a receiver of hooks. refuse returns the status for the n-th request, 0 for success.
type inbox struct {
	mu     sync.Mutex
	refuse func(n int) int
	asked  int
	got    []uint64
	ids    []string
	faults []string
}

var secret = []byte("a secret of many bytes")

func (b *inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.asked
	b.asked++
	body, _ := io.ReadAll(r.Body)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(r.Header.Get("webhook-id") + "." + r.Header.Get("webhook-timestamp") + "." + string(body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want {
		b.faults = append(b.faults, "signature "+r.Header.Get("webhook-signature"))
	}
	if b.refuse != nil {
		if status := b.refuse(n); status != 0 {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			return
		}
	}
	var change events.Change
	if err := json.Unmarshal(body, &change); err != nil || bytes.Count(body, []byte("\n")) != 1 || r.Method != "POST" ||
		r.URL.Path != "/in" {
		b.faults = append(b.faults, r.Method+" "+r.URL.Path+" "+string(body))
	}
	b.got = append(b.got, change.Event)
	b.ids = append(b.ids, r.Header.Get("webhook-id"))
}

func sender(t *testing.T, log *memory, logs io.Writer, hooks ...string) *Sender {
	t.Helper()
	o := Options{Log: log, Client: http.DefaultClient, Mint: ns.Mint{Base: "http://archive.example/"}, Secret: secret,
		Poll: time.Millisecond, MinPause: time.Millisecond, MaxPause: 4 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(logs, nil))}
	for _, text := range hooks {
		h, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Hooks = append(o.Hooks, h)
	}
	return New(o)
}

func TestAHookGetsEachChangeInOrderWhateverFails(t *testing.T) {
	t.Parallel()
	log := &memory{count: 4, marks: map[string]uint64{}}
	all := &inbox{refuse: func(n int) int { return []int{500, 0, 302, 429, 0, 404, 0}[n%7] }}
	some := &inbox{}
	first, second := httptest.NewServer(all), httptest.NewServer(some)
	defer first.Close()
	defer second.Close()
	var logs bytes.Buffer
	s := sender(t, log, &logs, first.URL+"/in?token=hidden", second.URL+"/in kind=gone")
	if err := s.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.grow(20)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx, false) }()
	for {
		all.mu.Lock()
		n := len(all.got)
		all.mu.Unlock()
		some.mu.Lock()
		m := len(some.got)
		some.mu.Unlock()
		if n >= 20 && m >= 7 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	var want []uint64
	for n := uint64(4); n < 24; n++ {
		want = append(want, n)
	}
	if !slices.Equal(all.got, want) || len(all.faults) > 0 {
		t.Errorf("got %v, %q", all.got, all.faults)
	}
	if !slices.Equal(some.got, []uint64{5, 8, 11, 14, 17, 20, 23}) || len(some.faults) > 0 {
		t.Errorf("of one kind: got %v, %q", some.got, some.faults)
	}
	if text := logs.String(); !strings.Contains(text, "404") || strings.Contains(text, "hidden") {
		t.Errorf("log: %s", text)
	}
}

func TestAHookGoesOnWhereItWas(t *testing.T) {
	t.Parallel()
	log := &memory{marks: map[string]uint64{}}
	box := &inbox{refuse: func(n int) int { return map[int]int{3: 503}[n] }}
	server := httptest.NewServer(box)
	defer server.Close()
	hook := server.URL + "/in"
	if err := sender(t, log, io.Discard, hook).Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	log.grow(7)
	if err := sender(t, log, io.Discard, hook).Run(t.Context(), true); err != nil { // ends at the failure
		t.Fatal(err)
	}
	if !slices.Equal(box.got, []uint64{0, 1, 2}) {
		t.Fatalf("before the failure: %v", box.got)
	}
	log.grow(3)
	if err := sender(t, log, io.Discard, hook).Run(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(box.got, []uint64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}) || len(slices.Compact(slices.Sorted(slices.Values(box.ids)))) != 10 ||
		len(box.faults) > 0 {
		t.Errorf("afterwards: %v, %q, %q", box.got, box.ids, box.faults)
	}
}

func TestWhatAHookIsGivenAsAndWhatNot(t *testing.T) {
	t.Parallel()
	h, err := Parse(" https://a.example/in?x=1 portal=http%3A%2F%2Fp.example%2F&kind=schema&kind=gone")
	if err != nil || h.URL != "https://a.example/in?x=1" ||
		h.Select != (catalog.EventQuery{Portal: "http://p.example/", Kinds: "schema,gone"}) {
		t.Errorf("%+v, %v", h, err)
	}
	for _, bad := range []string{"", "a.example/in", "ftp://a.example/", "https:///x", "https://a.example/ colour=red",
		"https://a.example/ kind=colour", "https://a.example/ url=http://b.example/&q=trees", "https://a.example/ %zz"} {
		if h, err := Parse(bad); err == nil {
			t.Errorf("%q: %+v", bad, h)
		}
	}
	for text, want := range map[string]string{"whsec_" + base64.StdEncoding.EncodeToString(secret) + "\n": string(secret),
		"0123456789abcdef ": "0123456789abcdef", "short": "", "whsec_%%": ""} {
		if got, err := ParseSecret(text); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

// The example is that of the Standard Webhooks specification's libraries.
func TestASignatureIsThatOfStandardWebhooks(t *testing.T) {
	t.Parallel()
	key, err := ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	h := http.Header{}
	sign(h, key, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if got := h.Get("Webhook-Signature"); got != "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=" {
		t.Errorf("signature %s", got)
	}
}
