// This is a cache of a bounded total cost that evicts the least recently used values. It is sharded and safe for
// concurrent use.

package segments

import "sync"

const shards = 16

// Cache maps numbers to values.
type Cache[V any] struct{ shards [shards]shard[V] }

type shard[V any] struct {
	mu    sync.Mutex
	max   int64
	cost  int64
	byKey map[uint64]*entry[V]
	ring  entry[V] // ring.next is the entry used last
}

type entry[V any] struct {
	key        uint64
	val        V
	cost       int64
	prev, next *entry[V]
}

// NewCache returns a cache that holds values of a total cost of about max.
func NewCache[V any](max int64) *Cache[V] {
	c := &Cache[V]{}
	for i := range c.shards {
		s := &c.shards[i]
		s.max = max / shards
		s.byKey = map[uint64]*entry[V]{}
		s.ring.prev, s.ring.next = &s.ring, &s.ring
	}
	return c
}

func (c *Cache[V]) shard(key uint64) *shard[V] { return &c.shards[key*0x9E3779B97F4A7C15>>60] }

// Get returns the value of a key.
func (c *Cache[V]) Get(key uint64) (v V, ok bool) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byKey[key]
	if !ok {
		return v, false
	}
	e.unlink()
	s.front(e)
	return e.val, true
}

// Put stores a value and replaces any earlier one of the key. A value that costs more than a shard holds is not stored.
func (c *Cache[V]) Put(key uint64, v V, cost int64) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
	if cost > s.max {
		return
	}
	e := &entry[V]{key: key, val: v, cost: cost}
	s.byKey[key] = e
	s.cost += cost
	s.front(e)
	for s.cost > s.max {
		s.remove(s.ring.prev)
	}
}

// Delete removes the value of a key, if there is one.
func (c *Cache[V]) Delete(key uint64) {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.byKey[key]; ok {
		s.remove(e)
	}
}

// Room reports whether a value could be stored without evicting another.
func (c *Cache[V]) Room(key uint64, cost int64) bool {
	s := c.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cost+cost <= s.max
}

func (s *shard[V]) front(e *entry[V]) {
	e.prev, e.next = &s.ring, s.ring.next
	e.prev.next, e.next.prev = e, e
}

func (s *shard[V]) remove(e *entry[V]) {
	e.unlink()
	delete(s.byKey, e.key)
	s.cost -= e.cost
}

func (e *entry[V]) unlink() { e.prev.next, e.next.prev = e.next, e.prev }
