package faces

import (
	"odarchive/crawler/copies/dispatch"

	"github.com/prometheus/client_golang/prometheus"
)

// workers sends the figures of the workers, if there may be any.
func (c *figuresCollector) workers(out chan<- prometheus.Metric, gauge func(name, help string, value int64)) {
	w := c.faces.crawl.Workers
	if w == nil {
		return
	}
	s := w.Desk.Status()
	served := int64(0)
	if w.Connected() {
		served = 1
	}
	gauge("workers_served", "1 while workers can reach the archive through NATS.", served)
	gauge("workers", "Workers that were heard of lately.", int64(len(s.Workers)))
	gauge("worker_leases", "Leases that workers have.", int64(s.Out))
	gauge("worker_results_in_flight", "Results of workers that are being committed.", int64(s.Committing))
	counter := func(name, help string, value int, labels ...string) {
		names := []string{}
		if len(labels) > 0 {
			names = []string{"verdict"}
		}
		out <- prometheus.MustNewConstMetric(description(name, help, names...), prometheus.CounterValue, float64(value), labels...)
	}
	counter("worker_leases_granted_total", "Leases that were granted to workers.", s.Counts.Granted)
	counter("worker_leases_returned_total", "Leases that workers returned before their end.", s.Counts.Returned)
	counter("worker_leases_expired_total", "Leases that ended because nothing was heard of their workers.", s.Counts.Expired)
	for _, v := range []struct {
		verdict dispatch.Verdict
		n       int
	}{{dispatch.Committed, s.Counts.Results}, {dispatch.Repeated, s.Counts.Repeated}, {dispatch.Refused, s.Counts.Refused},
		{dispatch.Malformed, s.Counts.Malformed}, {dispatch.Failed, s.Counts.Failed}} {
		counter("worker_results_total",
			"Results of workers, by what became of them: committed, repeated (delivered again), refused (of ended leases), malformed, "+
				"failed.", v.n, string(v.verdict))
	}
}
