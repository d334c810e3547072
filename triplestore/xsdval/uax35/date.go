package uax35

import (
	"fmt"
	"slices"
	"strings"

	"odarchive/triplestore/xsdval"
)

// datePatterns are the date patterns that every implementation of CSVW must support (Metadata Vocabulary 6.4.4).
var datePatterns = func() []string {
	list := []string{"yyyy-MM-dd", "yyyyMMdd", "yyyy/MM/dd", "yyyy.MM.dd", "yyyy-M-d", "yyyy/M/d"}
	for _, sep := range []string{"-", "/", "."} {
		for _, p := range []string{"dd MM yyyy", "d M yyyy", "MM dd yyyy", "M d yyyy"} {
			list = append(list, strings.ReplaceAll(p, " ", sep))
		}
	}
	return list
}()

var timePatterns = []string{"HH:mm:ss", "HHmmss", "HH:mm", "HHmm"}

// DateFormat says how dates, times or both are written.
type DateFormat struct {
	date, sep, clock string // patterns of date and time, and what separates them
	fraction         int    // maximum digits of a fraction of a second, -1 for any number
	zone             string // pattern of the time zone, "" for none, anyZone for XSD's
}

// anyZone stands for an optional zone in XSD's form.
const anyZone = "?"

// XSDFormat returns the format in which XSD writes a value of kind Date, Time or DateTime.
func XSDFormat(kind xsdval.Kind) DateFormat {
	switch kind {
	case xsdval.Date:
		return DateFormat{date: "yyyy-MM-dd", zone: anyZone}
	case xsdval.Time:
		return DateFormat{clock: "HH:mm:ss", fraction: -1, zone: anyZone}
	}
	return DateFormat{date: "yyyy-MM-dd", sep: "T", clock: "HH:mm:ss", fraction: -1, zone: anyZone}
}

// ParseDateFormat parses the pattern of a value of kind Date, Time or DateTime. ok is false if CSVW does not ask
// implementations to support the pattern.
func ParseDateFormat(kind xsdval.Kind, pattern string) (f DateFormat, ok bool) {
	rest := pattern
	for _, z := range []string{"XXX", "XX", "X", "xxx", "xx", "x"} {
		if t, found := strings.CutSuffix(rest, z); found {
			f.zone, rest = z, t
			if t, found := strings.CutSuffix(rest, " "); found {
				f.zone, rest = " "+z, t
			}
			break
		}
	}
	if i := strings.LastIndex(rest, ".S"); i >= 0 && strings.Trim(rest[i+1:], "S") == "" {
		f.fraction, rest = len(rest)-i-1, rest[:i]
	}
	if kind != xsdval.Time {
		for _, p := range datePatterns {
			if strings.HasPrefix(rest, p) && len(p) > len(f.date) {
				f.date = p
			}
		}
		if f.date == "" {
			return f, false
		}
		rest = rest[len(f.date):]
		if kind == xsdval.Date {
			return f, rest == "" && f.fraction == 0
		}
		switch {
		case strings.HasPrefix(rest, "'T'"):
			f.sep, rest = "T", rest[3:]
		case strings.HasPrefix(rest, "T"), strings.HasPrefix(rest, " "):
			f.sep, rest = rest[:1], rest[1:]
		default:
			return f, false
		}
	}
	f.clock = rest
	return f, slices.Contains(timePatterns, rest) && (f.fraction == 0 || strings.HasSuffix(rest, "ss"))
}

// XSD returns a value that is written in the format as XSD writes it. ok is false if s does not match. The fields are
// not checked for their ranges: xsdval.Parse does that.
func (f DateFormat) XSD(s string) (lexical string, ok bool) {
	var fields [256]int // by the letter of the pattern
	if s, ok = scanFields(s, f.date, &fields); !ok {
		return "", false
	}
	if s, ok = strings.CutPrefix(s, f.sep); !ok {
		return "", false
	}
	if s, ok = scanFields(s, f.clock, &fields); !ok {
		return "", false
	}
	fraction := ""
	if t, found := strings.CutPrefix(s, "."); found && f.fraction != 0 {
		s = strings.TrimLeft(t, "0123456789")
		fraction = t[:len(t)-len(s)]
		if fraction == "" || f.fraction > 0 && len(fraction) > f.fraction {
			return "", false
		}
		fraction = strings.TrimRight("."+fraction, ".0")
	}
	zone, ok := xsdZone(s, f.zone)
	if !ok {
		return "", false
	}
	if f.date != "" {
		lexical = fmt.Sprintf("%04d-%02d-%02d", fields['y'], fields['M'], fields['d'])
	}
	if f.date != "" && f.clock != "" {
		lexical += "T"
	}
	if f.clock != "" {
		lexical += fmt.Sprintf("%02d:%02d:%02d", fields['H'], fields['m'], fields['s']) + fraction
	}
	return lexical + zone, true
}

// scanFields reads the fields of a pattern from the start of s and returns the rest. A letter that comes once stands
// for one or two digits, a repeated letter for as many digits.
func scanFields(s, pattern string, fields *[256]int) (rest string, ok bool) {
	for i := 0; i < len(pattern); {
		c := pattern[i]
		n := 1
		for i+n < len(pattern) && pattern[i+n] == c {
			n++
		}
		i += n
		if !strings.ContainsRune("yMdHms", rune(c)) {
			if s, ok = strings.CutPrefix(s, pattern[i-n:i]); !ok {
				return s, false
			}
			continue
		}
		v, width := xsdval.Digits(s, 0, max(n, 2))
		if width < n {
			return s, false
		}
		s = s[width:]
		fields[c] = v
	}
	return s, true
}

// xsdZone returns the time zone that s is in the given pattern, in XSD's form.
func xsdZone(s, pattern string) (zone string, ok bool) {
	if t, found := strings.CutPrefix(pattern, " "); found {
		pattern = t
		if s, ok = strings.CutPrefix(s, " "); !ok {
			return "", false
		}
	}
	switch {
	case s == "":
		return "", pattern == "" || pattern == anyZone
	case pattern == "":
		return "", false
	case s == "Z":
		return "Z", pattern == anyZone || pattern[0] == 'X'
	case len(s) < 3:
		return "", false
	}
	hours, rest := s[:3], s[3:]
	switch {
	case rest == "" && len(pattern) == 1 && pattern != anyZone:
		return hours + ":00", true
	case len(rest) == 2 && len(pattern) <= 2 && pattern != anyZone:
		return hours + ":" + rest, true
	case len(rest) == 3 && (len(pattern) == 3 || pattern == anyZone):
		return hours + rest, true
	}
	return "", false
}
