package replicate

import (
	"sync"

	"odarchive/triplestore/kv"
)

// maxCursors is the number of open cursors, one a replica.
const maxCursors = 32

// cursors keeps the reader of the log of each replica open between its requests, so that none begins by reading up to a
// position. The zero value is ready for use.
type cursors struct {
	mu   sync.Mutex // guards open
	open []named    // the latest last
}

type named struct {
	name string
	at   *kv.Reader
}

// take returns a reader behind a position: the one that the replica left there, or a new one.
func (c *cursors) take(db *kv.DB, name string, at kv.Position) (*kv.Reader, error) {
	c.mu.Lock()
	for i, n := range c.open {
		if n.name == name {
			c.open = append(c.open[:i:i], c.open[i+1:]...)
			if n.at.Position() == at {
				c.mu.Unlock()
				return n.at, nil
			}
			n.at.Close()
			break
		}
	}
	c.mu.Unlock()
	return db.ReadFrom(at)
}

// put keeps a reader for the next request.
func (c *cursors) put(name string, at *kv.Reader) {
	if name == "" {
		at.Close()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = append(c.open, named{name, at})
	if len(c.open) > maxCursors {
		c.open[0].at.Close()
		c.open = c.open[1:]
	}
}

// Close closes all readers.
func (a *API) Close() error {
	c := &a.cursors
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.open {
		n.at.Close()
	}
	c.open = nil
	return nil
}
