package csvprofile

import (
	"strings"
	"time"
)

// Moment reads a cell of a column of dates, times or months, however it is written there: what counts as one for the
// profile does so here, too. Fractions of seconds are left out. A time is on 1970-01-01; a time zone is taken into
// account. ok is false for any other cell, and for columns of other datatypes.
func (c *Column) Moment(cell string) (at time.Time, ok bool) {
	b := trim([]byte(cell))
	if len(b) == 0 {
		return at, false
	}
	v := classify(b)
	x := v.num
	if y, m, d := strings.Index(c.Format, "y"), strings.Index(c.Format, "M"), strings.Index(c.Format, "d"); m >= 0 && m < d && d < y &&
		v.forms&dateMDY != 0 {
		x = v.alt
	}
	switch {
	case c.Datatype == "date" && v.kind == kindDate:
		return time.Unix(int64(x)*86400, 0).UTC(), true
	case c.Datatype == "dateTime" && v.kind == kindDateTime, c.Datatype == "time" && v.kind == kindTime:
		return time.Unix(int64(x), 0).UTC(), true
	case c.Datatype == "gYearMonth" && v.kind == kindYearMonth:
		n := int(x) - 1
		return time.Date(n/12, time.Month(n%12+1), 1, 0, 0, 0, 0, time.UTC), true
	}
	return at, false
}
