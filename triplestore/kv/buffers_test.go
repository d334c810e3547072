package kv

import (
	"testing"

	"github.com/dgraph-io/ristretto/v2/z"
)

// sizesIn returns the sizes of the buffers in a pool, which is as before afterwards.
func sizesIn(pool *z.AllocatorPool) (sizes []uint64) {
	var all []*z.Allocator
	for range pooled {
		a := pool.Get(0, "test")
		if a.Allocated() <= noBuffer {
			a.Release()
			break
		}
		all, sizes = append(all, a), append(sizes, a.Allocated())
	}
	for _, a := range all {
		pool.Return(a)
	}
	return sizes
}

func TestLargeBuffersGoAndOthersFollowOneByOne(t *testing.T) {
	t.Parallel()
	pool := z.NewAllocatorPool(pooled)
	defer pool.Release()
	trimmed := &buffers{pool: pool}
	for range 4 {
		pool.Return(z.NewAllocator(64<<20, "large"))
		pool.Return(z.NewAllocator(4<<20, "small"))
	}
	for _, want := range []int{3, 2, 1, 0, 0} {
		trimmed.trim()
		sizes := sizesIn(pool)
		if len(sizes) != want {
			t.Fatalf("buffers of %d bytes are left, want %d of 4 MiB", sizes, want)
		}
		for _, size := range sizes {
			if size > keptBuffer {
				t.Errorf("a buffer of %d bytes is left", size)
			}
		}
	}
}

// TestTheBuffersOfBadgerAreFound fails if a new version of Badger keeps them elsewhere.
func TestTheBuffersOfBadgerAreFound(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), Options{NoSync: true, MemTable: 8 << 20})
	spare := db.cache.Load().spare
	if spare == nil {
		t.Fatal("this Badger keeps its buffers elsewhere")
	}
	value := make([]byte, 1<<10)
	for i := range 20 { // 20 MB, so two memory tables become tables
		putMany(t, db, i, 1000, value)
	}
	for range pooled + keptSpare {
		spare.trim()
	}
	if sizes := sizesIn(spare.pool); len(sizes) > 1 { // one may have been returned just now
		t.Errorf("buffers of %d bytes are left", sizes)
	}
}

// putMany writes n entries in one transaction, the i-th of its kind.
func putMany(t *testing.T, db *DB, i, n int, value []byte) {
	t.Helper()
	err := db.Update(t.Context(), func(txn *Txn) error {
		for j := range n {
			if err := txn.Set(SpaceTest, []byte{byte(i), byte(j >> 8), byte(j)}, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
