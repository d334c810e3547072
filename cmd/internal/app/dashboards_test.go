package app

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"odarchive/cmd/internal/config"
)

// seldom are metrics that a server has only in some state, and where they are tested.
var seldom = map[string]string{
	"odarchive_tls_certificate_expiry_timestamp_seconds": "with --tls-cert: package faces",
	"odarchive_scrub_finished_timestamp_seconds":         "after the first whole round: package faces",
	"odarchive_crawl_host_failures":                      "while hosts are met: package faces",
	"odarchive_visits_by_outcome":                        "after the first visit",
	"odarchive_versions_by_type":                         "after the first version",
}

// ofWorkers are metrics of worker processes.
var ofWorkers = map[string]bool{"odarchive_worker_joined": true, "odarchive_worker_hosts": true, "odarchive_worker_visits_total": true,
	"odarchive_worker_returned_total": true,
	"odarchive_worker_lost_total":     true, "odarchive_worker_unsent_total": true}

// A metric that is renamed is renamed in dashboards and alerts, too. Those of workers are tested in cmd/odarchive.
func TestDashboardsAndAlertsAskForMetricsThatExist(t *testing.T) {
	t.Parallel()
	files := filepath.Join("..", "..", "deploy", "chart", "odarchive", "files")
	names, err := filepath.Glob(filepath.Join(files, "dashboards", "*.json"))
	if err != nil || len(names) < 5 {
		t.Fatalf("dashboards %q, %v", names, err)
	}
	n := backgroundWith(t, func(c *config.Config) { // everything that has figures of its own
		c.Backup.To, c.Bytes = "file://"+t.TempDir(), "file://"+t.TempDir()
		c.Workers.NATS, c.Workers.Listen = config.Embedded, "127.0.0.1:0"
	})
	if err := n.BeginBackup(t.Context(), n.Mint.Base); err != nil {
		t.Fatal(err)
	}
	text := metricsOf(t, n)
	exists := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z_]+)[{ ]`).FindAllStringSubmatch(text, -1) {
		exists[m[1]] = true
	}
	asked := 0
	for _, name := range append(names, filepath.Join(files, "alerts.yaml")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range regexp.MustCompile(`\b(odarchive|process|go)_[a-z_]+\b`).FindAllString(string(text), -1) {
			if ofWorkers[metric] || seldom[metric] != "" {
				continue
			}
			if asked++; !exists[metric] {
				t.Errorf("%s asks for %s, which is not at /metrics", filepath.Base(name), metric)
			}
		}
	}
	if asked < 50 {
		t.Errorf("only %d metrics were found", asked)
	}
}
