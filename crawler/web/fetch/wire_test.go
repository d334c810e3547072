package fetch

import (
	"net"
	"testing"
)

// hasty is a connection whose response is read, and recorded, before Write returns.
type hasty struct {
	net.Conn
	answered func()
}

func (c hasty) Write(p []byte) (int, error) { c.answered(); return len(p), nil }

func TestARequestIsRecordedIfTheResponseIsFaster(t *testing.T) {
	t.Parallel()
	ex, wire := &Exchange{}, &capture{}
	conn := &wireConn{Conn: hasty{answered: func() {
		wire.received([]byte("HTTP/1.1 200 OK\r\n\r\n"))
		wire.finish(ex, Hop{}, "")
	}}}
	conn.attach(wire)
	const request = "GET / HTTP/1.1\r\n\r\n"
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Fatal(err)
	}
	if len(ex.Hops) != 1 || string(ex.Hops[0].Request) != request {
		t.Errorf("%+v", ex.Hops)
	}
}
