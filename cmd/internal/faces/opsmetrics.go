package faces

import (
	"crypto/tls"

	"github.com/prometheus/client_golang/prometheus"
)

// operation sends what an operator is woken for, besides the archive's figures: room, queries that wait, the
// certificate.
func (c *figuresCollector) operation(out chan<- prometheus.Metric) {
	gauge := func(name, help string, value float64) {
		out <- prometheus.MustNewConstMetric(description(name, help), prometheus.GaugeValue, value)
	}
	if free, known := freeSpace(c.faces.store.Config.Data); known {
		gauge("disk_free_bytes", "Bytes left on the disk of the data directory.", float64(free))
	}
	short := 0.0
	if c.faces.store.DB.Room() != nil {
		short = 1
	}
	gauge("disk_short", "1 while so little room is left that nothing is written.", short)
	running, waiting := c.faces.places.Running()
	gauge("queries_running", "SPARQL queries that run.", float64(running))
	gauge("queries_waiting", "SPARQL queries that wait for a place.", float64(waiting))
	if at, ok := certificateEnd(c.faces.store.Config.Serve.TLSCert, c.faces.store.Config.Serve.TLSKey); ok {
		gauge("tls_certificate_expiry_timestamp_seconds", "When the certificate of --tls-cert ends.", at)
	}
}

// certificateEnd returns when a certificate ends, in seconds since 1970, and whether there is one that can be read.
func certificateEnd(certFile, keyFile string) (at float64, ok bool) {
	if certFile == "" {
		return 0, false
	}
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil || pair.Leaf == nil {
		return 0, false
	}
	return float64(pair.Leaf.NotAfter.Unix()), true
}
