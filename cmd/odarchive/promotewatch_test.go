package main

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
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

func TestAnOrderThatWasLeftBehindIsNotFollowed(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := &cli{cfg: config.Config{Data: t.TempDir()}, log: slog.New(slog.NewTextHandler(&log, nil))}
	name := filepath.Join(c.cfg.Data, orderFile)
	order := func(age time.Duration) {
		t.Helper()
		at := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(name, nil, 0o600), os.Chtimes(name, at, at), c.dropOldOrder()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.dropOldOrder(); err != nil || log.Len() > 0 {
		t.Errorf("without an order: %v, %s", err, &log)
	}
	if order(time.Second); log.Len() > 0 {
		t.Errorf("a new order: %s", &log)
	}
	if _, err := os.Stat(name); err != nil {
		t.Error("a new order is removed")
	}
	if order(time.Hour); !strings.Contains(log.String(), "left behind") {
		t.Errorf("an old order: %s", &log)
	}
	if _, err := os.Stat(name); err == nil {
		t.Error("an old order stays")
	}
}
