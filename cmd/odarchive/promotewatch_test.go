package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
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

// An order counts while its command waits, and for the backup of the server.
func TestAnOrderDoesNotOutliveItsOccasion(t *testing.T) {
	t.Parallel()
	c := &cli{cfg: config.Defaults(), log: slog.New(slog.DiscardHandler)}
	c.cfg.Data, c.cfg.Backup.To = t.TempDir(), "file:///backup"
	given := order{Backup: "file:///backup", Epoch: 3}
	if err := c.giveOrder(given); err != nil {
		t.Fatal(err)
	}
	if o, ok, err := c.readOrder(); err != nil || !ok || o != given {
		t.Fatalf("%+v, %v, %v", o, ok, err)
	}
	for text, why := range map[string]string{"": "another version", `{"epoch":3}`: "another version",
		`{"backup":"file:///other"}`: "same --backup-to"} {
		if err := os.WriteFile(c.orderName(""), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := c.readOrder(); !ok || err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, %v", text, ok, err)
		}
	}
	for _, age := range []time.Duration{time.Minute, -time.Minute} {
		if err := c.giveOrder(given); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(c.orderName(""), at, at); err != nil {
			t.Fatal(err)
		}
		if _, ok, _ := c.readOrder(); ok {
			t.Errorf("one of %v ago is obeyed", age)
		}
		if _, err := os.Stat(c.orderName("")); err == nil {
			t.Error("it is still there")
		}
	}
	// What was said of an earlier order is not said of the next one.
	if err := os.WriteFile(c.orderName(failedSuffix), []byte("the object store was away"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := c.giveOrder(given); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.orderName(failedSuffix)); err == nil {
		t.Error("the answer to an earlier order is there")
	}
}

// The watch of a follower survives what goes wrong in it.
func TestAFollowerGoesOnWatchingAfterAnError(t *testing.T) {
	t.Parallel()
	c := &cli{cfg: config.Defaults(), log: slog.New(slog.DiscardHandler)}
	c.cfg.Data, c.cfg.Backup.To = t.TempDir(), "file:///proc/none" // cannot be opened
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool, 1)
	go func() {
		_, ok := c.awaitOccasion(ctx)
		ended <- ok
	}()
	select {
	case <-ended:
		t.Fatal("it has ended")
	case <-time.After(200 * time.Millisecond):
	}
	stop()
	if <-ended {
		t.Error("it has become the writer")
	}
}
