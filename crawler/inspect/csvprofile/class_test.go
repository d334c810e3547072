package csvprofile

import (
	"strings"
	"testing"
)

func TestColumnsHaveClassesWhereTheyCanBeTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, cells, class string }{
		{"country", "Austria|Germany|France", classCountry},
		{"Land", "Österreich|Deutschland|Frankreich|Schweiz", classCountry},
		{"geo", "AT|DE|FR", classCountryCode},
		{"iso3", "AUT|DEU|FRA", classCountryCode},
		{"nuts", "AT11|AT12|AT130", classNUTS},
		{"region", "AT11|DE212|FR10|CZ010", classNUTS},
		{"PLZ", "1010|8010|4020", classPostalCode},
		{"zip", "01067|01069|99999", classPostalCode},
		{"lat", "48.2|47.1|46.6", classLatitude},
		{"geoLon", "16.37|15.44|14.3", classLongitude},
		{"mail", "a@example.org|b.c@example.com|x@y.at", classEmail},
		{"Tel", "+43 1 12345|01/123 45 67|0664 1234567", classPhone},
		{"account", "AT611904300234573201|DE89370400440532013000|GB82WEST12345698765432", classIBAN},
		{"Currency", "EUR|USD|CHF", classCurrency},
		{"month", "January|February|March", classMonth},
		{"Wochentag", "Montag|Dienstag|Mittwoch", classWeekday},
		{"the_geom", "POINT (16.3 48.2)|POINT (16.4 48.1)", classWKT},
		{"link", "http://example.org/a|http://example.org/b", classURL},
		{"Stadt", "Wien|Graz|Linz|Sankt Nirgendwo", classCity},
		{"uuid", "123e4567-e89b-12d3-a456-426614174000|123e4567-e89b-12d3-a456-426614174001", classUUID},
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
