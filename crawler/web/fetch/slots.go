package fetch

import (
	"context"
	"net"
	"sync"
	"time"
)

// Few connections are open at a time where few descriptors may be: an archive needs them for its own files, too.
const (
	manyDescriptors = 1024 // with as many or more, MaxConns is not limited
	leastConns      = 4
	giveUpEvery     = 50 * time.Millisecond // a connection becomes idle without a word
)

// connsFor is how many connections leave a process with so many descriptors enough for its files; 0 for no limit.
func connsFor(descriptors uint64) int {
	if descriptors == 0 || descriptors >= manyDescriptors {
		return 0
	}
	return max(leastConns, int(descriptors/4))
}

// slots bounds the open connections. nil does not.
type slots chan struct{}

// take waits for a free slot. While there is none it calls giveUp, which closes connections that nobody uses.
func (s slots) take(ctx context.Context, giveUp func()) error {
	if s == nil {
		return nil
	}
	for {
		select {
		case s <- struct{}{}:
			return nil
		default:
			giveUp()
		}
		timer := time.NewTimer(giveUpEvery)
		select {
		case s <- struct{}{}:
			timer.Stop()
			return nil
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// free gives a slot back that no connection has.
func (s slots) free() {
	if s != nil {
		<-s
	}
}

// hold gives the slot back when the connection is closed.
func (s slots) hold(conn net.Conn) net.Conn {
	if s == nil {
		return conn
	}
	return &slotConn{Conn: conn, leave: sync.OnceFunc(s.free)}
}

type slotConn struct {
	net.Conn
	leave func()
}

func (c *slotConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
