package extent

import (
	"iter"
	"time"

	"odarchive/crawler/inspect/csvprofile"
)

// Period is a time from a date to another, both included. Start and End are values of the XSD type Datatype: "date",
// "dateTime", "gYearMonth" or "gYear".
type Period struct {
	Start    string `json:"start"`
	End      string `json:"end"`
	Datatype string `json:"datatype"`
}

// Years that columns of dates may have. Others stand for something else, as 9999-12-31 for no end.
const (
	firstYear = "1000"
	lastYear  = "2199"
)

// Periods returns the period of the dates of several tables. ok is false if they have none.
func Periods(all iter.Seq[*csvprofile.Profile]) (period Period, ok bool) {
	for p := range all {
		for _, c := range p.Columns {
			one, some := columnPeriod(c)
			switch {
			case some && ok:
				period = period.or(one)
			case some:
				period, ok = one, true
			}
		}
	}
	return period, ok
}

// columnPeriod returns the period of a column of dates. A column with an unlikely year has none.
func columnPeriod(c csvprofile.Column) (p Period, ok bool) {
	switch c.Datatype {
	case "date", "dateTime", "gYearMonth", "gYear":
	default:
		return p, false
	}
	for _, v := range []string{c.Min, c.Max} {
		if len(v) < 4 || len(v) > 4 && v[4] != '-' || v[:4] < firstYear || v[:4] > lastYear {
			return p, false
		}
	}
	return Period{c.Min, c.Max, c.Datatype}, true
}

// or returns the period around two. If their datatypes differ, it has dates.
func (p Period) or(q Period) Period {
	if p.Datatype != q.Datatype {
		p, q = p.days(), q.days()
	}
	return Period{min(p.Start, q.Start), max(p.End, q.End), p.Datatype}
}

// days returns the period as dates.
func (p Period) days() Period {
	d := Period{p.Start, p.End, "date"}
	switch p.Datatype {
	case "dateTime":
		d.Start, d.End = p.Start[:min(10, len(p.Start))], p.End[:min(10, len(p.End))]
	case "gYearMonth":
		d.Start, d.End = p.Start+"-01", p.End+"-"+lastDay(p.End)
	case "gYear":
		d.Start, d.End = p.Start+"-01-01", p.End+"-12-31"
	}
	return d
}

// lastDay returns the last day of a month, as in "2024-02".
func lastDay(month string) string {
	t, err := time.Parse("2006-01", month)
	if err != nil {
		return "28"
	}
	return t.AddDate(0, 1, -1).Format("02")
}
