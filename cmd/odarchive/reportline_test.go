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
		`"error_class":"dns","status":null,"sha256":"","size":null,"detected_type"`: {Outcome: "no-version", ErrorClass: "dns"},
		`"error_class":"","status":404,"sha256":"","size":0,"detected_type"`:        {Outcome: "no-version", Status: 404},
		// FTP has no status
		`"error_class":"","status":null,"sha256":"ab","size":7,"detected_type"`: {Outcome: "archive", SHA256: "ab", Size: 7},
	} {
		raw, err := json.Marshal(reportLine(r))
		line := map[string]any{}
		if err == nil {
			err = json.Unmarshal(raw, &line)
		}
		if err != nil || !strings.Contains(string(raw), want) || len(line) != 10 || strings.Count(string(raw), `"status"`) != 1 {
			t.Errorf("%s, %v; want %s", raw, err, want)
		}
	}
}
