package segments

import "testing"

func TestTheLeastRecentlyUsedGivesWay(t *testing.T) {
	t.Parallel()
	c := NewCache[int](shards * 10)
	var same []uint64 // keys of one shard
	for k := uint64(0); len(same) < 4; k++ {
		if c.shard(k) == c.shard(0) {
			same = append(same, k)
		}
	}
	for i, k := range same[:3] {
		c.Put(k, i, 3)
	}
	c.Get(same[0])
	if c.Room(same[3], 3) || !c.Room(same[3], 1) {
		t.Error("room")
	}
	c.Put(same[3], 3, 3)
	for i, want := range []bool{true, false, true, true} {
		if v, ok := c.Get(same[i]); ok != want || ok && v != i {
			t.Errorf("key %d: %d %v", i, v, ok)
		}
	}
	c.Put(same[0], 7, 1)
	if v, _ := c.Get(same[0]); v != 7 {
		t.Errorf("replaced value: %d", v)
	}
	c.Put(same[0], 8, 11)
	if _, ok := c.Get(same[0]); ok {
		t.Error("a value larger than the shard was kept")
	}
}
