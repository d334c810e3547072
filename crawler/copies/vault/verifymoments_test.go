package vault

import (
	"strings"
	"testing"

	"odarchive/triplestore/bucket/buckettest"
)

// The object store came back without some of the newest objects, and the writer began a history anew behind the gap.
// The archive and all moments since then can be restored. Moments before it cannot: --verify says so, and counts no
// damage.
func TestMomentsInAGapThatWasHealedAreNoDamage(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := begun(t, b, Options{Wait: true})
	for n := 1; n < 9; n++ {
		a.mustPut(n)
	}
	a.end()
	var tail []string
	for _, key := range b.Keys() {
		if strings.HasPrefix(key, tailDir) {
			tail = append(tail, key)
		}
	}
	for _, key := range tail[len(tail)-4 : len(tail)-2] {
		_ = b.Delete(t.Context(), key)
	}
	if v := verified(t, b); len(v.Faults) == 0 {
		t.Fatal("a gap in the newest history is no fault")
	}
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.mustPut(9)
	a.waitWhole()
	m := a.remember(10)
	a.close()
	restored(t, b, m)
	if v := verified(t, b); len(v.Faults) > 0 || len(v.Gaps) != 1 || !strings.Contains(v.Gaps[0], "are missing") {
		t.Errorf("%+v", v)
	}
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	// What cannot be read is damage, in whichever history.
	spoil(t, b, h.spansOf(h.branches()[0])[0].key)
	if v := verified(t, b); len(v.Faults) == 0 {
		t.Errorf("%+v", v)
	}
}

func verified(t *testing.T, b *buckettest.Memory) Verified {
	t.Helper()
	h, err := Open(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	v, err := h.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
