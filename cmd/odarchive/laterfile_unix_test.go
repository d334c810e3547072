//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Root who wrote a zip to /dev/null had a file there afterwards, and a machine without /dev/null.
func TestOutputToADeviceLeavesTheDevice(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("only where a named pipe can be made: ", err)
	}
	read := make(chan string, 1)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	c := &cli{stdout: io.Discard}
	err := c.writeTo(pipe, func(w io.Writer) error {
		_, err := io.WriteString(w, "a zip")
		return err
	})
	if got := <-read; err != nil || got != "a zip" {
		t.Errorf("read %q, %v", got, err)
	}
	if at, err := os.Lstat(pipe); err != nil || at.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("a file is in its place: %v, %v", at, err)
	}
	if _, err := os.Lstat(pipe + ".part"); err == nil {
		t.Error("a part is left beside it")
	}
}
