package columnar

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Limits of a cell.
const (
	cellItems = 100      // of a list that are shown
	cellBytes = 64 << 10 // of a text that are shown
)

// cellText returns a text of bounded length.
func cellText(b []byte) string {
	return strings.ToValidUTF8(string(b[:min(len(b), cellBytes)]), "\ufffd")
}

// cellBinary returns bytes as the text that they are, or in hexadecimal digits.
func cellBinary(b []byte) string {
	if utf8.Valid(b) && !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' }) {
		return cellText(b)
	}
	return hex.EncodeToString(b[:min(len(b), 256)])
}

// day formats a number of days since 1970.
func day(n int64) string {
	if n < -1_000_000 || n > 3_000_000 {
		return strconv.FormatInt(n, 10)
	}
	return time.Unix(n*86400, 0).UTC().Format("2006-01-02")
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// unitOf returns a unit of time: 0 seconds, 1 milliseconds, 2 microseconds, 3 nanoseconds.
func unitOf(n int) time.Duration {
	return []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond}[min(max(n, 0), 3)]
}

// moment formats a number of units since 1970.
func moment(v int64, unit int, zone bool) string {
	per := int64(time.Second / unitOf(unit))
	seconds := floorDiv(v, per)
	at := time.Unix(seconds, (v-seconds*per)*int64(unitOf(unit))).UTC()
	if y := at.Year(); y < 1 || y > 9999 {
		return strconv.FormatInt(v, 10)
	}
	if zone {
		return at.Format("2006-01-02T15:04:05.999999999Z")
	}
	return at.Format("2006-01-02T15:04:05.999999999")
}
