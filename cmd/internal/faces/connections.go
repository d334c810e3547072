package faces

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"time"
)

// connections bounds how many connections are open, so that clients leave file descriptors to the archive. The one that
// has been idle for longest makes room for a new one, as clients expect of idle connections; without an idle one, the
// new client is asked to come later.
type connections struct {
	max int

	mu   sync.Mutex // guards what follows
	open map[net.Conn]*list.Element
	idle list.List // of net.Conn, the longest idle first
}

func newConnections(max int) *connections {
	return &connections{max: max, open: map[net.Conn]*list.Element{}}
}

// state is http.Server.ConnState.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if conn.LocalAddr().Network() == "unix" {
		return // a proxy, which has limits of its own, or the archive's user
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[conn]; at != nil {
		c.idle.Remove(at)
		c.open[conn] = nil
	}
	switch state {
	case http.StateNew:
		if len(c.open) >= c.max && !c.closeIdle() {
			refuse(conn)
			return
		}
		c.open[conn] = nil
	case http.StateIdle:
		if _, counted := c.open[conn]; counted {
			c.open[conn] = c.idle.PushBack(conn)
		}
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// closeIdle closes the connection that has been idle for longest. It returns false if none is idle.
func (c *connections) closeIdle() bool {
	oldest := c.idle.Front()
	if oldest == nil {
		return false
	}
	conn := c.idle.Remove(oldest).(net.Conn)
	delete(c.open, conn)
	conn.Close() // its goroutine notices
	return true
}

// refuse closes a new connection, with an answer if that needs no handshake.
func refuse(conn net.Conn) {
	if _, encrypted := conn.(*tls.Conn); !encrypted && conn.SetWriteDeadline(time.Now().Add(time.Second)) == nil {
		_, _ = conn.Write([]byte("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 10\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	}
	conn.Close()
}
