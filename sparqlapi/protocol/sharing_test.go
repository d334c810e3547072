package protocol_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
)

// costly is a query whose estimated cost is high over a store of a few hundred triples.
const costly = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"

// tokenOnly authorises the holder of the token.
func tokenOnly(r *http.Request) error {
	if r.Header.Get("Authorization") == "Bearer secret" {
		return nil
	}
	return problem.New(http.StatusUnauthorized, "A token is needed", "")
}

// as names the client of each request by a header.
func as(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.WithClient(r.Context(), r.Header.Get("Client"))))
	})
}

func TestCostlyQueriesAreBoundedByClientAndCheapOnesOvertakeThem(t *testing.T) {
	t.Parallel()
	entered, open := make(chan struct{}, 100), make(chan struct{})
	store := numbers(300)
	places := access.NewPlaces(access.GateSettings{Queries: 2, PerClient: 1, Queue: 4, Wait: time.Minute})
	srv := httptest.NewServer(
		as(protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}), Places: places, Snapshot: func() (term.Dataset, func()) {
			return &gate{Dataset: store.Snapshot(), open: open, ctx: t.Context()}, func() {}
		}})))
	defer srv.Close()
	ask := func(client, query string) (int, string) {
		r, _ := http.NewRequest("GET", srv.URL+"/?query="+url.QueryEscape(query), nil)
		r.Header.Set("Client", client)
		resp, err := srv.Client().Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		entered <- struct{}{}
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode >= 400 && resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s without Retry-After", resp.Status)
		}
		return resp.StatusCode, string(text)
	}
	const limited = costly + " LIMIT 1"
	ended := make(chan int, 2)
	go func() { status, _ := ask("a", limited); ended <- status }()
	go func() { status, _ := ask("a", limited); ended <- status }() // waits for the first
	for running, waiting := places.Running(); running != 1 || waiting != 1; running, waiting = places.Running() {
		time.Sleep(time.Millisecond)
	}
	if status, text := ask("a", limited); status != 429 || !strings.Contains(text, "one client") {
		t.Errorf("a third of one client: %d %s", status, text)
	}
	if status, text := ask("a", "ASK { }"); status != 200 {
		t.Errorf("a cheap one of the same client: %d %s", status, text)
	}
	close(open)
	for range 2 {
		if status := <-ended; status != 200 {
			t.Errorf("a costly one: %d", status)
		}
	}
	if status, text := ask("b", limited); status != 200 {
		t.Errorf("after that: %d %s", status, text)
	}
}

func TestAnUpdateIsRefusedBeforeItsBodyIsRead(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(1), protocol.Options{Authorise: tokenOnly})
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn,
		"POST /sparql HTTP/1.1\r\nHost: x\r\nContent-Type: application/sparql-update\r\nContent-Length: 60000000\r\n\r\nINSERT")
	answer := make([]byte, 12)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 401" {
		t.Errorf("%q %v", answer, err)
	}
}

func TestBodiesOfSlowClientsAreBoundedTogether(t *testing.T) {
	t.Parallel()
	places := access.NewPlaces(access.GateSettings{Bodies: 1 << 20})
	srv := httptest.NewServer(as(protocol.New(protocol.Options{Engine: sparql.New(sparql.Options{}), Places: places, Authorise: tokenOnly,
		Snapshot: func() (term.Dataset, func()) { return numbers(1).Snapshot(), func() {} }})))
	defer srv.Close()
	var senders []net.Conn
	answers := make(chan string, 8)
	part := strings.Repeat("x", 250<<10)
	for i := range 8 { // two of each client, who may hold 256 KiB
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn,
			"POST / HTTP/1.1\r\nHost: x\r\nClient: c%d\r\nContent-Type: application/sparql-query\r\nContent-Length: 400000\r\n\r\n%s", i/2,
			part)
		go func() {
			answer := make([]byte, 12)
			io.ReadFull(conn, answer)
			answers <- string(answer)
		}()
		senders = append(senders, conn)
	}
	for range 4 {
		if answer := <-answers; answer != "HTTP/1.1 429" {
			t.Errorf("got %q", answer)
		}
	}
	if used := places.Bodies.Used(); used > 1<<20 {
		t.Errorf("%d bytes held", used)
	}
	r, _ := http.NewRequest("POST", srv.URL, strings.NewReader("ASK {}"))
	r.Header.Set("Content-Type", "application/sparql-query")
	r.Header.Set("Authorization", "Bearer secret")
	resp, err := srv.Client().Do(r)
	if err != nil || resp.StatusCode != 200 {
		t.Fatal("the token's holder waits for others", err, resp.Status)
	}
	resp.Body.Close()
	for _, conn := range senders {
		conn.Close()
	}
	for places.Bodies.Used() > 0 {
		time.Sleep(time.Millisecond)
	}
}

func TestATextThatIsTooLongIs413(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(1), protocol.Options{MaxQuery: 1000, MaxUpdate: 2000, Authorise: tokenOnly})
	long := func(text string, n int) string { return text + "#" + strings.Repeat("é", n/2) }
	for _, c := range []struct {
		contentType, token, body string
		status                   int
	}{
		{"application/sparql-query", "", long("ASK {}", 900), 200},
		{"application/sparql-query", "", long("ASK {}", 1100), 413},
		{"application/sparql-query", "Bearer secret", long("ASK {}", 1100), 413},
		{"application/x-www-form-urlencoded", "", url.Values{"query": {long("ASK {}", 900)}}.Encode(), 200},
		{"application/x-www-form-urlencoded", "", url.Values{"query": {long("ASK {}", 1100)}}.Encode(), 413},
		{"application/x-www-form-urlencoded", "Bearer secret", url.Values{"query": {long("ASK {}", 1100)}}.Encode(), 413},
		{"application/sparql-update", "Bearer secret", long("CLEAR DEFAULT", 1900), 200},
		{"application/sparql-update", "Bearer secret", long("CLEAR DEFAULT", 2100), 413},
		{"application/x-www-form-urlencoded", "Bearer secret", url.Values{"update": {long("CLEAR DEFAULT", 1900)}}.Encode(), 200},
		{"application/x-www-form-urlencoded", "", url.Values{"update": {long("CLEAR DEFAULT", 900)}}.Encode(), 401},
	} {
		r, _ := http.NewRequest("POST", srv.URL+"/sparql", strings.NewReader(c.body))
		r.Header.Set("Content-Type", c.contentType)
		r.Header.Set("Authorization", c.token)
		resp, err := srv.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != c.status {
			t.Errorf("%s %q with %d bytes: got %s %s, want %d", c.contentType, c.token, len(c.body), resp.Status, text, c.status)
		}
	}
}

func TestAnonymousClientsHaveLimitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(300),
		protocol.Options{Authorise: tokenOnly, Anonymous: protocol.Limits{Timeout: 50 * time.Millisecond, Rows: 10}})
	get := func(token, query, timeout string) (int, string) {
		r, _ := http.NewRequest("GET", srv.URL+"/sparql?"+url.Values{"query": {query}, "timeout": {timeout}}.Encode(), nil)
		r.Header.Set("Authorization", token)
		resp, err := srv.Client().Do(r)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if status, text := get("", "SELECT * { ?s ?p ?o } ORDER BY ?o", ""); status == 200 && strings.HasSuffix(strings.TrimSpace(text), "}") {
		t.Errorf("rows: a whole answer: %s", text)
	}
	if status, _ := get("Bearer secret", "SELECT * { ?s ?p ?o }", ""); status != 200 {
		t.Errorf("rows with the token: %d", status)
	}
	const endless = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o . FILTER (?c + ?f + ?i < ?l + ?o) }"
	if status, text := get("", endless, "600"); status != 503 || !strings.Contains(text, "50ms") {
		t.Errorf("time: %d %s", status, text)
	}
	if status, text := get("Bearer secret", endless, "0.1"); status != 503 || !strings.Contains(text, "100ms") {
		t.Errorf("time with the token: %d %s", status, text)
	}
}

func TestAnUnknownFunctionIsAWarningOrAnError(t *testing.T) {
	t.Parallel()
	srv := serve(t, numbers(1), protocol.Options{})
	params := url.Values{"query": {"SELECT (<http://f.example/ü>(1) AS ?x) {}"}}
	resp, _ := get(t, srv, params, "")
	if got := resp.Header.Get(protocol.WarningHeader); resp.StatusCode != 200 || !strings.Contains(got, "<http://f.example/?>") {
		t.Errorf("%s, %q", resp.Status, got)
	}
	params.Set("strict", "1")
	if resp, body := get(t, srv, params, ""); resp.StatusCode != 400 || !strings.Contains(body, "http://f.example/ü") {
		t.Errorf("%s %s", resp.Status, body)
	}
}
