package crawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"odarchive/crawler/copies/dispatch"
)

// serveWorker serves the figures of a worker on an address; "" for nowhere.
func serveWorker(address string, w *dispatch.Worker, log *slog.Logger) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(out http.ResponseWriter, _ *http.Request) { fmt.Fprintln(out, "ok") })
	mux.HandleFunc("GET /readyz", func(out http.ResponseWriter, _ *http.Request) {
		s := w.Status()
		if s.State != "working" {
			out.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(out, s.State)
	})
	mux.HandleFunc("GET /status", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(out).Encode(w.Status()) // the client may be gone
	})
	mux.HandleFunc("GET /metrics", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		writeWorkerMetrics(out, w.Status())
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the figures of this worker are not served any more", "error", err)
		}
	}()
	log.Info("figures are served", "address", l.Addr().String())
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // requests that take longer end with the process
		<-done
	}, nil
}

// writeWorkerMetrics writes figures in the text format of Prometheus.
func writeWorkerMetrics(out http.ResponseWriter, s dispatch.WorkerStatus) {
	working := 0
	if s.State == "working" {
		working = 1
	}
	for _, m := range []struct {
		name, kind, help string
		value            int
	}{
		{"odarchive_worker_joined", "gauge", "1 while the worker gets leases from the archive.", working},
		{"odarchive_worker_hosts", "gauge", "Hosts that are being visited.", s.Active},
		{"odarchive_worker_leases", "gauge", "Leases held, those whose results are on their way among them.", s.Leases},
		{"odarchive_worker_leases_total", "counter", "Leases that were granted.", s.Counts.Leases},
		{"odarchive_worker_visits_total", "counter", "Visits that were made.", s.Counts.Visits},
		{"odarchive_worker_returned_total", "counter", "Leases that were returned before their end.", s.Counts.Returned},
		{"odarchive_worker_lost_total", "counter", "Leases that ended while they were held.", s.Counts.Lost},
		{"odarchive_worker_unsent_total", "counter", "Results that could not be sent.", s.Counts.Unsent},
	} {
		fmt.Fprintf(out, "# HELP %s %s\n# TYPE %s %s\n%s %d\n", m.name, m.help, m.name, m.kind, m.name, m.value)
	}
}
