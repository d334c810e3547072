package csvprofile

import (
	"net/url"
	"strings"
)

// Identifiers of things that somebody registers. Each has a form, and most have check digits; where the form alone is
// common among other codes, the column's name must speak for it.

// linkedClass returns the class of identifiers that are written as addresses, "" if the addresses are of many kinds.
func linkedClass(values samples) string {
	under := func(is func(string) bool, hosts ...string) bool {
		return values.mostly(0.95, func(v string) bool {
			_, rest, ok := strings.Cut(v, "://")
			if !ok {
				rest = v
			}
			rest = strings.TrimPrefix(rest, "www.")
			for _, host := range hosts {
				if id, ok := strings.CutPrefix(rest, host); ok {
					return is(id)
				}
			}
			return false
		})
	}
	switch {
	case under(isDOI, "doi.org/", "dx.doi.org/"):
		return classDOI
	case under(isORCID, "orcid.org/"):
		return classORCID
	case under(isWikidata, "wikidata.org/entity/", "wikidata.org/wiki/"):
		return classWikidata
	}
	return ""
}

// identifierClass returns the class of a column of identifiers, "" if they are of another kind.
func identifierClass(named func(...string) bool, values samples, few bool) string {
	mostly := values.mostly
	switch {
	case mostly(0.95, isDOI):
		return classDOI
	case mostly(0.95, isORCID):
		return classORCID
	case named("wikidata", "qid", "wikidataid") && mostly(0.9, isWikidata) || !few && mostly(0.98, isWikidata) &&
		mostly(0.5, func(v string) bool { return len(v) > 4 && !isQuarter(v) }):
		return classWikidata
	case mostly(0.95, isLEI):
		return classLEI
	case named("isbn", "isbn10", "isbn13") && mostly(0.8, isISBN) || !few && mostly(0.98, isISBN):
		return classISBN
	case named("issn", "eissn") && mostly(0.8, isISSN) || !few && mostly(0.98, isISSN):
		return classISSN
	case named(gtinWords...) && mostly(0.9, isGTIN):
		return classGTIN
	}
	return ""
}

var gtinWords = []string{"gtin", "gtin13", "gtin14", "gtin8", "gtin12", "ean", "ean13", "ean8", "upc", "barcode", "upca"}

// numberedClass returns the class of a column of integers that are identifiers.
func numberedClass(col *Column, named func(...string) bool, values samples) string {
	mostly := values.mostly
	switch {
	case named("isbn", "isbn10", "isbn13") && mostly(0.8, isISBN), len(values) >= 3 && col.MinLen == 13 && mostly(0.98, isISBN):
		return classISBN
	case named(gtinWords...) && mostly(0.9, isGTIN), len(values) >= 20 && col.MinLen >= 12 && col.MaxLen <= 14 && mostly(0.99, isGTIN):
		return classGTIN
	case named(municipalityWords...) && col.MinLen >= 3 && mostly(0.95, isMunicipality):
		return classMunicipality
	case !named("countrycode") && named(countryNumberWords...) && mostly(0.9, IsCountryNumber):
		return classCountryCode
	}
	return ""
}

// addressOf returns what stands before an identifier of a class in its address, "" if the class has none.
func addressOf(class string) string {
	switch class {
	case classDOI:
		return "https://doi.org/"
	case classORCID:
		return "https://orcid.org/"
	case classWikidata:
		return "http://www.wikidata.org/entity/"
	case classISSN:
		return "https://portal.issn.org/resource/ISSN/"
	}
	return ""
}

// LinkOf returns the address of the thing that a value of a class of columns identifies, "" if there is none.
func LinkOf(class, value string) string {
	value = strings.TrimSpace(value)
	if len(value) > 4 && strings.EqualFold(value[:4], "doi:") {
		value = strings.TrimSpace(value[4:])
	}
	switch {
	case class == classDOI && isDOI(value), class == classORCID && isORCID(value), class == classWikidata && isWikidata(value),
		class == classISSN && isISSN(value):
		return addressOf(class) + (&url.URL{Path: value}).EscapedPath()
	}
	return ""
}

// isDOI reports whether s is a digital object identifier (ISO 26324): prefix 10 with a registrant, and a suffix.
func isDOI(s string) bool {
	if len(s) > 4 && strings.EqualFold(s[:4], "doi:") {
		s = strings.TrimSpace(s[4:])
	}
	prefix, suffix, ok := strings.Cut(s, "/")
	registrant, is := strings.CutPrefix(prefix, "10.")
	if !ok || !is || suffix == "" || strings.ContainsAny(s, " \t\"<>") || len(registrant) < 4 {
		return false
	}
	return digitsAnd(registrant, ".")
}

// digitsAnd reports whether s has only digits and the given characters.
func digitsAnd(s, others string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) && strings.IndexByte(others, s[i]) < 0 {
			return false
		}
	}
	return s != ""
}

// isORCID checks form and check digit (ISO 7064, MOD 11-2).
func isORCID(s string) bool {
	if len(s) != 19 || s[4] != '-' || s[9] != '-' || s[14] != '-' {
		return false
	}
	digits := s[:4] + s[5:9] + s[10:14] + s[15:]
	if !digitsAnd(digits[:15], "") {
		return false
	}
	total := 0
	for i := range 15 {
		total = (total + int(digits[i]-'0')) * 2
	}
	check := byte('0' + (12-total%11)%11)
	if check == '0'+10 {
		check = 'X'
	}
	return digits[15] == check
}

// isWikidata reports whether s is the identifier of an item of Wikidata.
func isWikidata(s string) bool {
	return len(s) >= 2 && len(s) <= 12 && s[0] == 'Q' && s[1] != '0' && digitsAnd(s[1:], "")
}

// isQuarter reports whether s is a quarter of a year, "Q42010".
func isQuarter(s string) bool {
	return len(s) == 6 && s[1] >= '1' && s[1] <= '4' && (s[2:4] == "19" || s[2:4] == "20")
}

// isLEI checks form and check digits of a legal entity identifier (ISO 17442).
func isLEI(s string) bool {
	if len(s) != 20 || !isDigit(s[18]) || !isDigit(s[19]) {
		return false
	}
	rem, letters := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			rem = (rem*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rem = (rem*100 + int(c-'A') + 10) % 97
			letters++
		default:
			return false
		}
	}
	return rem == 1 && letters > 0
}

// isGTIN checks length and check digit of a global trade item number of 8, 12, 13 or 14 digits (GS1).
func isGTIN(s string) bool {
	switch len(s) {
	case 8, 12, 13, 14:
	default:
		return false
	}
	if !digitsAnd(s, "") || strings.Trim(s, "0") == "" {
		return false
	}
	sum := 0
	for i := range len(s) - 1 {
		d := int(s[len(s)-2-i] - '0')
		if i%2 == 0 {
			d *= 3
		}
		sum += d
	}
	return int(s[len(s)-1]-'0') == (10-sum%10)%10
}

// isISBN checks form and check digit of a book's number of 10 or 13 digits (ISO 2108), with or without hyphens.
func isISBN(s string) bool {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "-", ""), " ", "")
	if len(s) == 13 {
		return (strings.HasPrefix(s, "978") || strings.HasPrefix(s, "979")) && isGTIN(s)
	}
	return len(s) == 10 && eleven(s)
}

// isISSN checks form and check digit of a serial's number (ISO 3297).
func isISSN(s string) bool { return len(s) == 9 && s[4] == '-' && eleven(s[:4]+s[5:]) }

// eleven checks a check digit modulo 11 with weights that fall to 1; X stands for ten.
func eleven(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[i]) - '0'
		if i == len(s)-1 && (s[i] == 'X' || s[i] == 'x') {
			d = 10
		} else if d < 0 || d > 9 {
			return false
		}
		sum += d * (len(s) - i)
	}
	return sum%11 == 0 && strings.Trim(s, "0") != ""
}
