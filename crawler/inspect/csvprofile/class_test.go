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
		{"paper", "10.1371/journal.pone.0095131|doi:10.7554/eLife.23611|10.1007/s10689-017-0013-y", classDOI},
		{"link", "https://doi.org/10.1000/1|https://doi.org/10.1000/2", classDOI},
		{"author", "0000-0002-1825-0097|0000-0001-5109-3700|0000-0002-1694-233X", classORCID},
		{"author", "0000-0002-1825-0098|0000-0001-5109-3701|0000-0002-1694-2331", ""}, // wrong check digits
		{"item", "Q42|Q937|Q5593", ""},
		{"wikidata_id", "Q42|Q937|Q5593", classWikidata},
		{"person", "Q5108000|Q3643688|Q5293292", classWikidata},
		{"Quarter", "Q42010|Q12011|Q22011", ""},
		{"bank", "529900T8BM49AURSDO55|7LTWFZYICNSX8D621K86|HWUPKR0MPOU8FGXBT394", classLEI},
		{"isbn", "978-0-553-38095-8|0-306-40615-2|9780441569595", classISBN},
		{"book", "9780553380958|9780441569595|9780060512804", classISBN},
		{"EAN", "4006381333931|5901234123457|0012345678905", classGTIN},
		{"id", "20200101|20200102|20200103", ""},
		{"journal", "2050-084X|1389-9600|1473-9542", classISSN},
		{"years", "1999-2000|2001-2002|2003-2004", ""},
		{"code_insee", "01004|2A004|75056", classMunicipality},
		{"GKZ", "90001|10101|60101", classMunicipality},
		{"iso_3166_2", "AT-9|AT-1|DE-BY", classSubdivision},
		{"product", "AT-1000|ZZ-12|QQ-1", ""},
		{"M49", "40|276|250|756", classCountryCode},
		{"country-code", "040|008|756|276", classCountryCode},
		{"country-code", "040|999|998|997", ""},
		{"issn_print", "NA|NA|NA|1838-7640", classISSN},
		{"iso2", "NA|AT|DE|FR", classCountryCode},
		{"lang", "en|en-US|aa-DJ|zh-Hant-TW", classLanguageCode},
		{"lang", "en-|aa-DJ|en--US|a", ""},
		{"ATHLETE FIRST", "Anna|Steve|Robert|Reto", classPersonName},
		{"first", "Round|Second|Third", ""},
		{"unit", "µg/m³|mg/l|°C|%", classUnit},
		{"Unit", "Finance|Legal|Communications", ""},
		{"sigla", "BS|BG|AO|ME", ""}, // provinces of Italy
		{"geo_point_2d", `"48.21, 16.37"|"47.07, 15.44"`, classCoordinates},
		{"Vorname", "Anna|Hans-Peter|Çağla", classPersonName},
		{"surname", "O'Brien|von Berg|Huber", classPersonName},
		{"director", "Agnès Varda|Michael Haneke|Barbara Albert|Sofia Coppola", classPersonName},
		{"Name", `"Lloyd, Ms. Anna"|"Montgomery, Sir Charles"|"Riach, Ms. Susan"`, classPersonName},
		{"ship", "San Jose|Victoria Louise|King George", ""},
		{"street", "Anna Street|Victoria Road|George Avenue", ""},
		{"name", "Red Panda|Snow Leopard|Grey Wolf", ""},
		{"n", "1|2|3", ""},
		{"code", "A1|B2|C3", ""},
	} {
		p := profiled(t, c.name+"\n"+strings.ReplaceAll(c.cells, "|", "\n")+"\n")
		if got := p.Columns[0].Class; got != c.class {
			t.Errorf("%s %s: %q, want %q", c.name, c.cells, got, c.class)
		}
	}
}

func TestIdentifiersAreLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ class, value, link string }{
		{classDOI, "doi:10.1000/a b", ""},
		{classDOI, "DOI: 10.1000/x", "https://doi.org/10.1000/x"},
		{classDOI, "10.1000/a?b#c%", "https://doi.org/10.1000/a%3Fb%23c%25"},
		{classDOI, "javascript:alert(1)", ""},
		{classORCID, "0000-0002-1825-0097", "https://orcid.org/0000-0002-1825-0097"},
		{classWikidata, "Q42", "http://www.wikidata.org/entity/Q42"},
		{classISSN, "2050-084X", "https://portal.issn.org/resource/ISSN/2050-084X"},
		{classCity, "Wien", ""},
		{"", "10.1000/x", ""},
	} {
		if got := LinkOf(c.class, c.value); got != c.link {
			t.Errorf("%s %q: %q, want %q", c.class, c.value, got, c.link)
		}
	}
}

func TestColumnsThatIdentifyPeopleAreTold(t *testing.T) {
	t.Parallel()
	p := profiled(t, "Nachname,mail,n,doi\nHuber,a@example.org,1,10.1000/1\nMaier,b@example.org,2,10.1000/2\n")
	for i, want := range []bool{true, true, false, false} {
		if got := p.Columns[i].Personal; got != want {
			t.Errorf("%s: %v", p.Columns[i].Name, got)
		}
	}
	doc, err := p.CSVW("x.csv")
	if err != nil || !strings.Contains(string(doc), `"valueUrl": "https://doi.org/{+doi}"`) &&
		!strings.Contains(string(doc), `"valueUrl":"https://doi.org/{+doi}"`) {
		t.Errorf("%v: %s", err, doc)
	}
}
