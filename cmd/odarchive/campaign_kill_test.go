package main

import (
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The test kills a campaign over a web interface (SIGKILL) at random moments and starts it again, through several states
// of the interface. In the end the archive must have the same statements as one whose campaign was not killed.
func TestACampaignThatIsKilledEndsAsOneThatWasNot(t *testing.T) {
	t.Parallel()
	portal := &registry{}
	server := httptest.NewServer(portal)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "sets.toml")
	document := fmt.Sprintf(`name = "sets"
kind = "api"
[api]
base = %q
[[api.request]]
path = "/api/v0/registry/records"
items = "records"
id = "id"
paging = { kind = "cursor", parameter = "pageToken", next = "hasMore && nextPageToken" }
[api.dataset]
id = "id"
title = "aspects.\"dcat-dataset-strings\".title"
keywords = "aspects.\"dcat-dataset-strings\".keywords"
`, server.URL)
	if err := os.WriteFile(file, []byte(document), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("-kill-rounds %d -kill-seed %d", *killRounds, *killSeed)
	random := rand.New(rand.NewPCG(*killSeed, 2))
	calm, killed := t.TempDir(), t.TempDir()
	args := func(data string) []string {
		return []string{"campaign", "run", file, "--data", data, "--allow-private-hosts", "--host-delay", "1ms", "--log-level", "error"}
	}
	began := time.Now()
	odarchive(t, args(calm)...)
	took := time.Since(began)
	ended := 0
	for kills := 0; kills < *killRounds; {
		if !harvestAndKill(t, time.Duration(random.Int64N(int64(took)*3/2)), args(killed)...) {
			kills++
			continue
		}
		ended++
		portal.state.Add(1)
		odarchive(t, args(calm)...)
	}
	odarchive(t, args(killed)...) // what was left of a round
	odarchive(t, args(killed)...) // all of the last state
	odarchive(t, args(calm)...)
	t.Logf("%d rounds came to their end before they were killed", ended)
	want, _ := harvested(t, calm)
	got, _ := harvested(t, killed)
	if len(want) < 100 {
		t.Fatalf("%d statements", len(want))
	}
	for q := range want {
		if !got[q] {
			t.Errorf("lost: %s", q)
		}
	}
	for q := range got {
		if !want[q] {
			t.Errorf("too much: %s", q)
		}
	}
}
