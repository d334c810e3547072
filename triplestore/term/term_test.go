package term

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/knakk/rdf"
	"pgregory.net/rapid"
)

func TestCanonicalLiteralsAreInlineAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	for _, k := range []Key{
		String(""), String("a"), String("seven77"), String("a\x00"), String("é"),
		Typed("true", xsdBoolean), Typed("false", xsdBoolean),
		Typed("0", xsdInteger), Typed("-1", xsdInteger), Typed("576460752303423487", xsdInteger), Typed("-576460752303423488", xsdInteger),
		Typed("0.0", xsdDecimal), Typed("-0.25", xsdDecimal), Typed("123.456789", xsdDecimal), Typed("-576460752302.999999", xsdDecimal),
		Typed("0.0E0", xsdDouble), Typed("-0.0E0", xsdDouble), Typed("1.5E0", xsdDouble), Typed("-1.25E-1", xsdDouble),
		Typed("INF", xsdDouble), Typed("-INF", xsdDouble),
		Typed("2016-11-23T12:34:56Z", xsdDateTime), Typed("2016-11-23T12:34:56.500+05:30", xsdDateTime),
		Typed("0001-01-01T00:00:00", xsdDateTime),
		Typed("2000-02-29T23:59:59.9-14:00", xsdDateTime), Typed("2016-11-23T00:00:00+00:00", xsdDateTime),
		Typed("2016-11-23", xsdDate), Typed("9999-12-31Z", xsdDate), Typed("2016-11-23-11:00", xsdDate),
		Typed("2016", xsdGYear), Typed("0001Z", xsdGYear), Typed("1999+01:00", xsdGYear),
	} {
		id, ok := Inline(k)
		if !ok {
			t.Errorf("%q is not inline", string(k))
			continue
		}
		if back, ok := id.Key(); !ok || back != k {
			t.Errorf("%q came back as %q, %v", string(k), string(back), ok)
		}
		if id.Kind() != KindLiteral || !id.Inline() {
			t.Errorf("%q: kind %v inline %v", string(k), id.Kind(), id.Inline())
		}
	}
}

func TestOtherFormsAreNotInline(t *testing.T) {
	t.Parallel()
	for _, k := range []Key{
		"", IRI("http://e/"), Blank("b"), Lang("a", "de"), String("eight888"), Typed("1", "http://e/"), Typed("1", xsd+"int"),
		Typed("1", xsdBoolean), Typed("TRUE", xsdBoolean),
		Typed("01", xsdInteger), Typed("+1", xsdInteger), Typed("-0", xsdInteger), Typed(" 1", xsdInteger), Typed("", xsdInteger),
		Typed("-", xsdInteger),
		Typed("576460752303423488", xsdInteger), Typed("99999999999999999999", xsdInteger), Typed("1.0", xsdInteger),
		Typed("1", xsdDecimal), Typed("1.50", xsdDecimal), Typed("-0.0", xsdDecimal), Typed(".5", xsdDecimal),
		Typed("0.0000001", xsdDecimal), Typed("--1.5", xsdDecimal), Typed("1.-5", xsdDecimal),
		Typed("1.5", xsdDouble), Typed("1.5e0", xsdDouble), Typed("NaN", xsdDouble), Typed("0.1E0", xsdDouble), Typed("+INF", xsdDouble),
		Typed("Inf", xsdDouble), Typed("0x1p4", xsdDouble), Typed("1.0E400", xsdDouble),
		Typed("2016-11-23T12:34:56.1234Z", xsdDateTime), Typed("2016-11-23T24:00:00Z", xsdDateTime),
		Typed("2016-02-30T00:00:00Z", xsdDateTime), Typed("1900-02-29T00:00:00", xsdDateTime),
		Typed("2016-11-23T12:34:56.Z", xsdDateTime), Typed("2016-11-23T12:34:56z", xsdDateTime),
		Typed("2016-11-23T12:34:56-00:00", xsdDateTime), Typed("-0044-03-15T00:00:00Z", xsdDateTime),
		Typed("2016-11-23T12:34:56+14:01", xsdDateTime), Typed("0001-01-01T00:00:00+01:00", xsdDateTime),
		Typed("9999-12-31T00:00:00Z", xsdDateTime), Typed("0000-01-01T00:00:00Z", xsdDateTime),
		Typed("2016-1-1", xsdDate), Typed("2016-13-01", xsdDate), Typed("2016-11-23T", xsdDate), Typed("20161123", xsdDate),
		Typed("0001-01-01+01:00", xsdDate),
		Typed("16", xsdGYear), Typed("-2016", xsdGYear), Typed("12016", xsdGYear), Typed("2016 ", xsdGYear),
	} {
		if id, ok := Inline(k); ok {
			t.Errorf("%q is inline: %x", string(k), uint64(id))
		}
	}
}

func TestInlineIdsCompareAsTheirValuesDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		inline := func(k Key) ID {
			id, ok := Inline(k)
			if !ok {
				t.Skip("only for terms that are stored inline")
			}
			return id
		}
		check := func(what string, want, got int) {
			if want != got {
				t.Fatalf("%s: values compare %d, ids %d", what, want, got)
			}
		}
		a, b := rapid.Int64Range(-1<<59, 1<<59-1).Draw(t, "a"), rapid.Int64Range(-1<<59, 1<<59-1).Draw(t, "b")
		check("integer", cmp.Compare(a, b),
			cmp.Compare(inline(Typed(strconv.FormatInt(a, 10), xsdInteger)), inline(Typed(strconv.FormatInt(b, 10), xsdInteger))))
		check("decimal", cmp.Compare(a, b),
			cmp.Compare(inline(Typed(decimalLexical(a), xsdDecimal)), inline(Typed(decimalLexical(b), xsdDecimal))))
		f, g := math.Float64frombits(uint64(a)<<4), math.Float64frombits(uint64(b)<<4)
		if !math.IsNaN(f) && !math.IsNaN(g) && f != g {
			check("double", cmp.Compare(f, g),
				cmp.Compare(inline(Typed(doubleLexical(f), xsdDouble)), inline(Typed(doubleLexical(g), xsdDouble))))
		}
		s, u := rapid.StringN(0, 7, 7).Draw(t, "s"), rapid.StringN(0, 7, 7).Draw(t, "u")
		check("string", cmp.Compare(s, u), cmp.Compare(inline(String(s)), inline(String(u))))
		moment := func(label string) (time.Time, Key) {
			zone := rapid.IntRange(-840, 840).Draw(t, label+" zone")
			at := time.UnixMilli(rapid.Int64Range(-60_000_000_000_000, 70_000_000_000_000).Draw(t, label)).In(time.FixedZone("", zone*60))
			return at, Typed(at.Format("2006-01-02T15:04:05.000")+offset(zone), xsdDateTime)
		}
		x, xk := moment("x")
		y, yk := moment("y")
		if !x.Equal(y) {
			check("dateTime", x.Compare(y), cmp.Compare(inline(xk), inline(yk)))
		}
		if got, zoned, ok := inline(xk).Time(); !ok || !zoned || !got.Equal(x) {
			t.Fatalf("%q is %v, %v, %v, want %v", string(xk), got, zoned, ok, x)
		}
		if back, _ := inline(xk).Key(); back != xk {
			t.Fatalf("%q came back as %q", string(xk), string(back))
		}
	})
}

func offset(minutes int) string {
	sign := '+'
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60)
}

func TestInlineValuesDecode(t *testing.T) {
	t.Parallel()
	id := func(k Key) ID { id, _ := Inline(k); return id }
	if v, ok := id(Typed("-42", xsdInteger)).Int(); v != -42 || !ok {
		t.Error("Int", v, ok)
	}
	if v, scale, ok := id(Typed("-0.5", xsdDecimal)).Decimal(); v != -500_000 || scale != 6 || !ok {
		t.Error("Decimal", v, scale, ok)
	}
	if v, ok := id(Typed("-1.5E0", xsdDouble)).Double(); v != -1.5 || !ok {
		t.Error("Double", v, ok)
	}
	if v, ok := id(String("abc")).Str(); v != "abc" || !ok {
		t.Error("Str", v, ok)
	}
	if v, ok := id(Typed("true", xsdBoolean)).Bool(); !v || !ok {
		t.Error("Bool", v, ok)
	}
	if v, zoned, ok := id(Typed("2016-11-23", xsdDate)).Time(); v.Format(time.RFC3339) != "2016-11-23T00:00:00Z" || zoned || !ok {
		t.Error("Time", v, zoned, ok)
	}
	if _, ok := Make(TagIRI, 7).Int(); ok {
		t.Error("an IRI has no integer value")
	}
}

func FuzzInlineRoundTrip(f *testing.F) {
	for _, s := range []string{"<http://e/", "\"abc", "^" + xsdInteger + "\x0012", "^" + xsdDateTime + "\x002016-11-23T12:34:56Z",
		"^" + xsdDouble + "\x001.5E0", "^" + xsdGYear + "\x002016", "(", "^", "@de\x00x"} {
		f.Add(s, uint64(0x8000000000000001))
	}
	f.Fuzz(func(t *testing.T, s string, n uint64) {
		if id, ok := Inline(Key(s)); ok {
			if back, ok := id.Key(); !ok || back != Key(s) {
				t.Errorf("%q came back as %q, %v", s, back, ok)
			}
		}
		if k, ok := ID(n).Key(); ok {
			_ = k.Kind()
		}
		k := Key(s)
		k.Parts()
		k.RDF()
		if k.Value() != "" && k.Kind() == KindNone {
			t.Errorf("%q", s)
		}
	})
}

func TestTermsOfKnakkRDFRoundTrip(t *testing.T) {
	t.Parallel()
	for _, k := range []Key{IRI("http://e/ä"), Blank("b1"), String("x"), Lang("x", "de-AT"), Typed("1", xsdInteger),
		Typed("", "http://e/dt")} {
		r, err := k.RDF()
		if err != nil {
			t.Errorf("%q: %v", string(k), err)
			continue
		}
		if back := Of(r); back != k {
			t.Errorf("%q came back as %q", string(k), string(back))
		}
	}
	for _, k := range []Key{"", IRI("http://e/ "), IRI(""), Lang("x", "-"), Triple(IRI("s:"), IRI("p:"), IRI("o:")), "@de--rtl\x00x"} {
		if r, err := k.RDF(); err == nil {
			t.Errorf("%q became %v", string(k), r)
		}
	}
	for _, zero := range []rdf.Term{nil, rdf.IRI{}, rdf.Blank{}} {
		if k := Of(zero); k != "" {
			t.Errorf("%#v became %q", zero, string(k))
		}
	}
	one, _ := rdf.NewLiteral(1)
	if Of(one) != Typed("1", xsdInteger) {
		t.Error("a literal made from a Go value differs from the same one made from its lexical form")
	}
}
