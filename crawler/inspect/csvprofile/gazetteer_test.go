package csvprofile

import "testing"

func TestNamesAndCodesAreKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		is   func(string) bool
		yes  []string
		none []string
	}{
		{IsCountry, []string{"Austria", "österreich", "Autriche", "Deutschland", "日本", "USA"}, []string{"Wien", "", "AT"}},
		{IsCountryCode, []string{"AT", "AUT", "EL", "UK", "DE"}, []string{"at", "XX", "ZZ", "EU1", ""}},
		{IsCurrency, []string{"EUR", "USD", "CHF"}, []string{"eur", "ABC", ""}},
		{IsLanguage, []string{"de", "en", "deu"}, []string{"DE", "q", ""}},
		{IsCity, []string{"Wien", "vienna", "Москва"}, []string{"Nirgendwo", ""}},
		{IsMonth, []string{"January", "mär", "août", "Sept."}, []string{"Monday", "a", ""}},
		{IsWeekday, []string{"Montag", "tue", "samedi"}, []string{"January", ""}},
	} {
		for _, s := range c.yes {
			if !c.is(s) {
				t.Errorf("%q is not known", s)
			}
		}
		for _, s := range c.none {
			if c.is(s) {
				t.Errorf("%q is taken for one", s)
			}
		}
	}
}
