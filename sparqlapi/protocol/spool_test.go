package protocol_test

import (
	"bufio"
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
	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/sparql"
)

// slowReader sends a query and reads nothing of the answer yet.
func slowReader(t *testing.T, srv *httptest.Server, query string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET /sparql?format=tsv&query=%s HTTP/1.1\r\nHost: x\r\n\r\n", url.QueryEscape(query))
	return c
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("not so after 10 s: ", what)
}

// longRows has 300 times 300 rows of 200 bytes: 18 MB.
const longRows = "SELECT ?a ?x { ?a ?p ?o . ?b ?q ?r BIND (CONCAT('" +
	"012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901" +
	"2345678901234567890123456789012345678901234567890123456789" + "', STR(?b)) AS ?x) }"

func TestASlowReaderHoldsNoPlace(t *testing.T) {
	t.Parallel()
	for about, c := range map[string]struct{ temp, answers int64 }{
		"in a file":                  {0, 0},
		"without files":              {-1, 0},
		"without room for an answer": {0, 100 << 10},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			places := access.NewPlaces(access.GateSettings{Queries: 4, PerClient: 4, Answers: c.answers})
			srv := serve(t, numbers(300),
				protocol.Options{Places: places, Engine: sparql.New(sparql.Options{MaxTemp: c.temp, TempDir: t.TempDir()})})
			var readers []net.Conn
			for range 4 {
				readers = append(readers, slowReader(t, srv, longRows))
			}
			eventually(t, "nobody holds a place", func() bool { running, _ := places.Running(); return running == 0 })
			time.Sleep(50 * time.Millisecond)
			eventually(t, "nobody holds a place", func() bool { running, _ := places.Running(); return running == 0 })
			if _, body := get(t, srv, url.Values{"query": {"ASK {}"}}, ""); !strings.Contains(body, "true") {
				t.Error(body)
			}
			for i, r := range readers[:3] {
				resp, err := http.ReadResponse(bufio.NewReader(r), nil)
				if err != nil {
					t.Fatal(err)
				}
				lines := 0
				for s := bufio.NewScanner(resp.Body); s.Scan(); lines++ {
				}
				if rest, err := io.ReadAll(resp.Body); lines != 1+300*300 || err != nil || len(rest) > 0 {
					t.Errorf("reader %d: %d lines, %v", i, lines, err)
				}
			}
			readers[3].Close() // without having read anything
			eventually(t, "nothing is held for readers that are gone", func() bool { return places.Answers.Used() == 0 })
		})
	}
}
