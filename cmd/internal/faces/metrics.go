package faces

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/timetable"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/politeness"
	"odarchive/sparqlapi"
	"odarchive/ui"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics is the registry behind /metrics: requests are counted as they happen, figures are read at each scrape.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
}

// newMetrics returns the metrics of faces. before, if not nil, has what was counted in an earlier state.
func newMetrics(a *Faces, before *metrics) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "odarchive_http_request_seconds", Help: "Time to answer a request.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"route", "method", "status"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "odarchive_http_response_bytes_total", Help: "Bytes of response bodies.",
		}, []string{"route"}),
	}
	if before != nil {
		m.requests, m.bytes = before.requests, before.bytes
	}
	m.registry.MustRegister(m.requests, m.bytes, &figuresCollector{a}, collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) request(e sparqlapi.Event) {
	m.requests.WithLabelValues(e.Route, e.Method, strconv.Itoa(e.Status)).Observe(e.Took.Seconds())
	m.bytes.WithLabelValues(e.Route).Add(float64(e.Bytes))
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// figuresCollector reads the archive's figures at each scrape.
type figuresCollector struct{ faces *Faces }

func description(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("odarchive_"+name, help, labels, nil)
}

// Describe sends nothing, which makes the collector unchecked: its media types and outcomes are not known in advance.
func (c *figuresCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *figuresCollector) Collect(out chan<- prometheus.Metric) {
	collectFixity(out, c.faces.Fixity()) // first, because the rest may fail in a damaged archive
	c.collectBackup(out)
	if s, ok := c.faces.store.Content.Remote(); ok {
		collectBucket(out, s)
	}
	if r := c.faces.Replica; r != nil {
		r.Collect(func(name, help string, value float64) {
			out <- prometheus.MustNewConstMetric(description(name, help), prometheus.GaugeValue, value)
		})
	}
	c.operation(out)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s, err := c.faces.store.Archive.Stats(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(description("up", "The archive answers."), err)
		return
	}
	gauge := func(name, help string, value int64) {
		out <- prometheus.MustNewConstMetric(description(name, help), prometheus.GaugeValue, float64(value))
	}
	gauge("resources", "URLs known.", int64(s.Resources))
	gauge("resources_crawled", "URLs with at least one version.", int64(s.Crawled))
	gauge("hosts", "Hosts known.", int64(s.Hosts))
	gauge("versions", "Versions kept.", int64(s.Versions))
	gauge("fetches", "Fetches recorded.", int64(s.Visits))
	gauge("version_bytes", "Bytes of all versions as they were fetched.", s.Bytes)
	gauge("stored_bytes", "Bytes that versions take on disk.", s.StoredBytes)
	gauge("triples", "Triples in the store.", int64(s.Triples))
	for _, t := range s.Types {
		out <- prometheus.MustNewConstMetric(description("versions_by_type", "Versions by media type.", "type"), prometheus.GaugeValue,
			float64(t.Count), t.Key)
	}
	c.crawl(out, gauge)
	c.workers(out, gauge)
	c.harvests(ctx, out, gauge)
}

// harvests sends the state of the planned harvests and of the questions about portals.
func (c *figuresCollector) harvests(ctx context.Context, out chan<- prometheus.Metric, gauge func(name, help string, value int64)) {
	plans, asked, err := c.faces.crawl.Harvests(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(description("harvest_questions", "Portals that suddenly list much less."), err)
		return
	}
	states := map[string]int{timetable.Running: 0, timetable.Waiting: 0, timetable.Failing: 0, timetable.Paused: 0}
	overdue, now := time.Duration(0), c.faces.store.Clock()
	for _, p := range plans {
		states[p.State]++
		if !p.Next.IsZero() {
			overdue = max(overdue, now.Sub(p.Next))
		}
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(description("harvests_planned", "Planned harvests, by state.", "state"), prometheus.GaugeValue,
			float64(n), state)
	}
	out <- prometheus.MustNewConstMetric(description("harvest_overdue_seconds",
		"For how long the planned harvest that is longest overdue has been due."), prometheus.GaugeValue, overdue.Seconds())
	portals, waiting := int64(0), int64(0)
	for _, q := range asked {
		if waiting += int64(q.Waiting); q.Waiting > 0 {
			portals++
		}
	}
	gauge("harvest_questions", "Portals that suddenly list much less, and wait for an answer.", portals)
	gauge("harvest_withdrawals_waiting", "Datasets whose withdrawal waits for an answer.", waiting)
}

// collectFixity sends the state of the stored bytes and the progress of the scrub.
func collectFixity(out chan<- prometheus.Metric, f ui.Fixity) {
	value := func(name, help, label, of string, v float64) {
		out <- prometheus.MustNewConstMetric(description(name, help, label), prometheus.GaugeValue, v, of)
	}
	for _, state := range []string{ui.Sound, ui.ReadOnly, ui.Damaged, ui.WritesStopped} {
		is := 0.0
		if f.State == state {
			is = 1
		}
		value("state", "1 for the state the archive is in.", "state", state, is)
	}
	for _, d := range []struct {
		kind string
		n    int
	}{{"mended", f.Mended}, {"unmended", f.Unmended}, {"lost", f.Lost}} {
		value("damages", "Damages found since the process began, at most some hundred.", "kind", d.kind, float64(d.n))
	}
	for _, p := range f.Parts {
		if !p.Began.IsZero() { // before the first round nothing is measured
			value("scrub_bytes", "Bytes read in the round under way.", "part", p.Name, float64(p.Done))
			value("scrub_total_bytes", "Bytes of a whole round.", "part", p.Name, float64(p.Total))
		}
		value("scrub_rounds", "Whole rounds since the process began.", "part", p.Name, float64(p.Rounds))
		if !p.Finished.IsZero() {
			value("scrub_finished_timestamp_seconds", "When the last whole round ended.", "part", p.Name, float64(p.Finished.Unix()))
		}
	}
}

// crawl sends the state of the crawl.
func (c *figuresCollector) crawl(out chan<- prometheus.Metric, gauge func(name, help string, value int64)) {
	s, err := c.faces.crawl.Pipeline.Status()
	if err != nil {
		out <- prometheus.NewInvalidMetric(description("crawl_held", "Why the crawl stands still."), err)
		return
	}
	gauge("frontier_urls", "URLs in the frontier.", int64(s.URLs))
	gauge("crawl_due", "Files that are due.", int64(s.Queue.Due))
	gauge("crawl_may_be_asked", "Files that are due and whose hosts may be asked now.", int64(s.Queue.Askable))
	gauge("crawl_hosts_active", "Hosts being visited.", int64(s.Active))
	gauge("crawl_fetches", "Fetches since the process began.", int64(s.Fetches))
	gauge("crawl_bytes", "Bytes fetched since the process began.", s.Bytes)
	gauge("versions_unjoined", "Versions whose columns are not in the index of columns yet.", int64(s.Unjoined))
	gauge("internal_failures", "URLs that are listed because of a fault of this program with their bytes.", int64(s.Internal.Count))
	out <- prometheus.MustNewConstMetric(description("internal_failures_total",
		"Faults of this program with single URLs since the process began."), prometheus.CounterValue, float64(s.Internal.Since))
	held := int64(0)
	if s.Held != "" {
		held = 1
	}
	gauge("crawl_held", "1 while the crawl stands still: paused, out of its hours, or short of room.", held)
	lag := int64(0)
	if now := c.faces.store.Clock(); s.Held == "" && s.NextDue.Before(now) && !s.NextDue.IsZero() {
		lag = int64(now.Sub(s.NextDue).Seconds())
	}
	gauge("crawl_lag_seconds", "How long the host that is due for longest has been waiting for a worker, 0 while the crawl stands still.",
		lag)
	for _, class := range []catalog.ErrorClass{catalog.ErrNetwork, catalog.ErrDNS, catalog.ErrTLS, catalog.ErrTimeout,
		catalog.ErrHTTPStatus, catalog.ErrDiskFull, catalog.ErrInternal} {
		s.Errors[class] += 0 // a series that is there from the beginning can be compared
	}
	for class, n := range s.Errors {
		out <- prometheus.MustNewConstMetric(description("crawl_errors_total",
			"Fetches since the process began that stored no version, by reason.", "class"), prometheus.CounterValue, float64(n),
			string(class))
	}
	refused := int64(0)
	for _, r := range c.faces.crawl.Scope.Refusals() {
		refused += r.Count
	}
	out <- prometheus.MustNewConstMetric(description("scope_refused_total",
		"What the rules of the scope refused, since the directory was created."), prometheus.CounterValue, float64(refused))
	for _, j := range s.Jobs {
		running := 0.0
		if j.State == supervise.Running || j.State == supervise.Done {
			running = 1
		}
		out <- prometheus.MustNewConstMetric(description("job_ok",
			"1 while a background job runs or is done, 0 while it waits after a failure or has stopped.", "job"), prometheus.GaugeValue,
			running, j.Name)
		out <- prometheus.MustNewConstMetric(description("job_failures_total", "Failures of a background job since the process began.",
			"job"), prometheus.CounterValue, float64(j.Failures), j.Name)
	}
	for outcome, n := range s.Outcomes {
		out <- prometheus.MustNewConstMetric(description("visits_by_outcome", "Visits by outcome.", "outcome"), prometheus.GaugeValue,
			float64(n), string(outcome))
	}
	for _, why := range []string{"politeness", "robots", politeness.WhyUnread, "retry-after", "back-off", "network"} {
		s.Waiting[why] += 0 // a series that is there from the beginning can be compared
	}
	for why, n := range s.Waiting {
		out <- prometheus.MustNewConstMetric(description("crawl_hosts_waiting", "Hosts met lately that wait, by reason.", "reason"),
			prometheus.GaugeValue, float64(n), why)
	}
	collectHosts(out, c.faces.crawl.Pipeline.Gate.Hosts())
}

// maxHosts is how many hosts have time series of their own. /crawl/hosts lists all.
const maxHosts = 100

// collectHosts sends the hosts that are busy or waited for, the longest wait first.
func collectHosts(out chan<- prometheus.Metric, hosts []politeness.Status) {
	hosts = slices.DeleteFunc(hosts, func(h politeness.Status) bool { return h.State == "free" })
	slices.SortStableFunc(hosts, func(a, b politeness.Status) int { return b.Next.Compare(a.Next) })
	for _, h := range hosts[:min(maxHosts, len(hosts))] {
		value := func(name, help string, v float64) {
			out <- prometheus.MustNewConstMetric(description(name, help, "host"), prometheus.GaugeValue, v, h.Host)
		}
		out <- prometheus.MustNewConstMetric(description("crawl_host_next_seconds",
			"Seconds until a host may be asked, and why not before.", "host", "state", "reason"),
			prometheus.GaugeValue, max(0, time.Until(h.Next).Seconds()), h.Host, h.State, h.Wait)
		value("crawl_host_delay_seconds", "Pause between two requests to a host, as things stand.", h.Delay.Seconds())
		value("crawl_host_requests", "Requests to a host since it was last met.", float64(h.Requests))
		value("crawl_host_failures", "Those that failed.", float64(h.Failures))
	}
}
