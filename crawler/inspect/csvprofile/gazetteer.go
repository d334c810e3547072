// Recognises names and codes that are common in columns of open data: countries in many languages,
// their ISO codes, currencies, languages, larger cities, months and weekdays. It reports whether a text is one of them
// and nothing more. All data is embedded, mostly in the Unicode CLDR tables of golang.org/x/text.

package csvprofile

import (
	_ "embed"
	"strings"
	"sync"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

//go:embed cities.txt
var cityList string

// countryNames are the names of countries in the languages of open data portals, in lower case.
var countryNames = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{
		"czech republic": true, "holland": true, "great britain": true, "england": true, "scotland": true, "wales": true,
		"northern ireland": true, "usa": true,
		"united states of america": true, "u.s.a.": true, "uk": true, "russian federation": true, "republic of korea": true,
		"south korea": true, "north korea": true,
		"viet nam": true, "iran (islamic republic of)": true, "syrian arab republic": true, "tanzania": true,
		"united republic of tanzania": true, "ivory coast": true,
		"swaziland": true, "burma": true, "macedonia": true, "bosnia": true, "slovak republic": true, "türkiye": true, "turkey": true,
		"venezuela":                        true,
		"bolivia (plurinational state of)": true, "brunei darussalam": true, "lao pdr": true, "cabo verde": true,
		"republic of moldova": true, "congo": true,
	}
	tags := []language.Tag{language.English, language.German, language.French, language.Spanish, language.Italian, language.Portuguese,
		language.Dutch, language.Danish,
		language.Swedish, language.Norwegian, language.Finnish, language.Polish, language.Czech, language.Slovak, language.Hungarian,
		language.Romanian, language.Bulgarian,
		language.Croatian, language.Slovenian, language.Greek, language.Russian, language.Ukrainian, language.Estonian, language.Latvian,
		language.Lithuanian, language.Turkish,
		language.Japanese, language.Chinese, language.Korean, language.Arabic}
	for _, tag := range tags {
		namer := display.Regions(tag)
		if namer == nil {
			continue
		}
		for _, code := range isoCodes() {
			if r, err := language.ParseRegion(code); err == nil && r.IsCountry() {
				if n := namer.Name(r); n != "" {
					names[strings.ToLower(n)] = true
				}
			}
		}
	}
	return names
})

// isoCodes returns the two-letter codes of ISO 3166-1.
func isoCodes() []string {
	var codes []string
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string(a) + string(b)
			if IsCountryCode(code) {
				codes = append(codes, code)
			}
		}
	}
	return codes
}

var cities = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsFuncSeq(cityList, func(r rune) bool { return r == '\n' || r == ',' }) {
		m[strings.ToLower(strings.TrimSpace(name))] = true
	}
	return m
})

// IsCountry reports whether s is the name of a country.
func IsCountry(s string) bool { return !numbered(s) && countryNames()[strings.ToLower(s)] }

// IsCity reports whether s is the name of a larger city, in its own language, English or German.
func IsCity(s string) bool { return !numbered(s) && cities()[strings.ToLower(s)] }

// numbered reports whether s contains a digit, as no name here does.
func numbered(s string) bool {
	for i := range len(s) {
		if s[i]-'0' <= 9 {
			return true
		}
	}
	return false
}

// IsCountryCode reports whether s is an ISO 3166-1 code of two or three capital letters, or one of EL and UK, which
// Eurostat uses.
func IsCountryCode(s string) bool {
	if len(s) != 2 && len(s) != 3 || strings.ToUpper(s) != s {
		return false
	}
	if s == "EL" || s == "UK" {
		return true
	}
	r, err := language.ParseRegion(s)
	if err != nil || !r.IsCountry() || r.IsPrivateUse() {
		return false
	}
	return r.String() == s || r.ISO3() == s
}

// IsCurrency reports whether s is an ISO 4217 code.
func IsCurrency(s string) bool {
	if len(s) != 3 || strings.ToUpper(s) != s {
		return false
	}
	_, err := currency.ParseISO(s)
	return err == nil
}

// IsLanguage reports whether s is an ISO 639 code of two or three lower-case letters.
func IsLanguage(s string) bool {
	if len(s) != 2 && len(s) != 3 || strings.ToLower(s) != s {
		return false
	}
	b, err := language.ParseBase(s)
	return err == nil && (b.String() == s || b.ISO3() == s)
}

// IsMonth reports whether s is a month's name, or a common short form, in one of the larger languages of Europe.
func IsMonth(s string) bool { return listed(months, s) }

// IsWeekday reports whether s is a weekday's name, or a common short form, in one of the larger languages of Europe.
func IsWeekday(s string) bool { return listed(weekdays, s) }

func listed(list, s string) bool {
	if numbered(s) {
		return false
	}
	s = strings.TrimSuffix(strings.ToLower(s), ".")
	return len(s) >= 2 && !strings.Contains(s, " ") && strings.Contains(list, " "+s+" ")
}

const months = " january february march april may june july august september october november december jan feb mar apr jun jul aug sep " +
	"sept oct nov dec" +
	" januar jänner februar feber märz mär mai juni juli oktober dezember mrz okt dez janvier février mars avril juin juillet août " +
	"septembre octobre novembre décembre" +
	" enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio febbraio aprile maggio giugno " +
	"luglio settembre ottobre dicembre" +
	" janeiro fevereiro março maio junho julho setembro outubro novembro dezembro januari februari maart mei augustus" +
	" styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień leden únor březen duben květen " +
	"červen červenec srpen září říjen prosinec "

const weekdays = " monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur fri sat sun" +
	" montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so lundi mardi mercredi jeudi vendredi " +
	"samedi dimanche" +
	" lunes martes miércoles jueves viernes sábado domingo lunedì martedì mercoledì giovedì venerdì sabato domenica" +
	" maandag dinsdag woensdag donderdag vrijdag zaterdag zondag poniedziałek wtorek środa czwartek piątek sobota niedziela "
