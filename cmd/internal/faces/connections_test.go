package faces

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestANewConnectionTakesThePlaceOfTheLongestIdleOne(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hold" {
			<-hold
		}
	}))
	bound := newConnections(2)
	served := make(chan struct{}, 100)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		bound.state(c, s)
		if s == http.StateIdle {
			served <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	ask := func(path string) (net.Conn, *bufio.Reader) {
		t.Helper()
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if _, err := conn.Write([]byte("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		return conn, bufio.NewReader(conn)
	}
	answer := func(r *bufio.Reader) *http.Response {
		t.Helper()
		a, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	_, first := ask("/")
	answer(first)
	<-served // it is idle
	_, second := ask("/")
	answer(second)
	<-served
	_, third := ask("/hold") // in the place of the first
	if _, err := first.ReadByte(); err == nil {
		t.Error("the first connection was not closed")
	}
	_, fourth := ask("/hold") // in the place of the second
	if _, err := second.ReadByte(); err == nil {
		t.Error("the second connection was not closed")
	}
	conn, err := net.Dial("tcp", server.Listener.Addr().String()) // no place: both work
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if a := answer(bufio.NewReader(conn)); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") == "" {
		t.Errorf("%s, %v", a.Status, a.Header)
	}
	close(hold)
	answer(third)
	answer(fourth)
}
