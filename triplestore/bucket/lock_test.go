//go:build unix

package bucket

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAProcessThatIsStoppedWithTheLockOfADirectoryIsNotWaitedForWithoutEnd(t *testing.T) {
	t.Parallel()
	b, err := openDir(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := b.(*dir)
	d.wait = 10 * time.Millisecond
	put := func(ctx context.Context) error {
		return d.Put(ctx, "a", 1, strings.NewReader("a"), PutOptions{IfAbsent: true})
	}
	other, err := os.OpenFile(filepath.Join(d.root, ".lock"), os.O_CREATE|os.O_RDWR, 0o644) // locks are those of open files
	if err != nil {
		t.Fatal(err)
	}
	if err := lockFile(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("put: %v", err)
	}
	if err := d.Delete(t.Context(), "a"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("delete: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	d.wait = time.Hour
	if err := put(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("put of one who has gone: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := put(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
