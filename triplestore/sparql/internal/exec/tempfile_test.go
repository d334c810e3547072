package exec_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"odarchive/triplestore/sparql/internal/exec"
)

func TestATemporaryFileIsAQueueOfLimitedSize(t *testing.T) {
	t.Parallel()
	const size, limit = 1000, 1500
	space := exec.NewSpill(t.TempDir(), limit)
	f, err := space.Temp(size)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var want []byte
	next := byte(0)
	for range 20_000 {
		if p := make([]byte, r.IntN(400)); r.IntN(2) == 0 {
			for i := range p {
				p[i] = next + byte(i)
			}
			ok, err := f.Append(p)
			if err != nil || ok != (len(want)+len(p) <= size) {
				t.Fatalf("append %d to %d: %v, %v", len(p), len(want), ok, err)
			}
			if ok {
				next += byte(len(p))
				want = append(want, p...)
			}
		} else {
			n, err := f.Read(p)
			if err != nil || n == 0 && len(p) > 0 && len(want) > 0 || !bytes.Equal(p[:n], want[:n]) {
				t.Fatalf("read %d of %d: %d, %v", len(p), len(want), n, err)
			}
			want = want[n:]
		}
		if f.Len() != int64(len(want)) || space.Used() != f.Size() || f.Size() > size || f.Size() < f.Len() {
			t.Fatalf("%d in the queue, %d in the file, %d counted, want %d", f.Len(), f.Size(), space.Used(), len(want))
		}
	}
	other, err := space.Temp(size)
	if err != nil {
		t.Fatal(err)
	}
	for ok := true; ok; { // fill both
		if ok, err = f.Append(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if ok, err := other.Append(make([]byte, 600)); ok || err != nil {
		t.Errorf("more than the limit of all files: %v, %v", ok, err)
	}
	f.Close()
	f.Close()
	other.Close()
	if space.Used() != 0 {
		t.Errorf("%d bytes are left", space.Used())
	}
}
