package faces

import (
	"fmt"

	"odarchive/triplestore/bucket/tier"
	"odarchive/ui"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/prometheus/client_golang/prometheus"
)

// bucketState returns the state of the bucket of closed packs, nil if there is none.
func (a *Faces) bucketState() *ui.FixityBucket {
	s, ok := a.store.Content.Remote()
	if !ok {
		return nil
	}
	b := &ui.FixityBucket{Files: s.Files, Waiting: s.Waiting, WaitingBytes: s.WaitingBytes, Deleting: s.Deleting, Cached: s.Cached,
		Cache: s.Cache, Cold: s.Cold}
	if s.Problem != "" { // which names hosts
		b.Problem = "The last request to the object store failed. The server's log has the cause."
	}
	return b
}

// bucketDetail returns what readiness says of the bucket, "" if all is well.
func bucketDetail(b *ui.FixityBucket) string {
	switch {
	case b == nil || b.Problem == "" && b.Waiting == 0:
		return ""
	case b.Problem == "":
		return fmt.Sprintf("; %s (%s) on the way to the bucket", english.Plural(b.Waiting, "file", ""),
			humanize.IBytes(uint64(b.WaitingBytes)))
	}
	return fmt.Sprintf("; the bucket of packs does not answer as it should, and %s (%s) wait for it", english.Plural(b.Waiting, "file", ""),
		humanize.IBytes(uint64(b.WaitingBytes)))
}

// collectBucket sends the figures of the bucket of closed packs.
func collectBucket(out chan<- prometheus.Metric, s tier.Stats) {
	send := func(kind prometheus.ValueType, name, help string, v float64) {
		out <- prometheus.MustNewConstMetric(description("bucket_"+name, help), kind, v)
	}
	ok := 1.0
	if s.Problem != "" {
		ok = 0
	}
	send(prometheus.GaugeValue, "ok", "1 unless the last request to the bucket of packs failed.", ok)
	send(prometheus.GaugeValue, "files", "Closed packs and their parity.", float64(s.Files))
	send(prometheus.GaugeValue, "waiting_files", "Of them, those that are not in the bucket yet.", float64(s.Waiting))
	send(prometheus.GaugeValue, "waiting_bytes", "Bytes that are not in the bucket yet.", float64(s.WaitingBytes))
	send(prometheus.GaugeValue, "deleting_files", "Files that are dropped and not deleted from the bucket yet.", float64(s.Deleting))
	send(prometheus.GaugeValue, "cached_bytes", "Bytes that are in the bucket and on the local disk.", float64(s.Cached))
	send(prometheus.GaugeValue, "cache_bytes", "The bound of these bytes.", float64(s.Cache))
	send(prometheus.GaugeValue, "cold_bytes", "Bytes of files that are only in the bucket.", float64(s.Cold))
	send(prometheus.CounterValue, "uploads_total", "Files uploaded since the process began.", float64(s.Uploads))
	send(prometheus.CounterValue, "uploaded_bytes_total", "Bytes uploaded since the process began.", float64(s.Uploaded))
	send(prometheus.CounterValue, "failures_total", "Uploads and deletions that failed, and are repeated, since the process began.",
		float64(s.Failures))
	send(prometheus.CounterValue, "cache_hits_total", "Reads of closed packs from the local disk since the process began.", float64(s.Hits))
	send(prometheus.CounterValue, "cache_misses_total", "Reads of closed packs that asked the bucket since the process began.",
		float64(s.Misses))
	send(prometheus.CounterValue, "read_bytes_total", "Bytes read from the bucket since the process began.", float64(s.Read))
	send(prometheus.CounterValue, "read_failures_total", "Reads from the bucket that failed since the process began.",
		float64(s.ReadFailures))
}
