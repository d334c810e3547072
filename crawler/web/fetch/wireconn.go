package fetch

import (
	"crypto/tls"
	"net"
	"sync"
)

// wireConn is a connection that lets a capture see what is sent and received, without encryption.
type wireConn struct {
	net.Conn
	tls *tls.ConnectionState // nil without TLS

	mu  sync.Mutex
	now *capture // nil between requests
}

// attach directs the connection's bytes to a capture from now on.
func (c *wireConn) attach(to *capture) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = to
	to.mu.Lock()
	defer to.mu.Unlock()
	to.tls = c.tls
}

func (c *wireConn) current() *capture {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *wireConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if to := c.current(); to != nil && n > 0 {
		to.received(p[:n])
	}
	return n, err
}

// Write records first, because the response may come before the call returns.
func (c *wireConn) Write(p []byte) (int, error) {
	to := c.current()
	if to == nil {
		return c.Conn.Write(p)
	}
	if to.permit != nil {
		if not := to.permit(); not != nil {
			return 0, not
		}
	}
	to.sent(p)
	n, err := c.Conn.Write(p)
	if n < len(p) {
		to.unsent(len(p) - n)
	}
	return n, err
}
