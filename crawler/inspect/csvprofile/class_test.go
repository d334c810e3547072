package csvprofile

import (
	"strings"
	"testing"
)

func TestColumnsHaveClassesWhereTheyCanBeTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, cells, class string }{
		{"country", "Austria|Germany|France", ClassCountry},
		{"Land", "Österreich|Deutschland|Frankreich|Schweiz", ClassCountry},
		{"geo", "AT|DE|FR", ClassCountryCode},
		{"iso3", "AUT|DEU|FRA", ClassCountryCode},
		{"nuts", "AT11|AT12|AT130", ClassNUTS},
		{"region", "AT11|DE212|FR10|CZ010", ClassNUTS},
		{"PLZ", "1010|8010|4020", ClassPostalCode},
		{"zip", "01067|01069|99999", ClassPostalCode},
		{"lat", "48.2|47.1|46.6", ClassLatitude},
		{"geoLon", "16.37|15.44|14.3", ClassLongitude},
		{"mail", "a@example.org|b.c@example.com|x@y.at", ClassEmail},
		{"Tel", "+43 1 12345|01/123 45 67|0664 1234567", ClassPhone},
		{"account", "AT611904300234573201|DE89370400440532013000|GB82WEST12345698765432", ClassIBAN},
		{"Currency", "EUR|USD|CHF", ClassCurrency},
		{"month", "January|February|March", ClassMonth},
		{"Wochentag", "Montag|Dienstag|Mittwoch", ClassWeekday},
		{"the_geom", "POINT (16.3 48.2)|POINT (16.4 48.1)", ClassWKT},
		{"link", "http://example.org/a|http://example.org/b", ClassURL},
		{"Stadt", "Wien|Graz|Linz|Sankt Nirgendwo", ClassCity},
		{"uuid", "123e4567-e89b-12d3-a456-426614174000|123e4567-e89b-12d3-a456-426614174001", ClassUUID},
		{"name", "Meier|Huber|Schmidt", ""},
		{"n", "1|2|3", ""},
		{"code", "A1|B2|C3", ""},
	} {
		p := profiled(t, c.name+"\n"+strings.ReplaceAll(c.cells, "|", "\n")+"\n")
		if got := p.Columns[0].Class; got != c.class {
			t.Errorf("%s %s: %q, want %q", c.name, c.cells, got, c.class)
		}
	}
}
