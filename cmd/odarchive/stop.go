package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"odarchive/cmd/internal/faces"
)

// sameOrder is for how long further signals belong to the first one: timeout(1), and other programs that start
// programs, send theirs to the process and to its group.
const sameOrder = time.Second

// untilStopped returns a context that SIGINT or SIGTERM ends, with the cause faces.ErrTerminated for the latter. More
// of SIGTERM change nothing: a supervisor that is not patient has SIGKILL. SIGINT more than sameOrder after the first
// signal ends the process at once.
func untilStopped() context.Context {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, stop := context.WithCancelCause(context.Background())
	go func() { // ends with the process
		if <-signals == syscall.SIGTERM {
			stop(faces.ErrTerminated)
		}
		stop(nil)
		time.Sleep(sameOrder)
		signal.Reset(os.Interrupt)
	}()
	return ctx
}
