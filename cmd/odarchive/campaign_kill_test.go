package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
)

// The test kills a campaign over a web interface (SIGKILL) at random moments and starts it again, through several
// states of the interface. In the end the archive must have the same statements as one whose campaign was not killed.
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
	killedAndCalm(t, 2, portal, func(data string) []string { return []string{"campaign", "run", file, "--data", data} })
}
