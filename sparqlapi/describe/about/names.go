package about

import "strings"

// LabelOf returns the English name of an entry of the lists that portals name by IRI: the EU's authority tables of
// themes, frequencies, languages and access rights, and licences. It returns "" for anything else.
func LabelOf(iri string) string {
	if table, code, ok := authority(iri); ok {
		switch table {
		case "data-theme":
			return themes[code]
		case "frequency":
			return frequencies[code]
		case "language":
			return languages[code]
		case "access-right":
			return strings.ToLower(strings.ReplaceAll(code, "_", " "))
		case "licence":
			return spaced(code)
		case "file-type":
			return code
		}
		return ""
	}
	return licence(iri)
}

// ThemeOf returns the name of a theme by its code in the EU's table, as portals write it without the address; "" for
// other texts.
func ThemeOf(code string) string { return themes[strings.ToUpper(code)] }

// spaced writes the code of a licence as people do: CC_BY_4_0 is CC BY 4.0.
func spaced(code string) string {
	b := []byte(code)
	digit := func(i int) bool { return i >= 0 && i < len(b) && b[i] >= '0' && b[i] <= '9' }
	for i := range b {
		switch {
		case b[i] != '_':
		case digit(i-1) && digit(i+1):
			b[i] = '.'
		default:
			b[i] = ' '
		}
	}
	return string(b)
}

const authorities = "http://publications.europa.eu/resource/authority/"

// authority splits the IRI of an entry of one of the EU's authority tables.
func authority(iri string) (table, code string, ok bool) {
	rest, ok := strings.CutPrefix(iri, authorities)
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, "/")
}

var themes = map[string]string{
	"AGRI": "Agriculture, fisheries, forestry and food", "ECON": "Economy and finance", "EDUC": "Education, culture and sport",
	"ENER": "Energy", "ENVI": "Environment",
	"GOVE": "Government and public sector", "HEAL": "Health", "INTR": "International issues",
	"JUST": "Justice, legal system and public safety", "OP_DATPRO": "Provisional data",
	"REGI": "Regions and cities", "SOCI": "Population and society", "TECH": "Science and technology", "TRAN": "Transport",
}

var frequencies = map[string]string{
	"ANNUAL": "every year", "ANNUAL_2": "twice a year", "ANNUAL_3": "three times a year", "BIENNIAL": "every two years",
	"BIMONTHLY": "every two months", "BIWEEKLY": "every two weeks", "CONT": "continuously",
	"DAILY": "every day", "DAILY_2": "twice a day", "HOURLY": "every hour", "IRREG": "irregularly", "MONTHLY": "every month",
	"MONTHLY_2": "twice a month", "MONTHLY_3": "three times a month",
	"NEVER": "never", "NOT_PLANNED": "not planned", "QUARTERLY": "every three months", "TRIENNIAL": "every three years",
	"UNKNOWN": "unknown", "UPDATE_CONT": "continuously", "WEEKLY": "every week",
	"WEEKLY_2": "twice a week", "WEEKLY_3": "three times a week", "AS_NEEDED": "as needed", "QUADRENNIAL": "every four years",
	"QUINQUENNIAL": "every five years", "DECENNIAL": "every ten years",
}

var languages = map[string]string{
	"DEU": "German", "ENG": "English", "FRA": "French", "ITA": "Italian", "SPA": "Spanish", "NLD": "Dutch", "POR": "Portuguese",
	"POL": "Polish", "CES": "Czech", "SLK": "Slovak", "SLV": "Slovene", "HUN": "Hungarian",
	"HRV": "Croatian", "SWE": "Swedish", "DAN": "Danish", "FIN": "Finnish", "ELL": "Greek", "BUL": "Bulgarian", "RON": "Romanian",
	"EST": "Estonian", "LAV": "Latvian", "LIT": "Lithuanian", "MLT": "Maltese", "GLE": "Irish",
}

// licence names a licence by its address.
func licence(iri string) string {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.TrimPrefix(iri, "https://"), "http://"), "creativecommons.org/")
	if ok {
		parts := strings.Split(strings.Trim(rest, "/"), "/")
		switch {
		case len(parts) >= 2 && parts[0] == "publicdomain" && parts[1] == "zero":
			return "CC0"
		case len(parts) >= 2 && parts[0] == "publicdomain" && parts[1] == "mark":
			return "Public Domain Mark"
		case len(parts) >= 3 && parts[0] == "licenses":
			return "CC " + strings.ToUpper(parts[1]) + " " + parts[2]
		case len(parts) == 2 && parts[0] == "licenses":
			return "CC " + strings.ToUpper(parts[1])
		}
		return ""
	}
	for part, name := range map[string]string{
		"govdata.de/dl-de/by-2-0": "Data licence Germany – attribution 2.0", "govdata.de/dl-de/zero-2-0": "Data licence Germany – Zero 2.0",
		"opendatacommons.org/licenses/odbl":                   "Open Database License",
		"opendatacommons.org/licenses/by":                     "ODC Attribution License",
		"opendatacommons.org/licenses/pddl":                   "Public Domain Dedication and License",
		"nationalarchives.gov.uk/doc/open-government-licence": "Open Government Licence",
		"etalab.gouv.fr/licence-ouverte":                      "Licence Ouverte",
	} {
		if strings.Contains(iri, part) {
			return name
		}
	}
	return ""
}
