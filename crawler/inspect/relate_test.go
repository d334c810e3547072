package inspect

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
)

// TestKeysBetweenMembers reads a feed of public transport and looks for the keys that its specification names.
func TestKeysBetweenMembers(t *testing.T) {
	t.Parallel()
	in := inspect(t, "feed.zip", zipped(t,
		"feed/agency.txt", "agency_id,agency_name,agency_timezone\nA,Lines,Europe/Vienna\n",
		"feed/routes.txt", "route_id,agency_id,route_type\nr1,A,3\nr2,A,3\n",
		"feed/stop_times.txt",
		"trip_id,stop_id,stop_sequence,arrival_time\nt1,s1,1,08:00:00\nt1,s2,2,08:05:00\nt2,s1,1,09:00:00\nt2,s3,2,09:05:00\n",
		"feed/stops.txt", "stop_id,stop_name,stop_lat,stop_lon\ns1,North,48.1,16.1\ns2,South,48.2,16.2\ns3,West,48.3,16.3\n",
		"feed/trips.txt", "route_id,service_id,trip_id\nr1,week,t1\nr2,week,t2\nr1,end,t3\n"))
	got := ""
	for _, m := range in.Members {
		for _, p := range m.Tables {
			for _, k := range p.ForeignKeys {
				got += fmt.Sprintf("%s %v %s %d %v %v\n", m.Path, k.Columns, k.Member, k.Table, k.To, k.Found)
			}
		}
	}
	want := "feed/routes.txt [2] feed/agency.txt 0 [1] true\nfeed/stop_times.txt [1] feed/trips.txt 0 [3] true\nfeed/stop_times.txt [2] " +
		"feed/stops.txt 0 [1] true\nfeed/trips.txt [1] feed/routes.txt 0 [1] true\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestKeysOfUnlistedColumns checks that no key names a column that a limit has removed.
func TestKeysOfUnlistedColumns(t *testing.T) {
	t.Parallel()
	column := func(n int) []csvprofile.Column { return make([]csvprofile.Column, n) }
	l := &look{found: &Inside{Tables: []*csvprofile.Profile{
		{Columns: column(2), PrimaryKey: []int{1, 3},
			ForeignKeys: []csvprofile.ForeignKey{{Columns: []int{3}, Table: 1, To: []int{1}}, {Columns: []int{1}, Table: 1, To: []int{2}}}},
		{Columns: column(1), PrimaryKey: []int{1}, ForeignKeys: []csvprofile.ForeignKey{{Columns: []int{1}, To: []int{2}}}},
	}}}
	l.relate()
	var got []string
	for _, p := range l.found.Tables {
		got = append(got, fmt.Sprint(p.PrimaryKey, p.ForeignKeys))
	}
	if s := strings.Join(got, " "); s != "[] [] [1] [{[1]  0 [2] false}]" {
		t.Error(s)
	}
}
