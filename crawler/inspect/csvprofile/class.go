package csvprofile

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"odarchive/triplestore/geometry"
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
	classSubdivision  = classNS + "SubdivisionCode"
	classMunicipality = classNS + "MunicipalityCode"
	classUnit         = classNS + "UnitOfMeasure"
	classCoordinates  = classNS + "Coordinates"
	classPersonName   = classNS + "PersonName"
	classDOI          = classNS + "Doi"
	classORCID        = classNS + "Orcid"
	classWikidata     = classNS + "WikidataItem"
	classGTIN         = classNS + "Gtin"
	classISBN         = classNS + "Isbn"
	classISSN         = classNS + "Issn"
	classLEI          = classNS + "Lei"

	classNS = "https://archiver.ai.wu.ac.at/ns/csvw#"
)

// classOf returns the class of things that a column names, "" if unknown. It decides by a sample of the values, and by
// the column's name if values of several classes look alike.
func classOf(col *Column, sample func() []string) string {
	named := func(words ...string) bool { return nameHas(col.Name, words...) }
	switch col.Datatype {
	case "anyURI":
		return cmp.Or(linkedClass(samples(sample())), classURL)
	case "decimal", "double":
		return numberClass(col, named)
	case "integer":
		return cmp.Or(numberClass(col, named), numberedClass(col, named, samples(sample())))
	case "string":
		return textClass(col, named, valuesOf(sample()))
	}
	return ""
}

// samples are some values of a column.
type samples []string

// valuesOf returns the samples that are values. It overwrites all. NA is Namibia among codes of two letters, and a
// missing value elsewhere.
func valuesOf(all []string) samples {
	values, pairs := all[:0], 0
	for _, v := range all {
		is, strong := nullWordIn(v)
		if is && (strong || len(v) != 2) {
			continue
		}
		if !is && len(v) == 2 {
			pairs++
		}
		values = append(values, v)
	}
	if pairs > 0 {
		return values
	}
	return slices.DeleteFunc(values, func(v string) bool { is, _ := nullWordIn(v); return is })
}

// mostly reports whether at least that share of the samples passes a test.
func (s samples) mostly(share float64, test func(string) bool) bool {
	rest := len(s) // samples that may still pass
	for _, v := range s {
		if !test(v) {
			if rest--; float64(rest) < share*float64(len(s)) {
				return false
			}
		}
	}
	return len(s) > 0
}

// textClass returns the class of a column of texts.
func textClass(col *Column, named func(...string) bool, values samples) string {
	if len(values) == 0 {
		return ""
	}
	mostly := values.mostly
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
		return cmp.Or(linkedClass(values), classURL)
	}
	if class := identifierClass(named, values, few); class != "" {
		return class
	}
	switch {
	case named("nuts", "nuts1", "nuts2", "nuts3", "nutscode") && mostly(0.9, isNUTS) || !few && mostly(0.98, isNUTS) &&
		mostly(0.5, hasDigit):
		return classNUTS
	case named(municipalityWords...) && mostly(0.95, isMunicipality):
		return classMunicipality
	case (col.Distinct >= 3 || named("iso", "subdivision", "region", "state", "province", "bundesland", "kanton", "canton")) &&
		mostly(0.98, IsSubdivision):
		return classSubdivision
	case named("currency", "währung", "waehrung", "devise", "moneda", "valuta") && mostly(0.9, IsCurrency):
		return classCurrency
	case named("language", "lang", "sprache", "langue", "idioma") && mostly(0.9, isLanguageTag):
		return classLanguageCode
	case named(countryNumberWords...) && mostly(0.95, isCountryNumber):
		return classCountryCode
	case named("unit", "units", "einheit", "einheiten", "unité", "unite", "unità", "unita", "unidad", "eenheid", "jednotka", "uom",
		"masseinheit", "maßeinheit", "mesure", "measure") &&
		mostly(0.9, IsUnit):
		return classUnit
	case (col.Distinct >= 5 || named(countryCodeWords...)) && mostly(0.95, IsCountryCode):
		return classCountryCode
	case !few && mostly(0.98, IsCurrency):
		return classCurrency
	case mostly(0.95, IsMonth):
		return classMonth
	case mostly(0.95, IsWeekday) && (!few || named("day", "tag", "weekday", "wochentag", "jour")):
		return classWeekday
	case (!few || named("country", "land", "staat", "nation", "pays", "país", "paese", "state")) && mostly(0.8, IsCountry):
		return classCountry
	case named("phone", "tel", "telephone", "telefon", "mobile", "fax", "téléphone", "telefono", "teléfono", "telefonnummer") &&
		mostly(0.8, isPhone) || !few && mostly(0.9, isInternational):
		return classPhone
	case named(postalWords...) && mostly(0.9, isPostal) || !few && mostly(0.9, isUKPostcode):
		return classPostalCode
	case latitudeFirst(col.Name, geometry.Box{}) && mostly(0.95, isPair) || named("lonlat", "lnglat", "longlat") && mostly(0.95, isPair):
		return classCoordinates
	case mostly(0.6, IsCity) && !few ||
		named("city", "town", "stadt", "ort", "ville", "ciudad", "città", "place", "gemeinde", "municipality") && mostly(0.3, IsCity):
		return classCity
	case isPersonal(named, values):
		return classPersonName
	}
	return ""
}

// countryCodeWords name columns of codes of countries. Few codes of two letters are those of other things, too.
var countryCodeWords = []string{"country", "countrycode", "iso", "iso2", "iso3", "alpha2", "alpha3", "geo", "land", "staat", "nation",
	"pays", "jurisdiction", "territory"}

// countryNumberWords name columns of numeric codes of countries (UN M49, ISO 3166-1).
var countryNumberWords = []string{"m49", "m49code", "ccn3", "unm49", "isonumeric", "ison3", "iso3n", "iso31661numeric", "countrycode"}

func numberClass(col *Column, named func(...string) bool) string {
	within := func(limit float64) bool {
		return col.Mean != nil && len(col.Quantiles) == 5 && abs(col.Min) <= limit && abs(col.Max) <= limit
	}
	switch {
	case named("lat", "latitude", "breitengrad", "breite", "latitud", "latitudine") && within(90) && !named("width"):
		return classLatitude
	case named("lon", "lng", "long", "longitude", "längengrad", "laengengrad", "länge", "longitud", "longitudine") && within(180) &&
		col.Datatype != "integer":
		return classLongitude
	case col.Datatype == "integer" && named(postalWords...) && col.MinLen >= 3 && col.MaxLen <= 6:
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
