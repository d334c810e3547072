package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the page")

func TestThePageIsMadeOfTheFigures(t *testing.T) {
	var b bytes.Buffer
	if err := page(&b); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "ui", "docs", "explanation", "scale.md")
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	there, err := os.ReadFile(name)
	if err != nil || !bytes.Equal(there, b.Bytes()) {
		t.Errorf("%s is not what scalesim prints (%v); -update rewrites it", name, err)
	}
}

// What an input says of its source can be looked up.
func TestSourcesOfFiguresExist(t *testing.T) {
	t.Parallel()
	for _, i := range inputs().all() {
		for _, name := range regexp.MustCompile(`[a-z/]+/[A-Z]+(-[a-z]+)?\.md`).FindAllString(i.Source, -1) {
			if _, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name))); err != nil {
				t.Errorf("%s: %v", i.Name, err)
			}
		}
		if i.low > i.likely || i.likely > i.high || i.Name == "" || i.Source == "" {
			t.Errorf("%+v", i)
		}
	}
}

// A load that is simple enough for a sheet of paper.
func TestTheModelOnPaper(t *testing.T) {
	t.Parallel()
	m := inputs()
	// ms, ns a byte
	m.recording.figure, m.notModified.figure, m.turn.figure, m.examining.figure = exactly(1), exactly(1), exactly(1), exactly(500)
	m.failing.figure, m.conditional.figure, m.frontierSlower.figure = exactly(0), exactly(1), exactly(1)
	m.changes.figure, m.size.figure, m.deflated.figure, m.answer.figure = exactly(365.25), exactly(1000), exactly(0.5), exactly(0)
	c := m.of(load{urls: 86400, interval: day, years: 0}) // one visit a second, all of them find a change
	for name, pair := range map[string][2]float64{
		"visits": {c.visits.likely, 1}, "versions": {c.versions.likely, 1}, "writer": {c.writerCores.likely, 0.001},
		"workers": {c.workerCores.likely, 0.0005},
		"parcels": {c.parcels.likely, 500}, "turns": {c.turns.likely, 0.001}, "limit": {m.limit(day).likely, 1000 * 86400},
		"packs": {c.packs.likely, 86400 * 500 * (1 + 2.0/32)},
	} {
		if d := pair[0]/pair[1] - 1; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
}

func TestRangesContainWhatIsLikely(t *testing.T) {
	t.Parallel()
	for _, l := range archives() {
		c := inputs().of(l)
		for i, f := range []figure{c.visits, c.versions, c.download, c.parcels, c.shipped, c.writerCores, c.workerCores, c.turns, c.kept,
			c.packs, c.database, c.puts, c.open} {
			if f.low > f.likely*1.0001 || f.likely > f.high*1.0001 || f.low < 0 {
				t.Errorf("%.0f URLs, figure %d: %+v", l.urls, i, f)
			}
		}
	}
}

func TestNumbersAreWrittenForPeople(t *testing.T) {
	t.Parallel()
	got := strings.Join([]string{short(0.123), short(9.96), short(1234), short(16534), short(100e6), short(1e9), size(8.6e12), bits(1e6),
		percent(0.0116), percent(1.16), lasting(90), lasting(3600), digits(0)}, " | ")
	const want = "0.12 | 10 | 1200 | 17 k | 100 M | 1 G | 8.6 TB | 8 Mbit/s | 1.2 % | 120 % | 90 s | 60 min | 0"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
