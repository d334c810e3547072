package extent

import (
	"slices"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
)

func TestThePeriodOfDates(t *testing.T) {
	t.Parallel()
	column := func(datatype, from, to string) csvprofile.Column {
		return csvprofile.Column{Datatype: datatype, Min: from, Max: to}
	}
	for _, c := range []struct {
		columns []csvprofile.Column
		want    Period
	}{
		{nil, Period{}},
		{[]csvprofile.Column{column("date", "2020-01-02", "2021-03-04"), column("integer", "1", "3000")},
			Period{"2020-01-02", "2021-03-04", "date"}},
		{[]csvprofile.Column{column("date", "2020-01-02", "9999-12-31")}, Period{}},
		{[]csvprofile.Column{column("date", "0001-01-01", "2020-01-01"), column("date", "2020-01-02", "2021-03-04")},
			Period{"2020-01-02", "2021-03-04", "date"}},
		{[]csvprofile.Column{column("dateTime", "2020-01-02T03:04:05Z", "2020-02-02T03:04:05Z")},
			Period{"2020-01-02T03:04:05Z", "2020-02-02T03:04:05Z", "dateTime"}},
		{[]csvprofile.Column{column("gYear", "1995", "2024")}, Period{"1995", "2024", "gYear"}},
		{[]csvprofile.Column{column("gYearMonth", "2023-05", "2024-02"), column("date", "2023-06-01", "2023-07-01")},
			Period{"2023-05-01", "2024-02-29", "date"}},
		{[]csvprofile.Column{column("gYear", "1995", "2024"), column("dateTime", "1994-05-06T00:00:00", "1994-05-07T00:00:00")},
			Period{"1994-05-06", "2024-12-31", "date"}},
		{[]csvprofile.Column{column("date", "-0044-03-15", "2020-01-01")}, Period{}},
		{[]csvprofile.Column{column("gYear", "20000", "20001")}, Period{}},
		{[]csvprofile.Column{column("date", "", "")}, Period{}},
	} {
		got, ok := Periods(slices.Values([]*csvprofile.Profile{{Columns: c.columns}}))
		if got != c.want || ok != (c.want != Period{}) {
			t.Errorf("%v is %v, want %v", c.columns, got, c.want)
		}
	}
}
