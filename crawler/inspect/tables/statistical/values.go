package statistical

import (
	"fmt"
	"math"
	"strings"
	"time"

	"odarchive/crawler/inspect/tables/source"
)

// number formats a number of 32 or 64 bits, as source.Number does.
func number(v float64, bits int) string { return source.Number(v, bits) }

// calendar is the day from which a program counts.
type calendar struct{ epoch time.Time }

var (
	from1960 = calendar{time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)}   // Stata, SAS
	from1582 = calendar{time.Date(1582, 10, 14, 0, 0, 0, 0, time.UTC)} // SPSS
	from1970 = calendar{time.Unix(0, 0).UTC()}                         // R
)

// daysPerYear bounds what a date may be: the years 1 to 9999 are within 9999 times it of every epoch.
const daysPerYear = 366

// date formats a number of days, "" if it has no date in four digits of a year.
func (c calendar) date(days float64) string {
	if !(math.Abs(days) < 9999*daysPerYear) {
		return ""
	}
	return inFourDigits(c.epoch.AddDate(0, 0, int(math.Floor(days))), "2006-01-02")
}

// moment formats a number of seconds, to the millisecond if they are not whole.
func (c calendar) moment(seconds float64) string {
	if !(math.Abs(seconds) < 9999*daysPerYear*86400) {
		return ""
	}
	days := math.Floor(seconds / 86400)
	ms := math.Round((seconds - days*86400) * 1000)
	at := c.epoch.AddDate(0, 0, int(days)).Add(time.Duration(ms) * time.Millisecond)
	return inFourDigits(at, "2006-01-02T15:04:05.999")
}

func inFourDigits(at time.Time, layout string) string {
	if y := at.Year(); y < 1 || y > 9999 {
		return ""
	}
	return at.Format(layout)
}

// clock formats a number of seconds as a time of day, or as hours, minutes and seconds if there are more in it than a
// day.
func clock(seconds float64) string {
	if !(math.Abs(seconds) < 1e12) {
		return ""
	}
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	ms := int64(math.Round(seconds * 1000))
	text := fmt.Sprintf("%s%02d:%02d:%02d", sign, ms/3_600_000, ms/60_000%60, ms/1000%60)
	if ms%1000 != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%03d", ms%1000), "0")
	}
	return text
}

// shown returns how a number is displayed by a function of a calendar, or the number itself where that shows nothing.
func shown(text string, v float64) string {
	if text == "" {
		return number(v, 64)
	}
	return text
}
