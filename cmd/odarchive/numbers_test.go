package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

// Numbers of settings are checked with the other settings, and withdraw knows two statuses.
func TestEveryNumberOfACommandHasItsBounds(t *testing.T) {
	t.Parallel()
	settings := []string{"workers", "query-slots", "client-slots", "query-queue", "anonymous-rows", "retries", "backup-days", "dump-keep",
		"status"}
	bounded := 0
	for cmd := range descendants(testCLI().root()) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch kind := fmt.Sprintf("%T", f.Value); {
			case f.Value.Type() != "int" && f.Value.Type() != "int64" || slices.Contains(settings, f.Name):
			case kind == "*pflag.intValue" || kind == "*pflag.int64Value":
				t.Errorf("%s --%s takes any number; give it bounds (number)", cmd.CommandPath(), f.Name)
			default:
				if bounded++; f.Value.Set("-3") == nil || f.Value.Set("x") == nil {
					t.Errorf("%s --%s is set to a number that it cannot be", cmd.CommandPath(), f.Name)
				}
			}
		})
	}
	if bounded < 15 {
		t.Errorf("only %d flags have bounds", bounded)
	}
}
