package csvprofile

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"odarchive/triplestore/xsdval"
)

// kind is the coarse type of one cell.
type kind byte

const (
	kindEmpty kind = iota
	kindNull       // a word that stands for no value, such as "N/A"
	kindInteger
	kindDecimal
	kindDouble // with an exponent, or INF
	kindBoolean
	kindDate
	kindDateTime
	kindTime
	kindYearMonth
	kindDuration
	kindURI
	kindText
	kinds
)

// forms is a set of ways in which a cell can be read. The forms of a column are those that all of its cells have in
// common: 01/02/2020 and 25/02/2020 together leave only day before month.
type forms uint64

const (
	// How a number is written.
	numDot        forms = 1 << iota // 1234.5
	numComma                        // 1234,5
	numGroupComma                   // 1,234.5
	numGroupDot                     // 1.234,5
	numSpaceDot                     // 1 234.5
	numSpaceComma                   // 1 234,5
	numApostrophe                   // 1'234.5
	numPercent                      // 12 %
	numNoZeros                      // no superfluous leading zero
	numYear                         // four digits that may be a year
	// How a boolean is written.
	boolTrueFalse
	boolYesNo
	boolYN
	boolTF
	boolJaNein
	boolOuiNon
	boolSiNo
	boolOnOff
	boolDigits
	// How a date is written.
	dateDMY
	dateMDY
	dateYMD
	dateDash
	dateSlash
	dateDot
	dateNoSep // yyyyMMdd
	dateYear4
	dateYear2
	datePadded   // two digits for day and month
	dateDMonY    // 2 Jan 2006
	dateMonDY    // Jan 2, 2006
	dateDMonYDsh // 02-Jan-06
	// How a time is written.
	timeHM
	timeHMS
	timeFraction
	timeT     // T between date and time
	timeSpace // a blank between them
	timeZone
	timeNoZone
	time12       // with AM or PM
	timePadded   // two digits for the hour
	timeCompact  // HHmmss
	timeZoneWord // UTC, or a zone without minutes or after a blank
	allForms     = ^forms(0)
)

const (
	numStyles  = numDot | numComma | numGroupComma | numGroupDot | numSpaceDot | numSpaceComma | numApostrophe
	numDotted  = numDot | numGroupComma | numSpaceDot | numApostrophe
	numCommaed = numComma | numGroupDot | numSpaceComma
	boolStyles = boolTrueFalse | boolYesNo | boolYN | boolTF | boolJaNein | boolOuiNon | boolSiNo | boolOnOff | boolDigits
	dateOrders = dateDMY | dateMDY | dateYMD | dateDMonY | dateMonDY | dateDMonYDsh
	dateSeps   = dateDash | dateSlash | dateDot | dateNoSep
)

// value is the value of a cell. num is the value of a number read with a decimal point, alt that with a decimal comma.
// Of dates and times, num is the days or seconds in the first order that fits, alt those with month before day.
type value struct {
	kind  kind
	forms forms
	num   float64
	alt   float64
}

// kindOf returns the kind of a cell of the sample. E-mail addresses count as URIs.
func kindOf(s string) kind {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	if k := digitKind(b); k != kindEmpty {
		return k
	}
	k := classify(b).kind
	if k == kindText && isEmail(s) {
		return kindURI
	}
	return k
}

// digitKind returns the kind of a cell of at most 16 digits, with an optional leading minus and an optional point, and
// kindEmpty for other cells.
func digitKind(b []byte) kind {
	if len(b) > 1 && b[0] == '-' {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 16 || len(b) == 1 && !isDigit(b[0]) {
		return kindEmpty
	}
	k, others := kindInteger, otherThanDigits(prefix(b))
	if len(b) > 8 {
		if others != 0 {
			return kindEmpty
		}
		b, others = b[8:], otherThanDigits(prefix(b[8:]))
	}
	if others &= highs << (64 - 8*uint(len(b))); others != 0 { // only bytes of b
		at := bits.LeadingZeros64(others) >> 3
		if b[at] != '.' || others&(others-1) != 0 {
			return kindEmpty
		}
		k = kindDecimal
	}
	return k
}

// otherThanDigits marks the bytes of x that are not digits.
func otherThanDigits(x uint64) uint64 {
	x ^= '0' * ones
	return (x&^highs + (0x80-10)*ones | x) & highs
}

// classify reads one cell, which must have no surrounding blanks.
func classify(b []byte) value {
	if len(b) >= 3 {
		switch c := b[0]; {
		case c < 'A':
			if len(b) == 10 {
				if days, ok := isoDay(b); ok {
					return value{kind: kindDate, forms: isoForms, num: days, alt: days}
				}
			}
		case isDigit(b[1]) && c <= 'z' && c != 'P' || plainText(prefix(b)):
			if len(b) <= 64 {
				return value{kind: kindText}
			}
		}
	}
	return classifyAny(b)
}

// classifyAny is the slow path of classify.
func classifyAny(b []byte) value {
	if len(b) == 0 {
		return value{kind: kindEmpty, forms: allForms}
	}
	if len(b) > 64 {
		if isURI(b) {
			return value{kind: kindURI}
		}
		return value{kind: kindText}
	}
	switch c := b[0]; {
	case c >= '0' && c <= '9':
		if v, ok := number(b); ok {
			return v
		}
		if v, ok := dateOrTime(b); ok {
			return v
		}
	case c == '-' || c == '+' || c == '.' || c == ',':
		if v, ok := number(b); ok {
			return v
		}
		if isNull(b) {
			return value{kind: kindNull, forms: allForms}
		}
		if c == '-' && len(b) > 2 && b[1] == 'P' && isDuration(b) {
			return value{kind: kindDuration}
		}
	default:
		if isNull(b) {
			return value{kind: kindNull, forms: allForms}
		}
		if f := boolean(b); f != 0 {
			return value{kind: kindBoolean, forms: f}
		}
		if c == 'P' && isDuration(b) {
			return value{kind: kindDuration}
		}
		if isURI(b) {
			return value{kind: kindURI}
		}
		if v, ok := monthFirst(b); ok {
			return v
		}
		if c > 0x7f {
			if v, ok := number(b); ok {
				return v
			}
		}
		if s := string(b); s == "INF" || s == "-INF" {
			return value{kind: kindDouble, forms: numDot | numNoZeros}
		}
	}
	return value{kind: kindText}
}

// isURI reports whether b is an IRI with a common scheme.
func isURI(b []byte) bool {
	i := 0
	for i < len(b) && i < 12 && (b[i]|0x20 >= 'a' && b[i]|0x20 <= 'z') {
		i++
	}
	if i < 3 || i+3 >= len(b) || b[i] != ':' {
		return false
	}
	switch string(b[:i]) {
	case "http", "https", "ftp", "HTTP", "HTTPS", "ftps", "sftp", "file", "s3", "geo":
		if b[i+1] != '/' || b[i+2] != '/' {
			return false
		}
	case "urn", "mailto", "doi", "info", "tel", "data", "ark":
	default:
		return false
	}
	rest := b[i:]
	for ; len(rest) >= 8; rest = rest[8:] {
		w := binary.LittleEndian.Uint64(rest)
		if zeroBytes(w^'"'*ones)|zeroBytes(w^'<'*ones)|zeroBytes(w^'>'*ones)|(w-('!'*ones))&^w&highs != 0 {
			break
		}
	}
	for _, c := range rest {
		if c <= ' ' || c == '"' || c == '<' || c == '>' {
			return false
		}
	}
	return true
}

// isDuration reports whether b is an xsd:duration.
func isDuration(b []byte) bool {
	_, ok := xsdval.ParseKind(unsafe.String(unsafe.SliceData(b), len(b)), xsdval.Duration)
	return ok
}

// trim removes blanks around a cell.
func trim(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[len(b)-1] > ' ' && b[0] < 0x80 && b[len(b)-1] < 0x80 {
		return b
	}
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && isBlank(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	for len(b) >= 2 && b[0] == 0xC2 && b[1] == 0xA0 {
		b = bytes.TrimLeft(b[2:], " \t")
	}
	for len(b) >= 2 && b[len(b)-2] == 0xC2 && b[len(b)-1] == 0xA0 {
		b = bytes.TrimRight(b[:len(b)-2], " \t")
	}
	return b
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == 0 }

// runes returns the number of characters of b.
func runes(b []byte) int {
	for rest := b; ; rest = rest[8:] {
		if len(rest) <= 8 {
			if prefix(rest)&highs != 0 {
				break
			}
			return len(b)
		}
		if binary.BigEndian.Uint64(rest)&highs != 0 {
			break
		}
	}
	return utf8.RuneCount(b)
}
