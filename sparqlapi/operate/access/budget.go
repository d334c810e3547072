package access

import "sync"

// Budget counts bytes that clients hold. Its methods may be called concurrently.
type Budget struct {
	total, perClient int64

	mu      sync.Mutex // guards what follows
	used    int64
	clients map[string]int64
}

// NewBudget returns a Budget of total bytes, of which one client may hold perClient.
func NewBudget(total, perClient int64) *Budget {
	return &Budget{total: total, perClient: perClient, clients: map[string]int64{}}
}

// Reserve counts n more bytes for a client. It returns *Full, and counts nothing, if they are not to be had.
func (b *Budget) Reserve(client string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.clients[client]+n > b.perClient:
		return &Full{Own: true}
	case b.used+n > b.total:
		return &Full{}
	}
	b.used += n
	b.clients[client] += n
	return nil
}

// Release gives bytes of a client back.
func (b *Budget) Release(client string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.clients[client] -= n; b.clients[client] <= 0 {
		delete(b.clients, client)
	}
}

// Used returns the bytes that all clients hold.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Crowded reports whether more than half of the bytes are used.
func (b *Budget) Crowded() bool { return b.Used() > b.total/2 }
