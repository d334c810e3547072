package csvprofile

import (
	"math"
	"strconv"
	"strings"
	"time"
)

func dateFormat(f forms) string {
	day, month := "d", "M"
	if f&datePadded != 0 {
		day, month = "dd", "MM"
	}
	year := "yyyy"
	if f&dateYear4 == 0 {
		if f&dateYear2 == 0 {
			return ""
		}
		year = "yy"
	}
	switch {
	case f&dateDMonY != 0:
		return day + " MMM " + year
	case f&dateDMonYDsh != 0:
		return day + "-MMM-" + year
	case f&dateMonDY != 0:
		return "MMM " + day + ", " + year
	}
	sep := ""
	switch {
	case f&dateDash != 0:
		sep = "-"
	case f&dateSlash != 0:
		sep = "/"
	case f&dateDot != 0:
		sep = "."
	case f&dateNoSep == 0:
		return ""
	}
	switch {
	case f&dateYMD != 0:
		return year + sep + month + sep + day
	case f&dateDMY != 0:
		return day + sep + month + sep + year
	case f&dateMDY != 0:
		return month + sep + day + sep + year
	}
	return ""
}

func yearMonthFormat(f forms) string {
	switch {
	case f&dateYMD != 0 && f&dateDash != 0:
		return "yyyy-MM"
	case f&dateYMD != 0 && f&dateSlash != 0:
		return "yyyy/MM"
	case f&dateMonDY == 0:
		return ""
	case f&dateYear2 != 0:
		return "MMM-yy"
	case f&dateYear4 != 0 && f&dateDash != 0:
		return "MMM-yyyy"
	case f&dateYear4 != 0:
		return "MMM yyyy"
	}
	return ""
}

func timeFormat(f forms) string {
	s := "H:mm"
	if f&timePadded != 0 {
		s = "HH:mm"
	}
	if f&timeHMS != 0 {
		s += ":ss"
		if f&timeFraction != 0 {
			s += ".SSSSSSSSS"
		}
	}
	if f&timeCompact != 0 {
		s = strings.ReplaceAll(s, ":", "")
	}
	if f&time12 != 0 {
		s = strings.ReplaceAll(s, "H", "h") + " a"
	}
	switch {
	case f&timeZoneWord != 0:
		s += " z"
	case f&timeZone != 0:
		s += "XXX"
	}
	return s
}

func dateTimeFormat(f forms) string {
	d := dateFormat(f)
	if d == "" || f&(timeHM|timeHMS) == 0 {
		return ""
	}
	switch {
	case f&timeT != 0:
		return d + "T" + timeFormat(f)
	case f&timeSpace != 0:
		return d + " " + timeFormat(f)
	}
	return ""
}

func day(x float64) string {
	return time.Unix(int64(x)*86400, 0).UTC().Format("2006-01-02")
}

func instant(x float64, zoned bool) string {
	s := time.Unix(int64(math.Floor(x)), 0).UTC().Format("2006-01-02T15:04:05")
	if zoned {
		s += "Z"
	}
	return s
}

// canonical returns a number in XSD's form. Integers too long for a float keep their digits.
func (c *column) canonical(x float64, lex []byte, col *Column) string {
	if col.Datatype != "double" && math.Abs(x) >= 1<<53 && kindOf(string(lex)) == kindInteger {
		return strings.TrimPrefix(string(lex), "+")
	}
	if col.Datatype == "double" {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return strconv.FormatFloat(x+0, 'f', -1, 64) // without the sign of a zero
}
