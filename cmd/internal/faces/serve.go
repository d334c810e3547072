package faces

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

	"odarchive/sparqlapi"
	"odarchive/sparqlapi/outlast"
	"odarchive/sparqlapi/problem"

	"golang.org/x/sync/errgroup"
)

// drain is how long requests in progress may take after the signal to stop.
const drain = 10 * time.Second

// Listen listens on a TCP address. The error says what to do if the address is in use.
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

// Serve answers requests at listeners, which it closes, until ctx ends. Then it gives requests in progress some time to
// finish, cancels the contexts of the rest, and returns when no handler runs, so that what they use can be closed.
func Serve(ctx context.Context, log *slog.Logger, handler http.Handler, listeners ...net.Listener) error {
	return serve(ctx, log, handler, drain, listeners...)
}

func serve(ctx context.Context, log *slog.Logger, handler http.Handler, drain time.Duration, listeners ...net.Listener) error {
	base, cutOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cutOff(nil)
	running := newRunning(handler)
	server := &http.Server{
		Handler:           running,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20, // a URL may contain a long query
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(l net.Listener) context.Context {
			if _, local := l.(*socket); local {
				return sparqlapi.Local(outlast.Server(base))
			}
			return outlast.Server(base)
		},
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { // ended by cancel below, and waited for
		<-ctx.Done()
		err := shutdown(server, drain)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests cancelled after the grace time", "grace", drain, "requests", running.list())
			cutOff(problem.ErrStopping)
			if err = shutdown(server, drain/2); errors.Is(err, context.DeadlineExceeded) {
				err = server.Close() // for handlers that wait for a slow client
			}
		}
		running.wait(func(left []string) { log.Warn("waiting for requests that do not end", "requests", left) })
		done <- err
	}()
	var group errgroup.Group
	for _, l := range listeners {
		group.Go(func() error {
			defer cancel() // a listener that fails ends the others
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", l.Addr(), err)
			}
			return nil
		})
	}
	err := group.Wait()
	cancel()
	return errors.Join(err, <-done)
}

// shutdown waits for requests in progress, for at most the grace time.
func shutdown(server *http.Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return server.Shutdown(ctx)
}
