package uax35

import (
	"testing"

	"odarchive/triplestore/xsdval"
)

func TestNumbersInAPatternBecomeXSDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, decimal, group, in, want string }{
		{"", "", "", "1,234.50", "1234.50"},
		{"", ",", ".", "1.234,5", "1234.5"},
		{"", "", "", "-.5", "-0.5"},
		{"", "", "", "12.5%", "0.125"},
		{"", "", "", "5‰", "0.005"},
		{"", "", "", "7-", "-7"},
		{"", "", "", "1e-3", "1e-3"},
		{"", "", "", "1,,2", ""},
		{"", "", "", ",1", ""},
		{"", "", "", "1.2.3", ""},
		{"", "", "", "--1", ""},
		{"", "", "", "", ""},
		{"#,##0.00", "", "", "12,345.67", "12345.67"},
		{"#,##0.00", "", "", "12345.67", ""},
		{"#,##0.00", "", "", "1,2345.67", ""},
		{"#,##0.00", "", "", "1.5", ""},
		{"#,##,##0", "", "", "12,34,567", "1234567"},
		{"000", "", "", "42", ""},
		{"0.0E0", "", "", "1.5E3", "1.5e3"},
		{"0.0E0", "", "", "1.5", ""},
		{"0%", "", "", "5%", "0.05"},
		{"0%", "", "", "5", ""},
		{"0.000,0", "", "", "1.234,5", "1.2345"},
	} {
		f := NumberFormat{Decimal: c.decimal, Group: c.group}
		if c.pattern != "" {
			var ok bool
			if f.Pattern, ok = ParseNumberPattern(c.pattern); !ok {
				t.Errorf("pattern %s is not parsed", c.pattern)
				continue
			}
		}
		if got, ok := f.XSD(c.in); got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, %v; want %q", c.in, c.pattern, got, ok, c.want)
		}
	}
	for _, bad := range []string{"", ".", "0#", "#,", "0.#0", "abc", "0.,0"} {
		if _, ok := ParseNumberPattern(bad); ok {
			t.Errorf("pattern %q is parsed", bad)
		}
	}
}

func TestDatesInAPatternBecomeXSDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind              xsdval.Kind
		pattern, in, want string
	}{
		{xsdval.Date, "dd.MM.yyyy", "31.01.2020", "2020-01-31"},
		{xsdval.Date, "d.M.yyyy", "1.12.2020", "2020-12-01"},
		{xsdval.Date, "yyyyMMdd", "20200131", "2020-01-31"},
		{xsdval.Date, "M/d/yyyyX", "1/2/2020+01", "2020-01-02+01:00"},
		{xsdval.Date, "dd.MM.yyyy", "1.1.2020", ""},
		{xsdval.Time, "HH:mm", "10:30", "10:30:00"},
		{xsdval.Time, "HHmmss.SSSXXX", "103005.250Z", "10:30:05.25Z"},
		{xsdval.Time, "HH:mm:ss.S", "10:30:05.25", ""},
		{xsdval.DateTime, "yyyy-MM-dd HH:mm XXX", "2020-01-31 10:30 -05:30", "2020-01-31T10:30:00-05:30"},
		{xsdval.DateTime, "yyyy-MM-dd'T'HH:mm:ss", "2020-01-31T10:30:00", "2020-01-31T10:30:00"},
		{xsdval.DateTime, "yyyy-MM-ddTHH:mmxx", "2020-01-31T10:30+0100", "2020-01-31T10:30:00+01:00"},
	} {
		f, ok := ParseDateFormat(c.kind, c.pattern)
		if !ok {
			t.Errorf("pattern %s is not parsed", c.pattern)
			continue
		}
		got, ok := f.XSD(c.in)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%q in %q: %q, %v; want %q", c.in, c.pattern, got, ok, c.want)
		}
		if _, parsed := xsdval.ParseKind(got, c.kind); ok && !parsed {
			t.Errorf("%q is not a %s", got, c.kind)
		}
	}
	if got, ok := XSDFormat(xsdval.DateTime).XSD("2020-01-31T10:30:00.500+14:00"); !ok || got != "2020-01-31T10:30:00.5+14:00" {
		t.Errorf("XSD's own format: %q, %v", got, ok)
	}
	for _, bad := range []string{"", "yyyy.M.d", "dd MMM yyyy", "yyyy-MM-dd.S", "yyyy-MM-dd HH:mm.S"} {
		if _, ok := ParseDateFormat(xsdval.Date, bad); ok {
			t.Errorf("pattern %q is parsed", bad)
		}
	}
}

func FuzzXSD(f *testing.F) {
	f.Add("#,##0.0", ".", ",", "1,234.5")
	f.Add("dd.MM.yyyy", "", "", "31.01.2020")
	f.Add("yyyy-MM-ddTHH:mm:ss.SXXX", "", "", "2020-01-31T10:30:00.5+14:00")
	f.Fuzz(func(t *testing.T, pattern, decimal, group, s string) {
		p, _ := ParseNumberPattern(pattern)
		if lexical, ok := (NumberFormat{p, decimal, group}).XSD(s); ok {
			if _, parsed := xsdval.ParseKind(lexical, xsdval.Double); !parsed {
				t.Errorf("%q becomes %q, which is no number", s, lexical)
			}
		}
		for _, kind := range []xsdval.Kind{xsdval.Date, xsdval.Time, xsdval.DateTime} {
			if format, ok := ParseDateFormat(kind, pattern); ok {
				format.XSD(s)
			}
		}
	})
}
