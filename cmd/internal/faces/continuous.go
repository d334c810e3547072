package faces

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// backupLate is how far the continuous backup is behind when /readyz says so.
const backupLate = time.Minute

// backupBehind returns what /readyz adds to its state: how far the continuous backup is behind, if that is far, and
// whether it fails.
func (a *Faces) backupBehind() string {
	k := a.store.BackupKeeper()
	if k == nil {
		return ""
	}
	s := k.State()
	late := max(backupLate, 10*s.Every)
	switch {
	case s.Lost:
		return ": the backup is not there any more, and gets nothing (the log says what to do)"
	case !s.Whole && !s.Failing.IsZero() && time.Since(s.Failing) >= late:
		return fmt.Sprintf(": there is no backup, its first copy has failed for %d seconds (the log says why)",
			int(time.Since(s.Failing).Seconds()))
	case s.Epoch == 0:
		return ": the backup has not been reached yet"
	case !s.Whole:
		return ": the first copy of the backup is under way"
	case s.Lag >= late:
		return fmt.Sprintf(": the backup is %d seconds behind (the log says why)", int(s.Lag.Seconds()))
	}
	return ""
}

// collectBackup sends the state of the continuous backup, if there is one.
func (c *figuresCollector) collectBackup(out chan<- prometheus.Metric) {
	k := c.faces.store.BackupKeeper()
	if k == nil {
		return
	}
	s := k.State()
	gauge := func(name, help string, v float64) {
		out <- prometheus.MustNewConstMetric(description("backup_"+name, help), prometheus.GaugeValue, v)
	}
	gauge("lag_seconds", "Age of the oldest commit that is not in the continuous backup, 0 if all are.", s.Lag.Seconds())
	gauge("lag_commits", "Write sets that are not in the continuous backup.", float64(s.Behind))
	gauge("whole", "Whether the continuous backup has a complete copy, so that moments can be restored: 1 or 0.", one(s.Whole))
	gauge("writer",
		"1 while this process is the writer of the continuous backup, 0 if another one has replaced it or none could be asked yet.",
		one(s.Epoch > 0 && !s.Fenced))
	gauge("epoch", "How often a process has become the writer, up to this one.", float64(s.Epoch))
	if !s.Last.IsZero() {
		gauge("last_success_timestamp_seconds", "When something was copied last, or nothing had to be.", float64(s.Last.UnixMilli())/1000)
	}
	if s.Whole {
		gauge("last_state_timestamp_seconds", "Of which moment the newest state file in the continuous backup is.",
			float64(s.Snapshot.UnixMilli())/1000)
	}
	for _, b := range []struct {
		kind string
		n    int64
	}{{"log", s.LogBytes}, {"packs", s.PackBytes}, {"state", s.StateBytes}} {
		out <- prometheus.MustNewConstMetric(description("backup_sent_bytes_total", "Bytes sent to the continuous backup.", "kind"),
			prometheus.CounterValue, float64(b.n), b.kind)
	}
	out <- prometheus.MustNewConstMetric(description("backup_objects_total", "Objects sent to the continuous backup, without merged ones."),
		prometheus.CounterValue, float64(s.Objects))
	out <- prometheus.MustNewConstMetric(description("backup_failures_total", "Attempts to copy that failed and were repeated."),
		prometheus.CounterValue, float64(s.Failures))
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
