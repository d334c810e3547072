package main

import (
	"errors"
	"testing"
	"time"
)

func TestOnlySilenceThatWasWatchedMakesAWriter(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	s := silence{after: 15 * time.Second}
	look := func(later time.Duration, sign string, err error) bool {
		at = at.Add(later)
		return s.heard(at, sign, err)
	}
	look(0, "1", nil)
	for range 7 { // 14 s
		if look(signEvery, "1", nil) {
			t.Fatal("too early")
		}
	}
	if look(signEvery, "2", nil) {
		t.Error("the writer has renewed its lease")
	}
	for range 2 {
		if look(time.Hour, "2", nil) {
			t.Error("the follower itself was stopped")
		}
	}
	for range 100 {
		if look(signEvery, "", errors.New("the object store is away")) {
			t.Fatal("nobody knows whether the writer lives")
		}
	}
	looks := 0
	for ; !look(signEvery, "2", nil); looks++ {
		if looks > 20 {
			t.Fatal("the writer is dead, and nothing happens")
		}
	}
	if looks < 3 {
		t.Errorf("%d looks after the object store came back", looks)
	}
}
