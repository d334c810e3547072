package main

import (
	"encoding/json"
	"strings"
	"testing"

	"odarchive/crawler"
)

func TestAFetchThatNothingAnsweredHasNeitherStatusNorSize(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]crawler.Report{
		`"status":null,"size":null`: {Outcome: "no-version", ErrorClass: "dns"},
		`"status":404,"size":0`:     {Outcome: "no-version", Status: 404},
		`"status":null,"size":7`:    {Outcome: "archive", SHA256: "ab", Size: 7}, // FTP has no status
	} {
		raw, err := json.Marshal(reportLine(r))
		line := map[string]any{}
		if err == nil {
			err = json.Unmarshal(raw, &line)
		}
		if err != nil || !strings.HasSuffix(string(raw), want+"}") || len(line) != 10 || strings.Count(string(raw), `"status"`) != 1 {
			t.Errorf("%s, %v; want %s", raw, err, want)
		}
	}
}
