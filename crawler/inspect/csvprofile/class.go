package csvprofile

import (
	"slices"
	"strings"
	"unicode"

	"odarchive/crawler/inspect/csvprofile/gazetteer"
)

// The classes of columns, for rdfs:range. They are from schema.org and GeoSPARQL if these have one, else from the
// archive's own vocabulary.
const (
	classCountry      = "http://schema.org/Country"
	classCity         = "http://schema.org/City"
	classWKT          = "http://www.opengis.net/ont/geosparql#wktLiteral"
	classURL          = "http://schema.org/URL"
	classCountryCode  = classNS + "CountryCode"
	classNUTS         = classNS + "NutsCode"
	classPostalCode   = classNS + "PostalCode"
	classLatitude     = classNS + "Latitude"
	classLongitude    = classNS + "Longitude"
	classEmail        = classNS + "EmailAddress"
	classPhone        = classNS + "PhoneNumber"
	classIBAN         = classNS + "Iban"
	classCurrency     = classNS + "CurrencyCode"
	classLanguageCode = classNS + "LanguageCode"
	classMonth        = classNS + "MonthName"
	classWeekday      = classNS + "WeekdayName"
	classUUID         = classNS + "Uuid"

	classNS = "https://archiver.ai.wu.ac.at/ns/csvw#"
)

// classOf returns the class of things that a column names, "" if unknown. It decides by a sample of the values, and by
// the column's name if values of several classes look alike.
func classOf(col *Column, sample func() []string) string {
	named := func(words ...string) bool { return nameHas(col.Name, words...) }
	switch col.Datatype {
	case "anyURI":
		return classURL
	case "decimal", "double", "integer":
		return numberClass(col, named)
	case "string":
	default:
		return ""
	}
	all := sample()
	values := all[:0]
	for _, v := range all {
		if is, strong := nullWordIn(v); !is || !strong && len(v) == 2 {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return ""
	}
	mostly := func(share float64, test func(string) bool) bool {
		rest := len(values) // values that may still pass
		for _, v := range values {
			if !test(v) {
				if rest--; float64(rest) < share*float64(len(values)) {
					return false
				}
			}
		}
		return true
	}
	few := len(values) < 3
	switch {
	case mostly(0.9, isEmail):
		return classEmail
	case mostly(0.95, isWKT):
		return classWKT
	case mostly(0.95, isUUID):
		return classUUID
	case mostly(0.9, isIBAN):
		return classIBAN
	case mostly(0.95, isURL):
		return classURL
	case named("nuts", "nuts1", "nuts2", "nuts3", "nutscode") && mostly(0.9, isNUTS) || !few && mostly(0.98, isNUTS) && mostly(0.5, hasDigit):
		return classNUTS
	case named("currency", "währung", "waehrung", "devise", "moneda", "valuta") && mostly(0.9, gazetteer.IsCurrency):
		return classCurrency
	case named("language", "lang", "sprache", "langue", "idioma") && mostly(0.9, gazetteer.IsLanguage):
		return classLanguageCode
	case (!few || named("country", "iso", "geo", "land", "staat", "nation", "pays", "code")) && mostly(0.95, gazetteer.IsCountryCode):
		return classCountryCode
	case !few && mostly(0.98, gazetteer.IsCurrency):
		return classCurrency
	case mostly(0.95, gazetteer.IsMonth):
		return classMonth
	case mostly(0.95, gazetteer.IsWeekday) && (!few || named("day", "tag", "weekday", "wochentag", "jour")):
		return classWeekday
	case (!few || named("country", "land", "staat", "nation", "pays", "país", "paese", "state")) && mostly(0.8, gazetteer.IsCountry):
		return classCountry
	case named("phone", "tel", "telephone", "telefon", "mobile", "fax", "téléphone", "telefono", "teléfono", "telefonnummer") && mostly(0.8, isPhone) || !few && mostly(0.9, isInternational):
		return classPhone
	case named("zip", "plz", "postcode", "postalcode", "postleitzahl", "zipcode", "cap", "psč", "postal") && mostly(0.9, isPostal) || !few && mostly(0.9, isUKPostcode):
		return classPostalCode
	case mostly(0.6, gazetteer.IsCity) && !few || named("city", "town", "stadt", "ort", "ville", "ciudad", "città", "place", "gemeinde", "municipality") && mostly(0.3, gazetteer.IsCity):
		return classCity
	}
	return ""
}

func numberClass(col *Column, named func(...string) bool) string {
	within := func(limit float64) bool {
		return col.Mean != nil && len(col.Quantiles) == 5 && abs(col.Min) <= limit && abs(col.Max) <= limit
	}
	switch {
	case named("lat", "latitude", "breitengrad", "breite", "latitud", "latitudine") && within(90) && !named("width"):
		return classLatitude
	case named("lon", "lng", "long", "longitude", "längengrad", "laengengrad", "länge", "longitud", "longitudine") && within(180) && col.Datatype != "integer":
		return classLongitude
	case col.Datatype == "integer" && named("zip", "plz", "postcode", "postalcode", "postleitzahl", "zipcode", "cap", "psč", "postal") && col.MinLen >= 3 && col.MaxLen <= 6:
		return classPostalCode
	}
	return ""
}

func abs(s string) float64 {
	v := classify([]byte(s))
	if v.num < 0 {
		return -v.num
	}
	return v.num
}

// nameHas reports whether a column's name contains one of the words. "geoLat" and "geo_lat" contain two.
func nameHas(name string, words ...string) bool {
	var b strings.Builder
	last := rune(0)
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(last) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		last = r
	}
	low := b.String()
	parts := strings.FieldsFunc(low, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	whole := strings.Join(parts, "")
	return slices.ContainsFunc(words, func(w string) bool { return w == whole || slices.Contains(parts, w) })
}

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
	case "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "EL", "ES", "FI", "FR", "HR", "HU", "IE", "IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI",
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
