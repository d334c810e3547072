package crawl

import (
	"testing"

	"odarchive/crawler/follow/discover"
)

func TestWhatIsRecognisedCanBeHarvested(t *testing.T) {
	t.Parallel()
	rules, err := discover.Rules()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range rules {
		kinds := []string{s.Kind}
		for _, p := range s.Probes {
			if p.Kind != "" {
				kinds = append(kinds, p.Kind)
			}
		}
		for _, kind := range kinds {
			if !KnowsHarvest(kind) {
				t.Errorf("%s is harvested as %q, which does not exist", s.Name, kind)
			}
		}
	}
}
