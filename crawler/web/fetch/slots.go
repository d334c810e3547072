package fetch

import (
	"context"
	"net"
	"sync"
	"time"
)

// Where few descriptors are allowed, few connections are opened at a time, since the archive's files need descriptors
// too.
const (
	manyDescriptors = 1024 // with so many or more, connections are not limited
	leastConns      = 4
	closeIdleEvery  = 50 * time.Millisecond // nothing signals that a connection has become idle
)

// connsFor returns the maximum number of connections for a limit of descriptors, 0 for no maximum.
func connsFor(descriptors uint64) int {
	if descriptors == 0 || descriptors >= manyDescriptors {
		return 0
	}
	return max(leastConns, int(descriptors/4))
}

// slots is a semaphore for open connections. nil does not limit them.
type slots chan struct{}

// acquire waits for a free slot. While there is none, it calls closeIdle, which closes unused connections.
func (s slots) acquire(ctx context.Context, closeIdle func()) error {
	if s == nil {
		return nil
	}
	for {
		select {
		case s <- struct{}{}:
			return nil
		default:
			closeIdle()
		}
		timer := time.NewTimer(closeIdleEvery)
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

// release releases a slot.
func (s slots) release() {
	if s != nil {
		<-s
	}
}

// heldConn is a connection that calls leave, once, when it is closed.
type heldConn struct {
	net.Conn
	leave func()
}

func hold(conn net.Conn, leave func()) net.Conn {
	return &heldConn{Conn: conn, leave: sync.OnceFunc(leave)}
}

func (c *heldConn) Close() error {
	defer c.leave()
	return c.Conn.Close()
}
