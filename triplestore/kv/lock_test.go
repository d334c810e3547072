//go:build unix

package kv_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"odarchive/triplestore/kv"
)

func TestAClosedDatabaseOpensAgainWhileAChildHoldsItsFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	// A forked child has another descriptor of the same open file until it execs.
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("there is no /proc/self/fd here")
	}
	held := 0
	for _, e := range fds {
		if name, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && (name == dir || filepath.Dir(name) == dir) {
			fd, err := strconv.Atoi(e.Name())
			if err != nil {
				t.Fatal(err)
			}
			twin, err := syscall.Dup(fd)
			if err != nil {
				t.Fatal(err)
			}
			defer syscall.Close(twin)
			held++
		}
	}
	if held == 0 {
		t.Skip("the lock's file was not found")
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhoHoldsADatabaseIsSaidAlsoWhereTheFileOfItsOwnerIsEmptyOrHeldALongerNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	owner := filepath.Join(dir, "OWNER")
	if err := os.WriteFile(owner, []byte("12345678901234567890\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := kv.Open(dir, kv.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	me := strconv.Itoa(os.Getpid())
	if text, err := os.ReadFile(owner); err != nil || string(text) != me+"\n" {
		t.Errorf("the file has %q, %v", text, err)
	}
	for text, want := range map[string]string{me + "\n90\n": ": process " + me, "": ": another process"} {
		if err := os.WriteFile(owner, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := kv.Held(dir); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("a file with %q: %v", text, err)
		}
	}
}
