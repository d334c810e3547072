package portalwatch

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"odarchive/crawler/harvest/portaltest"
)

// endless is an endpoint that generates a portal with n datasets of three distributions each.
type endless struct{ n int }

var (
	behind = regexp.MustCompile(`STR\(\?thing\) > "([^"]*)"`)
	named  = regexp.MustCompile(`<http://p\.example/d/(\d+)>`)
)

func (e endless) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	uri := func(s string) string { return fmt.Sprintf(`{"type":"uri","value":%q}`, s) }
	var rows []string
	switch {
	case strings.Contains(query, "GRAPH ?thing"):
		if strings.Contains(query, `> "")`) {
			rows = append(rows, `{"thing":`+uri(registry+"/2647")+`}`)
		}
	case strings.Contains(query, "?dataset"):
		if strings.Contains(query, `> "")`) {
			rows = append(rows, `{"thing":`+uri("http://p.example/")+`}`)
		}
	case strings.Contains(query, "<"+registry+">"), strings.Contains(query, "NOT EXISTS"): // nothing
	case strings.Contains(query, "ORDER BY STR(?thing)"):
		start := 0
		if m := behind.FindStringSubmatch(query); m != nil && m[1] != "" {
			last, _ := strconv.Atoi(m[1][strings.LastIndexByte(m[1], '/')+1:])
			start = last + 1
		}
		for i := start; i < min(start+5000, e.n); i++ {
			rows = append(rows, `{"thing":`+uri(fmt.Sprintf("http://p.example/d/%07d", i))+`}`)
		}
	case strings.Contains(query, "VALUES ?s"):
		for _, m := range named.FindAllStringSubmatch(query, -1) {
			d := uri("http://p.example/d/" + m[1])
			rows = append(rows,
				fmt.Sprintf(`{"s":%s,"p":%s,"o":{"type":"literal","value":"Dataset %s"}}`, d, uri("http://purl.org/dc/terms/title"), m[1]))
			for j := range 3 {
				node := fmt.Sprintf(`{"type":"bnode","value":"b%s-%d"}`, m[1], j)
				rows = append(rows,
					fmt.Sprintf(`{"s":%s,"p":%s,"o":%s,"p2":%s,"o2":%s}`, d, uri("http://www.w3.org/ns/dcat#distribution"), node,
						uri("http://www.w3.org/ns/dcat#accessURL"), uri(fmt.Sprintf("http://f.example/%s/%d.csv", m[1], j))))
			}
		}
	}
	w.Header().Set("Content-Type", "application/sparql-results+json")
	fmt.Fprintf(w, `{"head":{"vars":[]},"results":{"bindings":[%s]}}`, strings.Join(rows, ","))
}

// TestMemoryDoesNotGrowWithThePortal reads as many distributions as ODARCHIVE_LARGE says. 300000 take a few minutes.
func TestMemoryDoesNotGrowWithThePortal(t *testing.T) {
	files := 9_000
	if n, err := strconv.Atoi(os.Getenv("ODARCHIVE_LARGE")); err == nil {
		files = n
	}
	sink := &counting{}
	s := Source{Endpoint: "http://w.example/sparql", HTTP: &portaltest.Web{Handler: endless{files / 3}}}
	if err := s.Harvest(t.Context(), "", sink); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d datasets, %d files, at most %d KiB in use", sink.datasets, sink.files, sink.heap>>10)
	if sink.files != files/3*3 || sink.heap > 64<<20 {
		t.Errorf("%d files, %d bytes in use", sink.files, sink.heap)
	}
}
