package vault

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket/buckettest"
)

// An archive is restored with all that the backup has, and the writer goes on. Who then takes over with the restored
// directory would drop what was acknowledged since; who has restored a moment wants to.
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
	if err := early.keep(b, Options{Holder: "early", Take: true}); !errors.Is(err, ErrBehind) ||
		!strings.Contains(err.Error(), "restore the backup again") {
		t.Fatalf("it takes over: %v", err)
	}
	a.mustPut(4)
	a.close()
	now, twin := restore(time.Time{}), restore(time.Time{})
	if err := twin.keep(new(buckettest.Memory), Options{Holder: "twin"}); err != nil { // a backup of its own tells nothing of the other one
		t.Fatal(err)
	}
	twin.waitWhole()
	twin.end()
	if err := now.keep(b, Options{Holder: "now", Take: true, Wait: true}); err != nil {
		t.Fatal(err)
	}
	now.waitWhole()
	now.mustPut(5)
	now.close()
	if err := twin.keep(b, Options{Holder: "twin", Take: true}); !errors.Is(err, ErrBehind) ||
		!strings.Contains(err.Error(), "another directory has begun anew") {
		t.Errorf("one that was restored, too: %v", err)
	}
	moment := restore(then)
	if err := moment.keep(b, Options{Holder: "moment", Take: true, Wait: true}); err != nil {
		t.Fatalf("a moment that was chosen: %v", err)
	}
	moment.waitWhole()
	moment.mustPut(100)
}
