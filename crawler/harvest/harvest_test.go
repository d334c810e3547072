package harvest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// memory is a Keeper in memory that may fail at a step.
type memory struct {
	urls    []string
	entries []Entry
	commits []string // "portal whole"
	mark    string
	listed  int
	lacking catalog.Figure
	ending  Ending // of the last commit
	report  Report // of the last harvest
	steps   int
	fail    int  // number of the step that fails; 0 means none
	nothing bool // Commit finds nothing
	blind   bool // Commit cannot tell what was removed
}

func (m *memory) Begin(_ context.Context, _ Report, fresh bool) (string, error) {
	if fresh {
		m.mark = ""
	}
	return m.mark, nil
}

func (m *memory) Open(context.Context, Report, string, bool, bool) error { return nil }

func (m *memory) Listed(context.Context, Report, string) (int, error) { return m.listed, nil }

func (m *memory) Lacking(context.Context, Report, string, []string) (catalog.Figure, error) {
	return catalog.Counted(m.lacking.N()), nil
}

func (m *memory) Keep(_ context.Context, step Step) (int, error) {
	m.steps++
	if m.steps == m.fail {
		return 0, errors.New("disk full")
	}
	added := 0
	for _, s := range step.Seeds {
		if !slices.Contains(m.urls, s.URL) {
			m.urls = append(m.urls, s.URL)
			added++
		}
	}
	m.entries = append(m.entries, step.Entries...)
	m.mark = step.Mark
	return added, nil
}

func (m *memory) Commit(_ context.Context, _ Report, portal string, e Ending) (Changes, error) {
	m.commits, m.ending = append(m.commits, fmt.Sprint(portal, " ", e.Whole)), e
	if m.nothing {
		return Changes{}, nil
	}
	return Changes{Inserted: 1, Blind: m.blind}, nil
}

func (m *memory) End(_ context.Context, r Report, done bool, next string) error {
	if m.report = r; done {
		m.mark = next
	}
	return nil
}

// quads returns the number of statements kept.
func (m *memory) quads() (n int) {
	for _, e := range m.entries {
		n += len(e.Quads)
	}
	return n
}

// pages is a source of n pages with three listings each. It breaks off before page breakAt.
type pages struct{ n, breakAt int }

func (p pages) Harvest(_ context.Context, from string, out Sink) error {
	start := 0
	if from != "" {
		fmt.Sscan(from, &start)
	}
	if err := out.Portal(Portal{IRI: "http://a.example/"}, true); err != nil {
		return err
	}
	for page := start; page < p.n; page++ {
		if page == p.breakAt {
			return errors.New("the portal answers HTML")
		}
		for i := range 3 {
			if err := out.Seed(catalog.Seed{URL: fmt.Sprintf("http://a.example/%d/%d", page, i), Portal: "http://a.example/"}); err != nil {
				return err
			}
		}
		if err := out.Quad(term.Quad{S: term.IRI("http://a.example/"), P: term.IRI("http://p.example/"),
			O: term.String(fmt.Sprint(page))}); err != nil {
			return err
		}
		if err := out.Mark(fmt.Sprint(page + 1)); err != nil {
			return err
		}
	}
	return nil
}

func TestAHarvestThatBreaksOffKeepsWhatWasGoodAndGoesOnFromThere(t *testing.T) {
	t.Parallel()
	m := &memory{}
	report, err := Run(t.Context(), "src", pages{n: 5, breakAt: 2}, m, Options{})
	if err == nil || !strings.Contains(err.Error(), "answers HTML") || report.Seeds.N() != 6 || report.Added != 6 || m.mark != "2" {
		t.Fatalf("first run: %+v, %v, mark %q", report, err, m.mark)
	}
	report, err = Run(t.Context(), "src", pages{n: 5, breakAt: -1}, m, Options{})
	if !slices.Equal(m.commits, []string{"http://a.example/ false", "http://a.example/ true"}) {
		t.Errorf("commits %q: what broke off must withdraw nothing", m.commits)
	}
	if err != nil || report.Seeds.N() != 9 || len(m.urls) != 15 || m.quads() != 7 || m.mark != "" {
		t.Fatalf("second run: %+v, %v, %d urls, %d quads, mark %q", report, err, len(m.urls), m.quads(), m.mark)
	}
}

func TestAFailureToKeepLosesOnlyTheStepThatFailed(t *testing.T) {
	t.Parallel()
	m := &memory{fail: 3}
	if _, err := Run(t.Context(), "src", pages{n: 5, breakAt: -1}, m, Options{}); err == nil ||
		!strings.Contains(err.Error(), "disk full") {
		t.Fatalf("error %v", err)
	}
	m.fail = 0
	if _, err := Run(t.Context(), "src", pages{n: 5, breakAt: -1}, m, Options{}); err != nil || len(m.urls) != 15 {
		t.Fatalf("after the mishap: %v, %d urls", err, len(m.urls))
	}
}

func TestALimitEndsAHarvestWithoutAnError(t *testing.T) {
	t.Parallel()
	m := &memory{}
	report, err := Run(t.Context(), "src", pages{n: 5, breakAt: -1}, m, Options{Limit: 4})
	if err != nil || report.Seeds.N() != 4 || len(m.urls) != 4 {
		t.Fatalf("%+v, %v, %d urls", report, err, len(m.urls))
	}
}

type odd struct{ urls []string }

func (o odd) Harvest(_ context.Context, _ string, out Sink) error {
	for _, u := range o.urls {
		if err := out.Seed(catalog.Seed{URL: u}); err != nil {
			return err
		}
	}
	return nil
}

func TestListingsThatAreNoAddressesAreCountedAndExplained(t *testing.T) {
	t.Parallel()
	m := &memory{}
	report, err := Run(t.Context(), "src",
		odd{
			[]string{"", "see attachment", "javascript:alert(1)", "http://", "ftp://a.example/x", "http://a..example/",
				"http://a.example/100%.csv", "https://a.example/ok"}}, m, Options{})
	if err != nil || report.Invalid.N() != 5 || len(report.Skipped) != 5 || len(m.urls) != 3 {
		t.Fatalf("%+v, %v, kept %q", report, err, m.urls)
	}
}

func TestACancelledHarvestStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, "src", pages{n: 5, breakAt: -1}, &memory{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
}

func TestAStatementThatNoRecordHoldsIsLeftOutAndToldOf(t *testing.T) {
	t.Parallel()
	s := &step{portal: Portal{IRI: "http://p.example/"}}
	s.ctx = t.Context()
	if !s.tooLong(term.Quad{S: term.IRI("http://p.example/d"), P: term.IRI("http://p.example/p"),
		O: term.String(strings.Repeat("o", maxStatement))}) {
		t.Error("it is kept")
	}
	if len(s.report.Skipped) != 1 || s.report.Invalid.N() != 1 || len(s.report.Skipped[0]) > 500 {
		t.Errorf("told: %.700q", s.report.Skipped)
	}
}
