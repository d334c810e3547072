//go:build !linux

package main

import (
	"errors"
	"os/exec"
)

// isolate makes a command fail that is to have a network of its own, which this system does not have.
func isolate(cmd *exec.Cmd) { cmd.Err = errors.ErrUnsupported }

func upLoopback() error { return errors.ErrUnsupported }
