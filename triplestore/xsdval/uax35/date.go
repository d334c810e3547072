package csvw

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// datePatterns are the date formats that implementations must know (Metadata Vocabulary 6.4.4).
func datePatterns() []string {
	list := []string{"yyyy-MM-dd", "yyyyMMdd"}
	for _, sep := range []string{"-", "/", "."} {
		for _, p := range []string{"dd MM yyyy", "d M yyyy", "MM dd yyyy", "M d yyyy"} {
			list = append(list, strings.ReplaceAll(p, " ", sep))
		}
	}
	return append(list, "yyyy/MM/dd", "yyyy.MM.dd", "yyyy-M-d", "yyyy/M/d")
}

func timePatterns() []string { return []string{"HH:mm:ss", "HHmmss", "HH:mm", "HHmm"} }

// splitPattern takes a pattern apart: date, what separates, time, digits of fractions of a second, zone.
func splitPattern(base, s string) (date, sep, clock string, fraction int, zone string, ok bool) {
	rest := s
	for _, z := range []string{"XXX", "XX", "X", "xxx", "xx", "x"} {
		if t, found := strings.CutSuffix(rest, z); found {
			zone, rest = z, t
			if t, found := strings.CutSuffix(rest, " "); found {
				zone, rest = " "+zone, t
			}
			break
		}
	}
	if i := strings.LastIndex(rest, ".S"); i >= 0 && strings.Trim(rest[i+1:], "S") == "" {
		fraction, rest = len(rest)-i-1, rest[:i]
	}
	if base != "time" {
		best := ""
		for _, p := range datePatterns() {
			if strings.HasPrefix(rest, p) && len(p) > len(best) {
				best = p
			}
		}
		if best == "" {
			return
		}
		date, rest = best, rest[len(best):]
		if base == "date" {
			return date, "", "", 0, zone, rest == "" && fraction == 0
		}
		switch {
		case strings.HasPrefix(rest, "'T'"):
			sep, rest = "T", rest[3:]
		case strings.HasPrefix(rest, "T"), strings.HasPrefix(rest, " "):
			sep, rest = rest[:1], rest[1:]
		default:
			return
		}
	}
	for _, p := range timePatterns() {
		if rest == p {
			return date, sep, p, fraction, zone, fraction == 0 || strings.HasSuffix(p, "ss")
		}
	}
	return
}

func validDatePattern(base, s string) bool {
	_, _, _, _, _, ok := splitPattern(base, s)
	return ok
}

// moment is a date or time in parts.
type moment struct {
	year, month, day, hour, minute, second int
	fraction                               string
	zone                                   string // "Z", "+01:00" or ""
}

// date reads a date, time or both in the datatype's format, or as XSD writes it.
func (d *Datatype) date(s string) (value, error) {
	bad := fmt.Errorf("%q is no %s", s, d.Base)
	m := moment{year: 1972, month: 12, day: 31}
	rest, ok := s, false
	dateP, sep, clockP, fraction, zoneP := "yyyy-MM-dd", "T", "HH:mm:ss", -1, "?"
	if d.pattern != "" {
		dateP, sep, clockP, fraction, zoneP, _ = splitPattern(d.Base, d.pattern)
	}
	if d.Base == "time" {
		dateP, sep = "", ""
	}
	if d.Base == "date" {
		sep, clockP = "", ""
	}
	if rest, ok = m.take(rest, dateP); !ok {
		return value{}, bad
	}
	if rest, ok = strings.CutPrefix(rest, sep); !ok {
		return value{}, bad
	}
	if rest, ok = m.take(rest, clockP); !ok {
		return value{}, bad
	}
	if t, found := strings.CutPrefix(rest, "."); found && fraction != 0 && clockP != "" {
		n := 0
		for n < len(t) && t[n] >= '0' && t[n] <= '9' {
			n++
		}
		if n == 0 || fraction > 0 && n > fraction {
			return value{}, bad
		}
		m.fraction, rest = strings.TrimRight(t[:n], "0"), t[n:]
	}
	if !m.takeZone(rest, zoneP) || d.Base == "dateTimeStamp" && m.zone == "" {
		return value{}, bad
	}
	if m.month < 1 || m.month > 12 || m.day < 1 || m.hour > 24 || m.minute > 59 || m.second > 59 || m.hour == 24 && m.minute+m.second > 0 {
		return value{}, bad
	}
	at := time.Date(m.year, time.Month(m.month), m.day, m.hour, m.minute, m.second, 0, time.UTC)
	if day := time.Date(m.year, time.Month(m.month), m.day, 0, 0, 0, 0, time.UTC); day.Day() != m.day || int(day.Month()) != m.month {
		return value{}, bad
	}
	num := new(big.Rat).SetInt64(at.Unix() - m.offset())
	if m.fraction != "" {
		if f, ok := new(big.Rat).SetString("0." + m.fraction); ok {
			num.Add(num, f)
		}
	}
	return value{lexical: m.text(d.Base), num: num}, nil
}

// take reads the fields of a pattern.
func (m *moment) take(s, pattern string) (string, bool) {
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		i += n
		if !strings.ContainsRune("yMdHms", rune(c)) {
			if len(s) < n || s[:n] != pattern[i-n:i] {
				return s, false
			}
			s = s[n:]
			continue
		}
		most := n
		if n == 1 {
			most = 2
		}
		w := 0
		for w < most && w < len(s) && s[w] >= '0' && s[w] <= '9' {
			w++
		}
		if w < n {
			return s, false
		}
		v, _ := strconv.Atoi(s[:w])
		s = s[w:]
		switch c {
		case 'y':
			m.year = v
		case 'M':
			m.month = v
		case 'd':
			m.day = v
		case 'H':
			m.hour = v
		case 'm':
			m.minute = v
		case 's':
			m.second = v
		}
	}
	return s, true
}

// takeZone reads a time zone; pattern "?" allows XSD's, "" none.
func (m *moment) takeZone(s, pattern string) bool {
	if t, ok := strings.CutPrefix(pattern, " "); ok {
		pattern = t
		if s, ok = strings.CutPrefix(s, " "); !ok {
			return false
		}
	}
	switch {
	case s == "":
		return pattern == "" || pattern == "?"
	case pattern == "":
		return false
	case s == "Z":
		m.zone = "Z"
		return pattern == "?" || pattern[0] == 'X'
	case s[0] != '+' && s[0] != '-' || len(s) < 3:
		return false
	}
	h, rest := s[1:3], s[3:]
	minutes := "00"
	switch {
	case rest == "" && (pattern == "X" || pattern == "x"):
	case len(rest) == 2 && (pattern == "X" || pattern == "x" || pattern == "XX" || pattern == "xx"):
		minutes = rest
	case len(rest) == 3 && rest[0] == ':' && (pattern == "XXX" || pattern == "xxx" || pattern == "?"):
		minutes = rest[1:]
	default:
		return false
	}
	hh, err1 := strconv.Atoi(h)
	mm, err2 := strconv.Atoi(minutes)
	if err1 != nil || err2 != nil || hh > 14 || mm > 59 {
		return false
	}
	m.zone = s[:1] + h + ":" + minutes
	return true
}

func (m moment) offset() int64 {
	if len(m.zone) != 6 {
		return 0
	}
	h, _ := strconv.Atoi(m.zone[1:3])
	mm, _ := strconv.Atoi(m.zone[4:])
	n := int64(h*3600 + mm*60)
	if m.zone[0] == '-' {
		return -n
	}
	return n
}

// text writes the moment as XSD does.
func (m moment) text(base string) string {
	date := fmt.Sprintf("%04d-%02d-%02d", m.year, m.month, m.day)
	clock := fmt.Sprintf("%02d:%02d:%02d", m.hour, m.minute, m.second)
	if m.fraction != "" {
		clock += "." + m.fraction
	}
	switch base {
	case "date":
		return date + m.zone
	case "time":
		return clock + m.zone
	}
	return date + "T" + clock + m.zone
}
