package ui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheScriptsPassTheirOwnTests runs the tests beside the scripts (src/**/*.test.js) with Node, which needs nothing
// else.
func TestTheScriptsPassTheirOwnTests(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("ODARCHIVE_BROWSER") == "required" {
			t.Fatal("node is not installed")
		}
		t.Skip("node is not installed")
	}
	files, err := filepath.Glob("src/*/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of scripts: %v", err)
	}
	if out, err := exec.CommandContext(t.Context(), node,
		append([]string{"--test", "--test-reporter=spec"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
