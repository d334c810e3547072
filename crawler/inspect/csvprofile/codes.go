package csvprofile

import (
	"strconv"
	"strings"

	"golang.org/x/text/language"
)

// IsSubdivision reports whether s has the form of an ISO 3166-2 code, "AT-9": that of a country, a hyphen, and one to
// three letters or digits.
func IsSubdivision(s string) bool {
	country, part, ok := strings.Cut(s, "-")
	if !ok || len(country) != 2 || len(part) < 1 || len(part) > 3 || country == "EL" || country == "UK" || !IsCountryCode(country) {
		return false
	}
	for i := range len(part) {
		if c := part[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// IsCountryNumber reports whether s is the number of a country in ISO 3166-1, with or without leading zeros.
func IsCountryNumber(s string) bool {
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 || n > 999 || len(s) > 3 {
		return false
	}
	r, err := language.EncodeM49(n)
	return err == nil && r.IsCountry()
}

// IsUnit reports whether s is a unit of measurement by its symbol or name, after UCUM and the SI, also with a prefix,
// per another one, or to a power: "kg", "µg/m³", "1000 t", "% of GDP" is none.
func IsUnit(s string) bool {
	s = strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "[]()"))
	if s == "" || len(s) > 40 {
		return false
	}
	if first, rest, ok := strings.Cut(s, " "); ok && !strings.ContainsAny(first, "abcdefghijklmnopqrstuvwxyz/%") {
		// "1000 t", "Mio. EUR" is not
		if _, err := strconv.ParseFloat(strings.NewReplacer(",", "", ".", "").Replace(first), 64); err == nil {
			s = rest
		}
	}
	parts := strings.FieldsFunc(strings.NewReplacer(" per ", "/", " pro ", "/", " par ", "/", " por ", "/").Replace(s),
		func(r rune) bool { return r == '/' || r == '·' || r == '*' })
	if len(parts) == 0 || len(parts) > 4 {
		return false
	}
	for _, p := range parts {
		if !isSimpleUnit(strings.TrimSpace(p)) {
			return false
		}
	}
	return true
}

// isSimpleUnit reports whether s is a unit that is not composed, maybe to a power.
func isSimpleUnit(s string) bool {
	if listedUnit(s) {
		return true
	}
	base := strings.TrimRight(s, "²³⁻¹-^0123456789")
	if base == "" || base == s && !strings.Contains(units, " "+strings.ToLower(s)+" ") {
		return false
	}
	return listedUnit(base)
}

// listedUnit looks up a symbol as it is written, or a name in any case.
func listedUnit(s string) bool {
	if s == "" || strings.Contains(s, " ") {
		return false
	}
	return strings.Contains(units, " "+s+" ") || len(s) > 3 && strings.Contains(units, " "+strings.ToLower(s)+" ")
}

// units are symbols (as they are written) and names (in lower case).
const units = " m cm mm km dm nm µm μm um in ft yd mi m2 m² m3 m³ km2 km² cm2 cm3 ha ar a sqm sqft acre acres l L ml mL dl cl hl hL gal " +
	"g kg mg µg μg ug ng t kt Mt Gt dt oz lb lbs" +
	" s sec min h hr hrs d wk mo yr ms µs ns Hz kHz MHz GHz N kN Pa hPa kPa MPa bar mbar psi atm J kJ MJ GJ TJ PJ W kW MW GW TW Wh kWh " +
	"MWh GWh TWh V kV mV A mA Ω ohm F C K °C °F ºC °" +
	" cd lm lx Bq kBq Sv mSv µSv Gy mol mmol µmol M mM ppm ppb ppt % %o ‰ percent prozent pct dB dB(A) dBA pH NTU FNU PSU rpm kt kn mph " +
	"kph km/h m/s m3/s m³/s µS mS S uS" +
	" eur usd gbp chf EUR USD GBP CHF € $ £ toe ktoe Mtoe toe TEU GWp MWp kWp kVA MVA bit byte kB MB GB TB Mbit Gbit" +
	" metre metres meter meters kilometre kilometres kilometer kilometers centimetre centimeter centimeters millimetre millimeter " +
	"millimeters litre litres liter liters gram grams" +
	" kilogram kilograms kilogramm gramm tonne tonnes tonnen tons hectare hectares hektar second seconds sekunden minute minutes minuten " +
	"hour hours stunden stunde day days tage tag" +
	" week weeks month months monate year years jahre jahr celsius fahrenheit kelvin degree degrees grad watt kilowatt megawatt " +
	"kilowattstunden joule volt ampere pascal" +
	" number anzahl nombre count persons personen person stück stk euro dollar dollars index inhabitants einwohner households pieces items "
