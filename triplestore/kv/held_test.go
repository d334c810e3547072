package kv

import (
	"errors"
	"os"
	"testing"
)

func TestHeldTellsWhetherAnotherProcessHasTheDatabaseAndMakesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Held(dir); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("made %v, %v", left, err)
	}
	db, err := Open(dir, Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	if ownLock {
		if err := Held(dir); !errors.Is(err, ErrLocked) {
			t.Errorf("while it is open: %v", err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Held(dir); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
