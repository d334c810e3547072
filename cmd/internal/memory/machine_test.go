package memory

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestChildrenShareWhatTheServerLeaves(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		available int64
		n         int
		want      int64
	}{
		{1 << 30, 3, 188 << 20}, {1 << 30, 5, (624<<20)/5 - 20<<20}, {512 << 20, 3, minChild}, {64 << 30, 3, maxChild}, {0, 3, otherwise},
		{2 << 30, 0, maxChild},
	} {
		if got := forChild(test.available, test.n); got != test.want {
			t.Errorf("%d of %d MiB: %d MiB, want %d", test.n, test.available>>20, got>>20, test.want>>20)
		}
	}
}

func TestTheLimitsOfControlGroupsAreFound(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("memory.max", "5000")
	write("a/memory.max", "3000")
	write("a/b/memory.max", "max")
	write("memory/c/memory.limit_in_bytes", "4000")
	write("memory/memory.limit_in_bytes", "9223372036854771712")
	got := limits(root, "0::/a/b\n5:memory:/c\n4:cpu:/a\n")
	if want := []int64{5000, 3000, 4000}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := limits(root, ""); !slices.Equal(got, []int64{5000}) {
		t.Errorf("of a container: %v", got)
	}
}
