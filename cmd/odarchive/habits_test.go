package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestOddRequestsGetCleanAnswers sends what scanners and broken clients send. Every answer is one of HTTP with an
// expected status, and the server answers as before afterwards.
func TestOddRequestsGetCleanAnswers(t *testing.T) {
	t.Parallel()
	address := strings.TrimPrefix(start(t,
		[]string{"serve", "--data", t.TempDir(), "--no-crawl", "--listen", "127.0.0.1:0", "--token", "t0k", "--log-level", "error"}),
		"http://")
	const end = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
	for request, status := range map[string]int{
		"GET //" + end: 308, "GET //search" + end: 404, "GET /../etc/passwd" + end: 404, "GET /assets/../../x" + end: 404,
		"GET /search%2f" + end: 404, "GET /search%00" + end: 404,
		"GET /se\x00arch" + end: 400, "GET /%c0%ae%c0%ae/" + end: 404, "GET /\xc0\xae" + end: 404, "GET /%zz" + end: 400,
		"GET /a b" + end: 400, "GET /\\..\\x" + end: 404, "GET /search;x=1" + end: 404,
		"GET /search?q=%zz&%" + end: 200, "GET http://a/healthz" + end: 200, "GET http://evil.example/healthz" + end: 200,
		"OPTIONS *" + end: 200, "GET *" + end: 404, "CONNECT a:443" + end: 405,
		"GET / HTTP/1.1\r\nConnection: close\r\n\r\n": 400, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n": 400,
		"GET / HTTP/1.1\r\nHost: a b<>\r\n\r\n": 400,
		"GET /healthz HTTP/1.0\r\n\r\n":         200, "GET /\r\n\r\n": 400, "GET / HTTP/3.0\r\nHost: a\r\n\r\n": 505,
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":            405,
		"GET / HTTP/1.1\r\nHost: a\r\nX y: z\r\n\r\n": 400, "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\x00\r\n\r\n": 400,
		"POST /sparql HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n":                                       400,
		"POST /sparql HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n":                              501,
		"POST /sparql HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 0\r\nConnection: close\r\n\r\n": 417,
		// refused without the body
		"POST /post/resource HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n": 401,
		"GET / HTTP/1.1\r\nHost: a\r\nX: " + strings.Repeat("a", 2<<20) + "\r\n\r\n":                           431,
		"GET /" + strings.Repeat("a", 2<<20) + end:                                                             431,
		"GET / HTTP/1.1\r\nHost: a\r\n" + strings.Repeat("X: y\r\n", 300_000) + "\r\n":                         431,
		"BREW /" + end: 405, "get /" + end: 405, "GET /healthz HTTP/1.1\nHost: a\nConnection: close\n\n": 200,
		strings.Repeat("\x00\xff", 100) + "\r\n\r\n": 400,
		"GET /debug/pprof/" + end:                    401, "GET /debug/pprof/cmdline" + end: 401,
	} {
		answer, err := exchange(address, request)
		if err != nil {
			t.Errorf("%.60q: %v", request, err)
			continue
		}
		if answer.StatusCode != status {
			t.Errorf("%.60q: %s, want %d", request, answer.Status, status)
		}
		if s := answer.StatusCode; (s == http.StatusServiceUnavailable || s == http.StatusTooManyRequests) &&
			answer.Header.Get("Retry-After") == "" {
			t.Errorf("%.60q: no Retry-After", request)
		}
	}

	conn, err := net.Dial("tcp", address) // three requests at once, the second with a body that it announces
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn,
		"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nPOST /sparql HTTP/1.1\r\nHost: a\r\nContent-Type: "+
			"application/sparql-query\r\nContent-Length: 6\r\n\r\nASK {}HEAD /readyz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	reader := bufio.NewReader(conn)
	for i, method := range []string{"GET", "POST", "HEAD"} {
		answer, err := http.ReadResponse(reader, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("pipelined request %d: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 200 {
			t.Errorf("pipelined request %d: %s, %v", i, answer.Status, err)
		}
	}

	for range 300 { // that say nothing more
		idle, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer idle.Close()
		fmt.Fprint(idle, "GET / HTTP/1.1\r\nHost: a\r\nX: ")
	}
	if answer, err := exchange(address, "GET /healthz"+end); err != nil || answer.StatusCode != 200 {
		t.Errorf("beside slow clients: %v, %v", answer, err)
	}
}

// exchange sends bytes and returns the answer.
func exchange(address, request string) (*http.Response, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	go io.Copy(conn, strings.NewReader(request)) // fails where the server answers before it has read all
	method, _, _ := strings.Cut(request, " ")
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode < 400 && err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}
