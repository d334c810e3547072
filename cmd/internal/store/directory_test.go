package store_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
)

func TestIRIsUnderASecondBaseAreToldOf(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data = t.TempDir()
	open := func(base string, create bool) string {
		var log bytes.Buffer
		cfg.Base = base
		n, err := store.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), store.Options{Create: create})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	for _, c := range []struct {
		base   string
		create bool
		told   bool
	}{{"http://a.example/", true, false}, {"http://a.example", true, false}, {"http://b.example/", false, false},
		{"http://b.example/", true, true}} {
		if log := open(c.base, c.create); strings.Contains(log, "give --base http://a.example/") != c.told {
			t.Errorf("%+v: %s", c, log)
		}
	}
}
