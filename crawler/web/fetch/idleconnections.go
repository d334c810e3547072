package fetch

import "sync"

// manyConns is how many connections may be open before those without a request are closed. One to a host that speaks
// HTTP/2 takes 100 KB, and http.Transport bounds only the number of the others.
const manyConns = 512

// crowd counts open connections and says when they are too many.
type crowd struct {
	least int // unused ones are left alone up to it

	mu    sync.Mutex // guards the rest
	open  int
	limit int // the same, after the last time
}

// enter counts one more. It reports whether unused connections should be closed; then settle must follow.
func (c *crowd) enter() (crowded bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open++
	return c.open > max(c.limit, c.least)
}

// settle notes how many are left. If most were in use, the next time is when there are twice as many.
func (c *crowd) settle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = 2 * c.open
}

func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
}
