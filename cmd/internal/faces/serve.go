package faces

import (
	"context"
	"errors"
	"fmt"
	stdlog "log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"odarchive/cmd/internal/listen"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"

	"golang.org/x/sync/errgroup"
)

// ErrTerminated is the cause of a context that ends because the process got SIGTERM, not because somebody at a terminal
// stops it.
var ErrTerminated = fmt.Errorf("terminated: %w", context.Canceled)

// drain is how long requests in progress may take after the signal to stop.
const drain = 10 * time.Second

// Serve answers requests at listeners, which it closes, until ctx ends. Then it gives requests in progress some time to
// finish, cancels the contexts of the rest, and returns when no handler runs, so that what they use can be closed.
//
// If ctx ends with the cause ErrTerminated, and a load balancer asks /readyz, Serve first goes on for the given delay:
// /readyz is 503, so that the load balancer sends requests elsewhere, and everything else is answered as before.
func Serve(ctx context.Context, log *slog.Logger, handler http.Handler, delay time.Duration, listeners ...net.Listener) error {
	return serve(ctx, log, handler, delay, drain, listeners...)
}

func serve(ctx context.Context, log *slog.Logger, handler http.Handler, delay, drain time.Duration, listeners ...net.Listener) error {
	base, cutOff := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cutOff(nil)
	running := newRunning(handler)
	readiness := &readiness{next: running}
	server := &http.Server{
		Handler:           readiness,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20, // a URL may contain a long query
		ConnState:         newConnections(listen.MaxConnections()).state,
		ErrorLog:          stdlog.New(serverLog{log}, "", 0),
		BaseContext: func(l net.Listener) context.Context {
			if _, local := l.(*socket); local {
				return sparqlapi.Local(answer.LastingServer(base))
			}
			return answer.LastingServer(base)
		},
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { // ended by cancel below, and waited for
		<-ctx.Done()
		if errors.Is(context.Cause(ctx), ErrTerminated) && readiness.leave() && delay > 0 {
			log.Info("not ready any more; requests are answered until load balancers have seen that", "delay", delay)
			time.Sleep(delay)
		}
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

// serverLog is what http.Server writes to. Anybody who scans ports makes handshakes fail.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Write(line []byte) (int, error) {
	level, text := slog.LevelWarn, strings.TrimSuffix(string(line), "\n")
	if strings.HasPrefix(text, "http: TLS handshake error") {
		level = slog.LevelDebug
	}
	l.log.Log(context.Background(), level, text)
	return len(line), nil
}

// shutdown waits for requests in progress, for at most the grace time.
func shutdown(server *http.Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	return server.Shutdown(ctx)
}
