package ui

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
)

func TestAPageSaysWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	wide := &csvprofile.Profile{Columns: make([]csvprofile.Column, 600), Omitted: 15_400}
	in := &inspect.Inside{Tables: []*csvprofile.Profile{wide}, Members: make([]inspect.Member, 300), MembersOmitted: 7,
		ColumnsOmitted: 15_400, SketchesOmitted: 1}
	page := (&UI{}).inside("0123456789abcdef01234567_0", in)
	if len(page.Members) != maxShown || page.Number != 307 {
		t.Errorf("%d members, of %d", len(page.Members), page.Number)
	}
	if facts := tableFacts(wide); len(facts.List) != maxColumns || !strings.HasPrefix(plainSpaces(facts.Size), "16 000 columns") {
		t.Errorf("%d columns: %s", len(facts.List), facts.Size)
	}
	got := plainSpaces(strings.Join(page.Omitted, "\n"))
	want := "This page shows the first 500 of the 16 000 columns of the first table.\n" +
		"This page shows the first 200 of the files inside.\n" +
		"The archive keeps no profile of 15 400 more columns, because there are too many.\n" +
		"The archive does not list 7 more files inside, because there are too many.\n" +
		"The values of 1 column are not compared with other tables, because there are too many."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if small := (&UI{}).inside("0123456789abcdef01234567_0", &inspect.Inside{Members: make([]inspect.Member, 3)}); len(small.Omitted) > 0 {
		t.Errorf("of a small archive: %q", small.Omitted)
	}
}

// plainSpaces replaces the narrow spaces in numbers by ordinary ones.
func plainSpaces(s string) string {
	return strings.NewReplacer("\u202f", " ", "\u2009", " ", "\u00a0", " ").Replace(s)
}

func TestLabelsOfCodesAreShown(t *testing.T) {
	codes := csvprofile.Column{Name: "vote"}
	for i := range maxLabels + 2 {
		codes.Labels = append(codes.Labels, csvprofile.Label{Value: strconv.Itoa(i), Label: "party"})
	}
	facts := tableFacts(&csvprofile.Profile{Columns: []csvprofile.Column{codes, {Name: "age"}}})
	if c := facts.List[0]; len(c.Labels) != maxLabels || c.MoreLabels != 2 || c.Labels[1].Value != "1" {
		t.Errorf("%d labels and %d more", len(c.Labels), c.MoreLabels)
	}
	if c := facts.List[1]; len(c.Labels) != 0 || c.MoreLabels != 0 {
		t.Errorf("a column without labels has %v", c.Labels)
	}
}

func TestKeysLeadToTheTablesTheyReferTo(t *testing.T) {
	t.Parallel()
	table := func(name string, columns ...string) *csvprofile.Profile {
		p := &csvprofile.Profile{Name: name}
		for _, c := range columns {
			p.Columns = append(p.Columns, csvprofile.Column{Name: c})
		}
		return p
	}
	stops, times, a, b := table("", "stop_id"), table("", "trip_id", "stop_id"), table("a", "x", "y"), table("b", "p", "q")
	times.ForeignKeys = []csvprofile.ForeignKey{{Columns: []int{2}, Member: "stops.txt", To: []int{1}, Found: true}}
	b.ForeignKeys = []csvprofile.ForeignKey{{Columns: []int{1, 2}, To: []int{1, 2}}, {Columns: []int{1}, Table: 9, To: []int{1}}}
	u := &UI{mint: ns.Mint{Base: "http://archive.example/"}}
	page := u.inside("0123456789abcdef01234567_0", &inspect.Inside{Tables: []*csvprofile.Profile{a, b},
		Members: []inspect.Member{{Path: "stops.txt", Tables: []*csvprofile.Profile{stops}},
			{Path: "stop times.txt", Tables: []*csvprofile.Profile{times}}}})
	member := "/api/v1/get/file/id/0123456789abcdef01234567_0/member/"
	want := []key{{"b", "#table-2", "p, q", "a", "#table-1", "x, y", "declared"},
		{"stop times.txt", member + "stop%20times.txt?format=html", "stop_id", "stops.txt", member + "stops.txt?format=html", "stop_id",
			"names and values agree"}}
	if !slices.Equal(page.Keys, want) {
		t.Errorf("%+v", page.Keys)
	}
}
