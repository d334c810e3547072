//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// cmdOnTerminal is for systems where the tests cannot make a terminal.
func cmdOnTerminal(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("no terminal can be made here")
}
