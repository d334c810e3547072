package csvprofile

import (
	"strings"
)

// Tests of single values, for classOf.

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

func isEmail(s string) bool {
	at := strings.IndexByte(s, '@')
	if at < 1 || strings.ContainsAny(s, " \t,;<>\"()") || strings.Count(s, "@") != 1 {
		return false
	}
	host := s[at+1:]
	dot := strings.LastIndexByte(host, '.')
	return dot > 0 && len(host)-dot > 2
}

func isURL(s string) bool {
	return isURI([]byte(s)) || strings.HasPrefix(s, "www.") && strings.Count(s, ".") >= 2 && !strings.Contains(s, " ")
}

func isUUID(s string) bool {
	s = strings.Trim(s, "{}")
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		c := s[i] | 0x20
		if dash != (s[i] == '-') || !dash && !(s[i] >= '0' && s[i] <= '9' || c >= 'a' && c <= 'f') {
			return false
		}
	}
	return true
}

// isWKT reports whether s is a geometry in well-known text (OGC 06-103r4, 7).
func isWKT(s string) bool {
	s = strings.ToUpper(s)
	if strings.HasPrefix(s, "SRID=") {
		_, s, _ = strings.Cut(s, ";")
	}
	if strings.HasPrefix(s, "<") { // GeoSPARQL begins with the reference system
		_, s, _ = strings.Cut(s, ">")
		s = strings.TrimSpace(s)
	}
	for _, k := range []string{"POINT", "LINESTRING", "POLYGON", "MULTIPOINT", "MULTILINESTRING", "MULTIPOLYGON", "GEOMETRYCOLLECTION"} {
		if rest, ok := strings.CutPrefix(s, k); ok {
			rest = strings.TrimLeft(rest, " ZM")
			return strings.HasPrefix(rest, "(") || rest == "EMPTY"
		}
	}
	return false
}

// isLanguageTag reports whether s is a code of a language (ISO 639), possibly with script and region, "en-US" (BCP 47).
func isLanguageTag(s string) bool {
	base, rest, more := strings.Cut(strings.ReplaceAll(s, "_", "-"), "-")
	if !IsLanguage(base) {
		return false
	}
	for part := ""; more; {
		part, rest, more = strings.Cut(rest, "-")
		if len(part) < 2 || len(part) > 8 || strings.Trim(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// isCountryNumber reports whether s is the numeric code of a country, with its leading zeros.
func isCountryNumber(s string) bool { return len(s) == 3 && IsCountryNumber(s) }

// isIBAN checks form and check digits (ISO 13616).
func isIBAN(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	if len(s) < 15 || len(s) > 34 {
		return false
	}
	rem := 0
	for _, c := range s[4:] + s[:4] {
		switch {
		case c >= '0' && c <= '9':
			rem = (rem*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rem = (rem*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return rem == 1 && s[0] >= 'A' && s[1] >= 'A' && s[2] <= '9' && s[3] <= '9'
}

// isNUTS reports whether s has the form of a code of the European nomenclature of territorial units, levels 0 to 3.
func isNUTS(s string) bool {
	if len(s) < 2 || len(s) > 5 {
		return false
	}
	switch s[:2] {
	case "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "EL", "ES", "FI", "FR", "HR", "HU", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL",
		"PT", "RO", "SE", "SI",
		"SK", "UK", "CH", "IS", "LI", "NO", "AL", "ME", "MK", "RS", "TR":
	default:
		return false
	}
	for _, c := range s[2:] {
		if !(c >= '0' && c <= '9' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return true
}

func isPhone(s string) bool {
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case strings.ContainsRune("+-/().  ", c):
		default:
			return false
		}
	}
	return digits >= 5 && digits <= 15
}

func isInternational(s string) bool {
	return (strings.HasPrefix(s, "+") || strings.HasPrefix(s, "00")) && len(s) >= 9 && isPhone(s) && strings.ContainsAny(s, " /-(+")
}

// isPostal reports whether s may be a postal code somewhere.
func isPostal(s string) bool {
	if len(s) < 3 || len(s) > 10 {
		return false
	}
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'A' && c <= 'Z' || c == ' ' || c == '-':
		default:
			return false
		}
	}
	return digits >= 1
}

// isUKPostcode reports whether s has the form of a British postcode, "SW1A 1AA".
func isUKPostcode(s string) bool {
	out, in, ok := strings.Cut(s, " ")
	if !ok || len(in) != 3 || len(out) < 2 || len(out) > 4 {
		return false
	}
	letter := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	return isDigit(in[0]) && letter(in[1]) && letter(in[2]) && letter(out[0]) && hasDigit(out)
}

// municipalityWords name columns of codes of municipalities: of Eurostat's LAU, and of the registers of statistics
// offices that LAU takes them from.
var municipalityWords = []string{"lau", "lau2", "laucode", "lau1", "gkz", "gemeindekennziffer", "gemeindekennzahl", "gemeindecode",
	"gemeindenummer", "gemeindeschlüssel",
	"gemeindeschluessel", "ags", "bfsnr", "bfsnummer", "codecommune", "codeinsee", "insee", "codeinseecommune", "codgeo", "codicecomune",
	"codicecomunale", "codiceistat", "istat",
	"kommunenummer", "kommunekode", "kommunkod", "kommunnr", "kommunenr", "codigomunicipio", "codmunicipio", "codmun", "inemunicipio",
	"municipalitycode", "gemeentecode",
	"teryt", "siruta", "obeckod", "kodobce"}

// isMunicipality reports whether s may be the code of a municipality: mostly digits, in some countries with a letter or
// the country before them.
func isMunicipality(s string) bool {
	if len(s) < 3 || len(s) > 14 {
		return false
	}
	digits := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			digits++
		case c >= 'A' && c <= 'Z' || c == '_' && i <= 3:
		default:
			return false
		}
	}
	return digits >= 3 && digits >= len(s)-3
}

// postalWords name columns of postal codes.
var postalWords = []string{"zip", "plz", "postcode", "postalcode", "postleitzahl", "zipcode", "cap", "psč", "postal"}

// isPair reports whether s is a pair of coordinates in degrees with decimals, "48.2, 16.3".
func isPair(s string) bool {
	var p places
	return len(s) >= 3 && p.seePair([]byte(s))
}
