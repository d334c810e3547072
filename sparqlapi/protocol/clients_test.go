package protocol_test

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/protocol"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/sparql/results"
)

// TestRequestsAsClientsSendThem replays what clients have sent to a server: SPARQLWrapper 1.8, rdflib 6.1 (SPARQLStore,
// SPARQLUpdateStore), fetch-sparql-endpoint, Comunica 3, Jena 4.5 (QueryExecutionHTTP in its three modes,
// UpdateExecutionHTTP, RDFConnection, SERVICE), and YASGUI in Chromium (@triply/yasgui 4.2, @zazuko/yasgui 4.6). The
// requests of RDF4J (SPARQLRepository), of Jena's rsparql and of an update by YASGUI are written by hand. The files in
// testdata/clients are the request line, the headers that matter, an empty line and the body. Each must get an answer
// that it can read.
func TestRequestsAsClientsSendThem(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/clients/*.http")
	if err != nil || len(files) < 95 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			srv := serve(t, numbers(3), protocol.Options{Authorise: tokenOnly})
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			head, body, _ := bytes.Cut(raw, []byte("\n\n"))
			line, fields, _ := strings.Cut(string(head)+"\n\n", "\n")
			words := strings.Fields(line)
			r, err := http.NewRequest(words[0], srv.URL+words[1], bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			header, err := textproto.NewReader(bufio.NewReader(strings.NewReader(fields))).ReadMIMEHeader()
			if err != nil {
				t.Fatal(err)
			}
			header.Del("Accept-Encoding") // the real server compresses, this one does not
			r.Header = http.Header(header)
			resp, err := srv.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			answer, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode/100 != 2 {
				t.Fatalf("%s: %v\n%s", resp.Status, err, answer)
			}
			if strings.Contains(file, "update") {
				return
			}
			kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
			_, rows := results.ByName(kind)
			_, graph := rdfio.ByMediaType(kind)
			if !rows && !graph || len(answer) == 0 && !strings.Contains(file, "describe") {
				t.Errorf("answered with %q and %d bytes", kind, len(answer))
			}
			if accept := header.Get("Accept"); !strings.Contains(accept, kind) && !strings.Contains(accept, "*/*") &&
				!strings.Contains(file, "rdflib") {
				t.Errorf("answered with %s to Accept: %s", kind, accept)
			}
		})
	}
}

func TestTheServiceDescriptionNamesExtensionsAndLimits(t *testing.T) {
	t.Parallel()
	engine := sparql.New(sparql.Options{Prefixes: map[string]string{"dct": "http://purl.org/dc/terms/"}})
	srv := serve(t, numbers(1),
		protocol.Options{Engine: engine, MaxQuery: 1234, Anonymous: protocol.Limits{Timeout: 5 * time.Second, Rows: 99}})
	_, body := get(t, srv, nil, "text/turtle")
	for _, want := range []string{"sd:languageExtension", "sh:declare", `"dct"`, `"http://purl.org/dc/terms/"^^xsd:anyURI`,
		"need not be declared", "sparql12-query", "1234 bytes", "compute for 5s", "99 rows"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing in\n%s", want, body)
		}
	}
}
