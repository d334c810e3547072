package harvest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
)

// counting is a portal that selects changes: mark "changes" brings those alone. totals are its answers to Count, -1 for
// none.
type counting struct {
	totals []int
	all    int
	reads  []string // marks from which it was read
	tells  bool
}

func (c *counting) Count(context.Context) (int, bool) {
	n := c.totals[0]
	c.totals = c.totals[1:]
	return n, n >= 0
}

func (c *counting) Harvest(_ context.Context, from string, out Sink) error {
	c.reads = append(c.reads, from)
	n := 2
	if from == "" {
		n = c.all
	}
	if err := out.Portal(Portal{IRI: "http://a.example/", TellsGone: c.tells}, from == ""); err != nil {
		return err
	}
	for i := range n {
		if err := out.Dataset(Dataset{IRI: fmt.Sprint("http://a.example/", i)}); err != nil {
			return err
		}
	}
	out.Next("changes")
	return out.Mark("end")
}

func TestAHarvestOfChangesLooksForRemovalsByAskingHowManyDatasetsAreListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about    string
		portal   counting
		part     Selection
		reads    []string
		datasets int
		looked   bool
		beyond   int // Total of the commit, -1 for none
	}{
		{"as many as are known", counting{totals: []int{10}}, Selection{}, []string{"changes"}, 2, false, -1},
		{"fewer", counting{totals: []int{8, 8}, all: 8}, Selection{}, []string{"changes", ""}, 8, true, 8},
		{"more, added meanwhile", counting{totals: []int{11, 10}}, Selection{}, []string{"changes", "changes"}, 2, false, -1},
		{"more than it returns", counting{totals: []int{12, 12, 12}, all: 10}, Selection{}, []string{"changes", "changes", ""}, 10, true,
			12},
		{"it does not say", counting{totals: []int{-1}}, Selection{}, []string{"changes"}, 2, false, -1},
		{"it says what is gone", counting{tells: true}, Selection{}, []string{"changes"}, 2, true, -1},
		{"a part of it", counting{}, Selection{Since: "2026-01-01"}, []string{"changes"}, 2, false, -1},
	} {
		m := &memory{mark: "changes", listed: 10}
		report, err := Run(t.Context(), "src", &c.portal, m, Options{Part: c.part})
		if err != nil || !slices.Equal(c.portal.reads, c.reads) || report.Datasets.N() != c.datasets ||
			report.Portals.N() != 1 || len(m.commits) != 1 {
			t.Errorf("%s: %v, read from %q, commits %q, %+v", c.about, err, c.portal.reads, m.commits, report)
		}
		if total := m.ending.Total; total.Known() != (c.beyond >= 0) || total.Known() && total.N() != c.beyond {
			t.Errorf("%s: the commit has the total %v", c.about, total)
		}
		raw, err := json.Marshal(report)
		if err != nil || strings.Contains(string(raw), `"withdrawn":`) != c.looked ||
			strings.Contains(report.Change(), "not looked for") == c.looked {
			t.Errorf("%s: %v, %s, %s", c.about, err, report.Change(), raw)
		}
		agrees := len(c.portal.reads) > 0 && !c.looked && c.about != "it does not say" && c.part.IsZero()
		if strings.Contains(report.Change(), "not looked for (the portal lists 10 datasets, as many as are known)") != agrees {
			t.Errorf("%s: %s", c.about, report.Change())
		}
	}
}

// naming is a portal that also lists names: names are its answers, nil for none.
type naming struct {
	counting
	names [][]string
}

func (n *naming) Names(context.Context) ([]string, bool) {
	names := n.names[0]
	n.names = n.names[1:]
	return names, names != nil
}

func TestAHarvestOfChangesComparesNamesWhereTheNumbersAgree(t *testing.T) {
	t.Parallel()
	names := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint("http://a.example/", i))
		}
		return list
	}
	for _, c := range []struct {
		about  string
		portal naming
		reads  []string
		looked bool
		agreed bool
		named  int // by the commit
	}{
		{"all that are known, and others", naming{counting{totals: []int{10}}, [][]string{names(12)}}, []string{"changes"}, true, true, 0},
		{"it does not say", naming{counting{totals: []int{10}}, [][]string{nil}}, []string{"changes"}, false, true, 0},
		{"the list is cut off", naming{counting{totals: []int{10}}, [][]string{names(9)}}, []string{"changes"}, false, true, 0},
		{"other numbers", naming{counting{totals: []int{9, 9}, all: 9}, [][]string{names(9)}}, []string{"changes", ""}, true, false, 9},
	} {
		m := &memory{mark: "changes", listed: 10}
		report, err := Run(t.Context(), "src", &c.portal, m, Options{})
		if err != nil || !slices.Equal(c.portal.reads, c.reads) || len(m.ending.Names) != c.named ||
			report.Withdrawn.Known() != c.looked || report.Agreed.Known() != c.agreed {
			t.Errorf("%s: %v, read from %q, %d names, %+v", c.about, err, c.portal.reads, len(m.ending.Names), report)
		}
	}
	m := &memory{mark: "changes", listed: 11} // one of which is not among eleven names
	portal := &naming{counting{totals: []int{11, 11}, all: 10}, [][]string{append(names(10), "http://a.example/new"), names(11)}}
	m.lacking = catalog.Counted(1)
	report, err := Run(t.Context(), "src", portal, m, Options{})
	if err != nil || !slices.Equal(portal.reads, []string{"changes", ""}) || len(m.ending.Names) != 11 ||
		report.Agreed.Known() || !report.Withdrawn.Known() {
		t.Errorf("%v, read from %q, %+v, ending %+v", err, portal.reads, report, m.ending)
	}
}

func TestAReadingThatIsCutOffAfterADifferenceBeginsWithTheWholePortal(t *testing.T) {
	t.Parallel()
	m := &memory{mark: "changes", listed: 10, fail: 5} // the first step of the whole portal
	c := &counting{totals: []int{8}, all: 8}
	if _, err := Run(t.Context(), "src", c, m, Options{}); err == nil || m.mark != "" {
		t.Errorf("%v, mark %q, read from %q", err, m.mark, c.reads)
	}
}
