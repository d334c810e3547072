package csvprofile

import "strings"

// unitOf returns the unit that a column's name gives at its end, "" if none: "Length (km)", "Area [ha]", "Share in %".
func unitOf(name string) string {
	name = strings.TrimSpace(name)
	if name == "" {
		return ""
	}
	var last string
	switch name[len(name)-1] {
	case ')':
		if i := strings.LastIndexByte(name, '('); i > 0 {
			last = name[i+1 : len(name)-1]
		}
	case ']':
		if i := strings.LastIndexByte(name, '['); i > 0 {
			last = name[i+1 : len(name)-1]
		}
	default:
		for _, before := range []string{", in ", " in ", " / ", ", "} {
			if i := strings.LastIndex(name, before); i > 0 {
				last = name[i+len(before):]
				break
			}
		}
		if strings.HasSuffix(name, "%") {
			last = "%"
		}
	}
	last = strings.TrimSpace(last)
	last = strings.TrimPrefix(strings.TrimPrefix(last, "in "), "In ")
	if isUnit(last) {
		return last
	}
	return ""
}

// isUnit reports whether a text is a unit of measurement, a currency, or a multiple: "km", "EUR", "1000 t", "kg/m³".
// Symbols are as written, words in any case.
func isUnit(s string) bool {
	if s == "" || len(s) > 30 {
		return false
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == '/' || r == '*' || r == '·' })
	units := 0
	for _, w := range parts {
		switch {
		case w == "per" || w == "je" || w == "of" || w == "pro":
		case unitSymbols[w] || unitWords[strings.ToLower(strings.Trim(w, "."))]:
			units++
		case strings.Trim(w, "0123456789.,") == "" && w[0] == '1' && len(w) >= 3: // 1000, 100.000
			units++
		default:
			return false
		}
	}
	return units > 0
}

// unitSymbols are symbols of units, as they are written.
var unitSymbols = set(`% ‰ °C °F K m mm cm dm km m2 m² km2 km² ha a cm² m3 m³ l L ml hl cm³ g mg kg t kt Mt µg μg ng s ms min h d Hz kHz MHz GHz W kW MW GW Wh kWh MWh
GWh TWh J kJ MJ GJ TJ PJ kcal cal N kN Pa hPa kPa MPa bar mbar V kV mV A mA Ω lx lm cd dB mol ppm ppb pH EUR USD GBP CHF JPY CAD AUD SEK NOK DKK PLN CZK HUF $ € £ ¥
mi ft in yd lb lbs oz mph kn kt kB MB GB TB kbit Mbit µm μm nm Bq kBq mSv µSv TEUR Tsd Mio Mrd VZÄ Stk`)

// unitWords are names of units and multiples, in lower case.
var unitWords = set(`percent prozent pct thousand thousands million millions mill mn mln bn billion billions tsd mio mrd tausend millionen milliarden milliers dollars dollar
euro euros pounds metres meters kilometres kilometers miles feet inches acres hectares hectare hektar tonnes tons kilograms kilogramm grams litres liters hours minutes seconds
days weeks months years stunden minuten sekunden tage jahre persons personen inhabitants einwohner households degrees`)

// set returns the words of a text.
func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
