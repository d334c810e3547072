package faces

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/disk"
	"odarchive/ui"

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
	hosts := []politeness.Status{{Host: "free.example", State: "free"},
		{Host: "busy.example", State: "busy", Next: now.Add(3 * time.Hour), Requests: 7, Failures: 2, Delay: 2 * time.Second}}
	for i := range 2 * maxHosts {
		hosts = append(hosts, politeness.Status{Host: fmt.Sprintf("h%03d.example", i), State: "waiting", Wait: "retry-after",
			Next: now.Add(time.Hour + time.Duration(i)*time.Second)})
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

func TestTheEndOfACertificateIsAMetric(t *testing.T) {
	t.Parallel()
	if _, ok := certificateEnd("", ""); ok {
		t.Error("without a certificate there is an end")
	}
	if _, ok := certificateEnd("missing.pem", "missing.pem"); ok {
		t.Error("a certificate that cannot be read has an end")
	}
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	leaf := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "pair.pem")
	pair := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Certificate[0]}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	if err := os.WriteFile(name, pair, 0o600); err != nil {
		t.Fatal(err)
	}
	at, ok := certificateEnd(name, name)
	if want := server.Certificate().NotAfter.Unix(); !ok || int64(at) != want {
		t.Errorf("it ends at %v (%v), want %d", at, ok, want)
	}
}

// What the alert about a late scrub asks for.
func TestTheEndOfAScrubIsAMetric(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewPedanticRegistry()
	fixity := ui.Fixity{Parts: []ui.FixityPart{{Name: "packs", Round: disk.Round{Finished: time.Unix(1_700_000_000, 0)}}}}
	registry.MustRegister(collect(func(out chan<- prometheus.Metric) { collectFixity(out, fixity) }))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if text := answer.Body.String(); !strings.Contains(text, `odarchive_scrub_finished_timestamp_seconds{part="packs"} 1.7e+09`) {
		t.Errorf("the metrics are\n%s", text)
	}
}

func TestWhatTheScrubHasNotMeasuredYetIsAbsent(t *testing.T) {
	t.Parallel()
	for began, want := range map[time.Time]bool{{}: false, time.Now(): true} {
		registry := prometheus.NewPedanticRegistry()
		f := ui.Fixity{Parts: []ui.FixityPart{{Name: "packs", Round: disk.Round{Began: began}}}}
		registry.MustRegister(collect(func(out chan<- prometheus.Metric) { collectFixity(out, f) }))
		answer := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		if text := answer.Body.String(); strings.Contains(text, "odarchive_scrub_total_bytes") != want ||
			!strings.Contains(text, "odarchive_scrub_rounds") {
			t.Errorf("began %v:\n%s", began, text)
		}
	}
}
