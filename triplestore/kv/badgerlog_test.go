package kv

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

func TestBadgersWarningsThatNeedNobodyAreDropped(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := badgerLog{slog.New(slog.NewTextHandler(&out, nil))}
	log.Warningf("%s might be too small. Metrics: %s\n", "Block cache", "hit: 1")
	log.Warningf("Cache life expectancy (in seconds): %+v\n", 1)
	log.Warningf("While running doCompact: %v\n", "While running doCompact with {level:4}. Error: Unable to fill tables")
	log.Warningf("a file is missing: %s", "x.sst")
	log.Infof("nothing")
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "x.sst") {
		t.Errorf("logged %q", got)
	}
}
