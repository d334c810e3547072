package main

import (
	"slices"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

func TestAProfileSaysWhatATableIs(t *testing.T) {
	stops := &csvprofile.Profile{Columns: []csvprofile.Column{{Name: "stop_id"}, {Name: "stop_name"}}}
	times := &csvprofile.Profile{
		Kind: "relational", Subject: 2, TotalRows: 1, Totals: []int64{9}, SectionRows: 2, Sections: []int64{1, 5},
		Columns:    []csvprofile.Column{{Name: "trip"}, {Name: "stop"}},
		PrimaryKey: []int{1, 2},
		ForeignKeys: []csvprofile.ForeignKey{{Columns: []int{2}, Member: "stops.txt", To: []int{1}, Found: true},
			{Columns: []int{1}, Member: "gone.txt", To: []int{1}}},
		Notes: []string{"Source: the city"},
	}
	in := &inspect.Inside{
		Members: []inspect.Member{{Path: "stops.txt", Tables: []*csvprofile.Profile{stops}},
			{Path: "times.txt", Tables: []*csvprofile.Profile{times}}}}
	want := []string{
		"relational table, about stop",
		"1 row has sums of others, first 9",
		"2 rows only head others, first 1",
		"key trip, stop",
		"stop refers to stop_id of stops.txt (by names and values)",
		"trip refers to another table",
		"note: Source: the city",
	}
	if got := whatItIs(times, in); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := whatItIs(stops, in); len(got) > 0 {
		t.Errorf("a table of which nothing is known has %q", got)
	}
}
