package main

import (
	"strings"
	"testing"
)

func TestAProgramBuiltWithoutGitSaysWhatTheLinkerTold(t *testing.T) {
	t.Parallel()
	unknown := build{Version: release, Go: "go1.26", Platform: "linux/arm64"}
	for stamp, want := range map[string]string{
		"":         "odarchive 1.0.0-rc.1\nbuilt with go1.26 for linux/arm64\n",
		"nonsense": "odarchive 1.0.0-rc.1\nbuilt with go1.26 for linux/arm64\n",
		"devel,,":  "odarchive 1.0.0-rc.1\nbuilt with go1.26 for linux/arm64\n",
		"v0.0.0-20261123112947-08ee420d4445+dirty,08ee,now": "odarchive 1.0.0-rc.1\nrevision 08ee of now, modified\nbuilt with go1.26 " +
			"for linux/arm64\n",
		"v1.2.3,,":   "odarchive v1.2.3\nbuilt with go1.26 for linux/arm64\n",
		"v1,abc,now": "odarchive v1\nrevision abc of now\nbuilt with go1.26 for linux/arm64\n",
		"v1.0.0+dirty,abc,2026-11-23T00:00:00Z": "odarchive v1.0.0+dirty\nrevision abc of 2026-11-23T00:00:00Z, modified\nbuilt with " +
			"go1.26 for linux/arm64\n",
	} {
		if got := unknown.told(stamp).String(); got != want {
			t.Errorf("told %q, it says %q, want %q", stamp, got, want)
		}
	}
	known := build{Version: "v2.0.0", Revision: "def"}
	if got := known.told("v1,abc,now"); got != known {
		t.Errorf("what Go knows is replaced by %+v", got)
	}
	if got := readBuild().String(); !strings.HasPrefix(got, "odarchive ") || !strings.Contains(got, "built with go") {
		t.Errorf("this program says %q", got)
	}
}
