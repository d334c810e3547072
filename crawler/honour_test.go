package crawler

import (
	"slices"
	"testing"
)

func TestRulesOfXRobotsTagAreReadAsRobotsDo(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"noarchive": true, "NOARCHIVE": true, "noindex, noarchive": true, "none": true, "noindex": false, "": false,
		"odarchive: noarchive": true, "otherbot: noarchive": false, "otherbot: noindex, noarchive": false,
		"noarchive, otherbot: noindex": true, "unavailable_after: 25 Jun 2030 15:00:00 PST, noarchive": true,
		"max-snippet: 5, noarchive": true, "otherbot: noarchive, odarchive: noarchive": true, "noarchives": false,
	} {
		if got := saysNoArchive([]string{value}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if !saysNoArchive([]string{"noindex", "noarchive"}) {
		t.Error("the second field is not read")
	}
}

func TestReservationsAreReadByTheirPatterns(t *testing.T) {
	t.Parallel()
	rules := parseTDMRep([]byte(`[{"location":"/open/*","tdm-reservation":0},{"location":"/*.csv$","tdm-reservation":1},
		{"location":"relative","tdm-reservation":1},{"location":"/a.(b","tdm-reservation":1}]`))
	first := func(path string) int {
		i := slices.IndexFunc(rules, func(r tdmRule) bool { return r.pattern.MatchString(path) })
		if i < 0 {
			return -1
		}
		return rules[i].Reservation
	}
	for path, want := range map[string]int{"/open/x.csv": 0, "/x.csv": 1, "/x.csv.gz": -1, "/relative": -1, "/a.(b": 1} {
		if got := first(path); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	for _, bad := range []string{"", "{}", "[1]", `[{"location":1}]`, "null"} {
		if got := parseTDMRep([]byte(bad)); len(got) != 0 {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzTDMRep(f *testing.F) {
	f.Add([]byte(`[{"location":"/*.csv$","tdm-reservation":1}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, r := range parseTDMRep(text) {
			r.pattern.MatchString("/x/y.csv")
		}
	})
}
