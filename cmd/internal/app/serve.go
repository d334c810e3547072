package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"
)

// drain is how long requests under way may take after the signal to stop.
const drain = 10 * time.Second

// Listen opens the address to serve on; the error says what to do where it is taken.
func Listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("address %s is in use by another program: choose another one with --listen, or --listen 127.0.0.1:0 for any free port", address)
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("address %s needs more rights than this user has: choose a port above 1023 with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("--listen %q: expected HOST:PORT: %w", address, err)
	}
	return l, nil
}

// Serve answers requests until ctx ends, then lets those under way finish.
func Serve(ctx context.Context, log *slog.Logger, l net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20, // a query in an address may be long
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { // ended by cancel below at the latest, and waited for
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		err := server.Shutdown(grace)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests cut off after the grace time", "grace", drain)
			err = server.Close()
		}
		done <- err
	}()
	err := server.Serve(l)
	cancel()
	if stopErr := <-done; errors.Is(err, http.ErrServerClosed) {
		return stopErr
	}
	return fmt.Errorf("serve %s: %w", l.Addr(), err)
}
