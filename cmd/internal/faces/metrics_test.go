package faces

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/web/politeness"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// collect makes a collector of a function.
type collect func(chan<- prometheus.Metric)

func (collect) Describe(chan<- *prometheus.Desc)       {}
func (c collect) Collect(out chan<- prometheus.Metric) { c(out) }

func TestMetricsNameTheHostsThatAreWaitedForLongest(t *testing.T) {
	t.Parallel()
	now := time.Now()
	hosts := []politeness.Status{{Host: "free.example", State: "free"}, {Host: "busy.example", State: "busy", Next: now.Add(3 * time.Hour), Requests: 7, Failures: 2, Delay: 2 * time.Second}}
	for i := range 2 * maxHosts {
		hosts = append(hosts, politeness.Status{Host: fmt.Sprintf("h%03d.example", i), State: "waiting", Wait: "retry-after", Next: now.Add(time.Hour + time.Duration(i)*time.Second)})
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collect(func(out chan<- prometheus.Metric) { collectHosts(out, hosts) }))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	text := answer.Body.String()
	for want, is := range map[string]bool{
		`crawl_host_requests{host="busy.example"} 7`:                                        true,
		`crawl_host_failures{host="busy.example"} 2`:                                        true,
		`crawl_host_delay_seconds{host="busy.example"} 2`:                                   true,
		`crawl_host_next_seconds{host="h199.example",reason="retry-after",state="waiting"}`: true,
		`h101.example`: true,
		`h100.example`: false,
		`free.example`: false,
	} {
		if strings.Contains(text, want) != is {
			t.Errorf("%s is there: %v", want, !is)
		}
	}
}
