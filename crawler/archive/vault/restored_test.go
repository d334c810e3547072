package vault

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
)

// An archive is restored with all that the backup has, and the writer goes on. Who then takes over with the restored directory would drop what
// was acknowledged since; who has restored a moment wants to.
func TestARestoredArchiveThatTheWriterHasOvertakenDoesNotReplaceIt(t *testing.T) {
	t.Parallel()
	b := new(buckettest.Memory)
	a := open4(t, filepath.Join(t.TempDir(), "data"))
	if err := a.keep(b, Options{Wait: true}); err != nil {
		t.Fatal(err)
	}
	a.waitWhole()
	for n := range 3 {
		a.mustPut(n)
	}
	restore := func(at time.Time) *archive {
		t.Helper()
		h, err := Open(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		target, err := h.At(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), "restored")
		if err := h.Restore(t.Context(), target, dir, testLog(t), nil); err != nil {
			t.Fatal(err)
		}
		return open4(t, dir)
	}
	early, then := restore(time.Time{}), time.Now()
	time.Sleep(5 * time.Millisecond)
	a.mustPut(3)
	if err := early.keep(b, Options{Holder: "early", Take: true}); !errors.Is(err, ErrBehind) || !strings.Contains(err.Error(), "restore the backup again") {
		t.Fatalf("it takes over: %v", err)
	}
	a.mustPut(4)
	a.close()
	now := restore(time.Time{})
	if err := now.keep(b, Options{Holder: "now", Take: true, Wait: true}); err != nil {
		t.Fatal(err)
	}
	now.waitWhole()
	now.mustPut(5)
	now.close()
	moment := restore(then)
	if err := moment.keep(b, Options{Holder: "moment", Take: true, Wait: true}); err != nil {
		t.Fatalf("a moment that was chosen: %v", err)
	}
	moment.waitWhole()
	moment.mustPut(100)
}
