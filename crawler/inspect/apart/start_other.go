//go:build !linux && !windows

package apart

import (
	"os"
	"os/exec"
)

// startFrom starts a command. When the server is killed, the child's standard input ends, and so does the child.
func startFrom(cmd *exec.Cmd) (release func(), err error) { return func() {}, cmd.Start() }

// executable returns the file to start.
func executable(f *os.File) string { return f.Name() }
