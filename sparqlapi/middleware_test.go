package sparqlapi_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi"
)

// sayVersion answers requests for any version with its handler.
type sayVersion struct {
	fakeFiles
	http.Handler
}

func (s sayVersion) Version(w http.ResponseWriter, r *http.Request, _ string) error {
	s.ServeHTTP(w, r)
	return nil
}

func TestGeneratedTextIsPackedAndArchivedBytesAreNot(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("SELECT * WHERE { ?s ?p ?o }\n", 200)
	h, a := server(t, func(o *sparqlapi.Options) {
		say := func(contentType string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", contentType)
				w.Header().Set("ETag", `"x"`)
				io.WriteString(w, long)
			})
		}
		o.SPARQL, o.Versions, o.CDX = say("application/sparql-results+json"), sayVersion{Handler: say("text/csv")}, say("application/zip")
	})
	for _, c := range []struct {
		path, accept, want string
	}{
		{"/sparql", "gzip", "gzip"}, {"/sparql", "br, gzip;q=0.5", "gzip"}, {"/sparql", "*", "gzip"}, {"/sparql", "gzip;q=0", ""},
		{"/sparql", "br", ""}, {"/sparql", "", ""},
		{"/get/file/id/" + a.resources[0].ID + "_0", "gzip", ""}, {"/cdx", "gzip", ""}, {"/healthz", "gzip", ""},
	} {
		res := ask(h, "GET", c.path, "", "Accept-Encoding", c.accept)
		if got := res.Header.Get("Content-Encoding"); got != c.want {
			t.Errorf("%s with %q: Content-Encoding %q", c.path, c.accept, got)
			continue
		}
		if c.want == "" {
			continue
		}
		z, err := gzip.NewReader(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || string(plain) != long {
			t.Errorf("%s: unpacks to %d bytes, %v", c.path, len(plain), err)
		}
		if tag := res.Header.Get("ETag"); tag != `W/"x"` {
			t.Errorf("%s: the packed form has the tag %s", c.path, tag)
		}
	}
}

func TestAFlushedPieceArrivesBeforeTheAnswerEnds(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.SPARQL = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			io.WriteString(w, "first\n")
			http.NewResponseController(w).Flush()
			<-release
			io.WriteString(w, "last\n")
		})
	})
	s := httptest.NewServer(h)
	defer s.Close()
	res, err := s.Client().Get(s.URL + "/sparql") // the client decompresses
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	piece := make([]byte, 6)
	if _, err := io.ReadFull(res.Body, piece); err != nil || string(piece) != "first\n" {
		t.Errorf("got %q, %v", piece, err)
	}
	close(release)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "last\n" {
		t.Errorf("then %q, %v", rest, err)
	}
}

func TestAClientThatGoesAwayEndsTheHandlersContext(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.SPARQL = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			io.WriteString(w, "first\n")
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			ended <- r.Context().Err()
		})
	})
	s := httptest.NewServer(h)
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", s.URL+"/sparql", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the handler was not told")
	}
}

func TestABrokenStreamIsCutAndNotClosed(t *testing.T) {
	t.Parallel()
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.SPARQL = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/csv")
			io.WriteString(w, strings.Repeat("row\n", 5000))
			panic(http.ErrAbortHandler)
		})
	})
	s := httptest.NewServer(h)
	defer s.Close()
	res, err := s.Client().Get(s.URL + "/sparql")
	if err != nil {
		return // cut before the header: that is fine, too
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("a broken answer looks whole")
	}
}
