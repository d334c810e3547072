package xsdval

// Days returns the number of days from 0001-01-01 to a date of the proleptic Gregorian calendar, in which year 0 exists
// (XSD 1.1).
func Days(y int64, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := int64((m + 9) % 12)
	doy := (153*mp+2)/5 + int64(d) - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*146097 + doe - 306
}

// Civil returns the date that is z days after 0001-01-01.
func Civil(z int64) (y int64, m, d int) {
	z += 306
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = int(doy - (153*mp+2)/5 + 1)
	m = int(mp) + 3
	y = yoe + era*400
	if m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// IsDate reports whether a day exists in the proleptic Gregorian calendar.
func IsDate(y int64, m, d int) bool {
	return 1 <= m && m <= 12 && 1 <= d && (d <= 28 || d <= daysIn(y, m))
}

// monthDays are the lengths of the months in a leap year.
var monthDays = [13]int{1: 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

func daysIn(y int64, m int) int {
	if m == 2 && (y%4 != 0 || y%100 == 0 && y%400 != 0) {
		return 28
	}
	return monthDays[m]
}
