package kv

import (
	"reflect"
	"time"

	badger "github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"
)

// buffers gives back the memory in which Badger has built tables. A buffer doubles as it is filled, the one for a
// memory table up to four times the size of that, and Badger keeps eight for the next tables. Each of them meets a
// memory table sooner or later, so all eight become as large, and Badger frees one in two seconds only while no table
// is built, which is never during a crawl.
type buffers struct {
	pool *z.AllocatorPool
	stop chan struct{}
	done chan struct{}
}

const (
	trimEvery  = 2 * time.Second
	pooled     = 8        // buffers that Badger keeps at most
	keptBuffer = 16 << 20 // bytes of a buffer that stays: enough for a table that a compaction writes
	keptSpare  = 3        // of those
	noBuffer   = 512      // bytes of the buffer that an empty pool makes when it is asked for one without room
)

// trimBuffers begins to trim the buffers of a database. It returns nil if this Badger keeps them elsewhere; then they
// stay.
func trimBuffers(b *badger.DB) *buffers {
	field := reflect.ValueOf(b).Elem().FieldByName("allocPool") // Badger has no other way to it
	if !field.IsValid() || field.Type() != reflect.TypeFor[*z.AllocatorPool]() || field.IsNil() {
		return nil
	}
	t := &buffers{pool: (*z.AllocatorPool)(field.UnsafePointer()), stop: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

func (t *buffers) run() {
	defer close(t.done)
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
			t.trim()
		}
	}
}

// trim releases the buffers that are large or many, and at least one, so that none are left soon after the last table
// was built. What it takes from the pool and keeps goes back at the end, so that it meets each buffer once.
func (t *buffers) trim() {
	var keep []*z.Allocator
	released := false
	for range pooled {
		a := t.pool.Get(0, "trim")
		if a.Allocated() <= noBuffer { // the pool is empty
			a.Release()
			break
		}
		if len(keep) == keptSpare || a.Allocated() > keptBuffer {
			a.Release()
			released = true
			continue
		}
		keep = append(keep, a)
	}
	for i, a := range keep {
		if i == 0 && !released {
			a.Release()
			continue
		}
		t.pool.Return(a)
	}
}

// close ends trimming. It must be called before Badger is closed, since that closes the pool.
func (t *buffers) close() {
	if t != nil {
		close(t.stop)
		<-t.done
	}
}
