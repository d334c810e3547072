package fetch

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"
)

// In TestTheRestOfALongerAnswerIsNotTakenForTheNextOne, a server sends more than the Content-Length of its first
// response, so that the rest precedes its second response on the connection.
func TestTheRestOfALongerAnswerIsNotTakenForTheNextOne(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for n := range 9 {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					if n > 0 {
						io.WriteString(conn, "more than it said\r\n")
					}
					io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nhere")
				}
			}()
		}
	}()
	f := newFetcher(t, Options{AllowPrivateHosts: true, Timeouts: Timeouts{Header: time.Minute, Total: time.Minute}})
	for range 4 {
		ex := get(t, f, Request{URL: "http://" + l.Addr().String() + "/x"})
		if ex.Outcome != "" || ex.Body.Size() != 4 {
			t.Fatalf("got %s %s: %s", ex.Outcome, ex.ErrorClass, ex.Why)
		}
	}
}
