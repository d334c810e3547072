package sparqlapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// postTo sends a body of n bytes, whose length is not stated, to a handler that reads all of it.
func postTo(h http.Handler, client, path string, n int, who access.Caller) (status int) {
	r := httptest.NewRequest("POST", path, io.LimitReader(endless{}, int64(n)))
	r.ContentLength = -1
	ctx := access.WithClient(access.With(context.Background(), who), client)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r.WithContext(ctx))
	return rec.Code
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestBodiesWithoutARightAreShortByDefault(t *testing.T) {
	t.Parallel()
	reads := boundBodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			long, _ := errors.AsType[*http.MaxBytesError](err)
			http.Error(w, fmt.Sprint(long, err), http.StatusRequestEntityTooLarge)
		}
	}))
	holder := access.Caller{Name: "a", Rights: access.Read}
	for _, c := range []struct {
		path string
		n    int
		who  access.Caller
		want int
	}{
		{"/", smallBody, access.Caller{}, 200},
		{"/", smallBody + 1, access.Caller{}, 413},
		{"/a/path/of/tomorrow", 1 << 20, access.Caller{}, 413},
		{"/sign-in", 1 << 20, access.Caller{}, 413},
		{"/api/v1/sparql/x", 1 << 20, access.Caller{}, 413},
		{"/commandsx", 1 << 20, access.Caller{}, 413},
		{"/get/files", 1 << 20, access.Caller{}, 200},
		{"/api/v1/get/files", largeBody + 1, access.Caller{}, 413},
		{"/commands/get", 1 << 20, access.Caller{}, 200}, // a stream
		{"/sparql", 1 << 20, access.Caller{}, 200},       // with limits of its own
		{"/post/resources", 1 << 20, holder, 200},
	} {
		if got := postTo(reads, "x", c.path, c.n, c.who); got != c.want {
			t.Errorf("%s, %d bytes of %q: %d, not %d", c.path, c.n, c.who.Name, got, c.want)
		}
	}
	r := httptest.NewRequest("POST", "/", nil)
	r.Body, r.ContentLength = io.NopCloser(endless{}), 1<<40
	rec := httptest.NewRecorder()
	if reads.ServeHTTP(rec, r); rec.Code != 413 || rec.Header().Get("Connection") != "close" {
		t.Errorf("a body that says that it is long: %d", rec.Code)
	}
}

// Many requests with long questions, of many clients, share an amount of memory.
func TestLongBodiesShareTheirMemory(t *testing.T) {
	t.Parallel()
	in, out := make(chan bool), make(chan bool)
	holds := boundBodies(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			w.WriteHeader(503)
			in <- true
			return
		}
		in <- true
		<-out
	}))
	got := make(chan int, 20)
	for i := range 20 {
		go func() { got <- postTo(holds, fmt.Sprint(i), "/get/files", 12<<20, access.Caller{}) }()
		<-in
	}
	close(out)
	ok := 0
	for range 20 {
		if <-got == 200 {
			ok++
		}
	}
	if ok == 0 || ok*12<<20 > heldBodies {
		t.Errorf("%d bodies of 12 MiB were held at a time", ok)
	}
	if got := postTo(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		go func() { <-in }()
		holds.ServeHTTP(w, r)
	}), "x", "/get/files", 12<<20, access.Caller{}); got != 200 {
		t.Errorf("after them: %d", got)
	}
}

func TestAMalformedBodyIsTheClientsFault(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(boundBodies(problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		_, err := io.ReadAll(r.Body)
		return err
	})))
	defer server.Close()
	for _, body := range []string{"6;a\n=b\r\nabcdef\r\n0\r\n\r\n", "zz\r\n", "-1\r\nx\r\n", "ffffffffffffffffff\r\nx",
		"5\r\nabcdefg\r\n0\r\n\r\n", strings.Repeat("1", 5000), "5;" + strings.Repeat("x", 5000)} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%s", body)
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%.20q: %v, %+v", body, err, res)
		}
	}
}
