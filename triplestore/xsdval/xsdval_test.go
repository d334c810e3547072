package xsdval_test

import (
	"math/big"
	"strings"
	"testing"

	"odarchive/triplestore/xsdval"

	"pgregory.net/rapid"
)

func parse(t *testing.T, s string) xsdval.Value {
	t.Helper()
	lex, kind, _ := strings.Cut(s, "^")
	v, ok := xsdval.Parse(lex, xsdval.XSD+kind)
	if !ok {
		t.Fatalf("%q is no %s", lex, kind)
	}
	return v
}

func TestLexicalFormsAndTheirCanonicalOnes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, in, want string }{
		{"integer", "+007", "7"}, {"integer", "-0", "0"}, {"integer", " 12\n", "12"},
		{"integer", "123456789012345678901234567890", "123456789012345678901234567890"},
		{"decimal", "1.50", "1.5"}, {"decimal", "-.5", "-0.5"}, {"decimal", "2.", "2"}, {"decimal", "0.0", "0"},
		{"decimal", "0.000000000000000000000000000001", "0.000000000000000000000000000001"},
		{"double", "1", "1.0E0"}, {"double", "-12.5e3", "-1.25E4"}, {"double", "INF", "INF"}, {"double", "1e400", "INF"},
		{"float", "0.1", "1.0E-1"}, {"double", "NaN", "NaN"},
		{"boolean", "1", "true"}, {"boolean", "false", "false"},
		{"dateTime", "2020-02-29T23:59:59.120+01:00", "2020-02-29T23:59:59.12+01:00"},
		{"dateTime", "2020-05-10T00:00Z", "2020-05-10T00:00:00Z"}, // lenient, for the original archive's queries
		{"dateTimeStamp", "2020-05-10T00:00Z", "2020-05-10T00:00:00Z"},
		{"dateTime", "1999-12-31T24:00:00", "2000-01-01T00:00:00"},
		{"dateTime", "-0001-01-01T00:00:00", "-0001-01-01T00:00:00"},
		{"date", "2020-03-01-05:00", "2020-03-01-05:00"}, {"time", "13:20:00.5", "13:20:00.5"}, {"time", "24:00:00", "00:00:00"},
		{"gYear", "0000", "0000"}, {"gYearMonth", "2020-11Z", "2020-11Z"}, {"gMonth", "--11", "--11"},
		{"gMonthDay", "--02-29", "--02-29"}, {"gDay", "---31", "---31"},
		{"duration", "P1Y14M3DT25H", "P2Y2M4DT1H"}, {"duration", "-PT0.5S", "-PT0.5S"}, {"duration", "P0Y", "PT0S"},
		{"dayTimeDuration", "PT36H", "P1DT12H"}, {"yearMonthDuration", "P0M", "P0M"},
	} {
		v, ok := xsdval.Parse(c.in, xsdval.XSD+c.kind)
		if !ok || v.String() != c.want {
			t.Errorf("%s %q: got %q, %v, want %q", c.kind, c.in, v, ok, c.want)
		}
	}
}

func TestWhatIsNoValue(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"integer", ""}, {"integer", "1.0"}, {"integer", "1e3"}, {"integer", "--1"}, {"decimal", "."}, {"decimal", "1e0"},
		{"double", "0x10"}, {"double", "inf"}, {"double", "1_0"}, {"double", "e5"}, {"boolean", "TRUE"},
		{"dateTime", "2019-02-29T00:00:00"}, {"dateTime", "2020-13-01T00:00:00"}, {"dateTime", "2020-01-01"},
		{"dateTime", "2020-01-01T24:00:01"}, {"dateTime", "2020-01-01T00:00:00+15:00"}, {"dateTime", "02020-01-01T00:00:00"},
		{"dateTimeStamp", "2020-01-01T00:00:00"}, {"time", "1:00:00"}, {"gDay", "---32"}, {"gMonthDay", "--02-30"},
		{"duration", "P"}, {"duration", "P1"}, {"duration", "PT"}, {"duration", "P1H"}, {"duration", "P1.5D"}, {"duration", "P1D1Y"},
		{"dayTimeDuration", "P1Y"}, {"yearMonthDuration", "P1D"},
		{"byte", "128"}, {"unsignedInt", "-1"}, {"positiveInteger", "0"}, {"string", "a"}, {"nonsense", "1"},
	} {
		if v, ok := xsdval.Parse(c[1], xsdval.XSD+c[0]); ok {
			t.Errorf("%s %q: got %v, want none", c[0], c[1], v)
		}
	}
	if _, ok := xsdval.Parse(strings.Repeat("9", 20000), xsdval.XSD+"integer"); ok {
		t.Error("an integer of 20,000 digits is read")
	}
}

func TestComparing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int
		ok   bool
	}{
		{"1^integer", "1.0^decimal", 0, true},
		{"2^integer", "1.5e0^double", 1, true},
		{"100000000000000000000^integer", "99999999999999999999.5^decimal", 1, true},
		{"NaN^double", "1^integer", 0, false},
		{"false^boolean", "true^boolean", -1, true},
		{"2020-01-01T00:00:00Z^dateTime", "2020-01-01T01:00:00+01:00^dateTime", 0, true},
		{"2020-01-01T00:00:00Z^dateTime", "2020-01-01T00:00:00^dateTime", 0, false}, // within 14 hours: unknown
		{"2020-01-01T00:00:00Z^dateTime", "2020-01-03T00:00:00^dateTime", -1, true},
		{"2020-01-01^date", "2020-01-02^date", -1, true},
		{"2020-01-01^date", "2020-01-01T00:00:00^dateTime", 0, false},
		{"PT24H^dayTimeDuration", "P1D^dayTimeDuration", 0, true},
		{"P1M^yearMonthDuration", "P30D^dayTimeDuration", 1, false},
		{"true^boolean", "1^integer", 0, false},
	} {
		got, ok := xsdval.Compare(parse(t, c.a), parse(t, c.b))
		if ok != c.ok || ok && got != c.want {
			t.Errorf("compare %s with %s: got %d, %v, want %d, %v", c.a, c.b, got, ok, c.want, c.ok)
		}
	}
}

func TestArithmetic(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ a, op, b, want string }{
		{"9223372036854775807^integer", "+", "1^integer", "9223372036854775808 integer"},
		{"1^integer", "+", "0.5^decimal", "1.5 decimal"},
		{"0.1^decimal", "+", "0.2^decimal", "0.3 decimal"},
		{"1^integer", "/", "3^integer", "0.333333333333333333 decimal"},
		{"6^integer", "/", "3^integer", "2 decimal"},
		{"1^integer", "/", "0^integer", "error"},
		{"1^integer", "/", "0e0^double", "INF double"},
		{"3^integer", "*", "1.5e0^double", "4.5E0 double"},
		{"1^float", "*", "2^integer", "2.0E0 float"},
		{"2020-01-31^date", "+", "P1M^yearMonthDuration", "2020-02-29 date"},
		{"2020-01-01T00:00:00Z^dateTime", "-", "2019-12-31T23:00:00Z^dateTime", "PT1H dayTimeDuration"},
		{"2020-01-01T00:00:00Z^dateTime", "-", "PT1S^dayTimeDuration", "2019-12-31T23:59:59Z dateTime"},
		{"23:30:00^time", "+", "PT1H^dayTimeDuration", "00:30:00 time"},
		{"P1D^dayTimeDuration", "*", "2^integer", "P2D dayTimeDuration"},
		{"P1D^dayTimeDuration", "/", "PT6H^dayTimeDuration", "4 decimal"},
		{"true^boolean", "+", "1^integer", "error"},
	} {
		f := map[string]func(a, b xsdval.Value) (xsdval.Value, bool){"+": xsdval.Add, "-": xsdval.Sub, "*": xsdval.Mul,
			"/": xsdval.Div}[c.op]
		got := "error"
		if v, ok := f(parse(t, c.a), parse(t, c.b)); ok {
			got = v.String() + " " + v.Kind.String()
		}
		if got != c.want {
			t.Errorf("%s %s %s: got %s, want %s", c.a, c.op, c.b, got, c.want)
		}
	}
}

func TestRounding(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, floor, ceil, round, abs string }{
		{"2.5^decimal", "2", "3", "3", "2.5"}, {"-2.5^decimal", "-3", "-2", "-2", "2.5"}, {"-0.4^decimal", "-1", "0", "0", "0.4"},
		{"-7^integer", "-7", "-7", "-7", "7"}, {"2.5e0^double", "2.0E0", "3.0E0", "3.0E0", "2.5E0"},
		{"-2.5e0^double", "-3.0E0", "-2.0E0", "-2.0E0", "2.5E0"},
	} {
		v := parse(t, c.in)
		for name, f := range map[string]func(xsdval.Value) (xsdval.Value, bool){c.floor + " floor": xsdval.Floor,
			c.ceil + " ceil": xsdval.Ceil, c.round + " round": xsdval.Round, c.abs + " abs": xsdval.Abs} {
			want, _, _ := strings.Cut(name, " ")
			if got, ok := f(v); !ok || got.String() != want {
				t.Errorf("%s of %s: got %v", name, c.in, got)
			}
		}
	}
}

func TestCasts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		to   xsdval.Kind
		want string
	}{
		{"1.9^decimal", xsdval.Integer, "1"}, {"-1.9e0^double", xsdval.Integer, "-1"}, {"NaN^double", xsdval.Integer, "error"},
		{"true^boolean", xsdval.Double, "1.0E0"}, {"0^integer", xsdval.Boolean, "false"}, {"1.5e0^double", xsdval.Decimal, "1.5"},
		{"2020-05-10T11:22:33Z^dateTime", xsdval.Date, "2020-05-10Z"}, {"2020-05-10T11:22:33Z^dateTime", xsdval.Time, "11:22:33Z"},
		{"2020-05-10^date", xsdval.DateTime, "2020-05-10T00:00:00"}, {"2020-05-10^date", xsdval.GMonthDay, "--05-10"},
		{"P1Y2DT3H^duration", xsdval.DayTimeDuration, "P2DT3H"}, {"1^integer", xsdval.Date, "error"},
	} {
		got := "error"
		if v, ok := xsdval.Cast(parse(t, c.in), c.to); ok {
			got = v.String()
		}
		if got != c.want {
			t.Errorf("%s to %v: got %s, want %s", c.in, c.to, got, c.want)
		}
	}
}

func TestIntegersOfAnySize(t *testing.T) {
	t.Parallel()
	a, b := "98765432109876543210987654321", "-12345678901234567890"
	x, _ := new(big.Int).SetString(a, 10)
	y, _ := new(big.Int).SetString(b, 10)
	got, ok := xsdval.Mul(parse(t, a+"^integer"), parse(t, b+"^integer"))
	if want := new(big.Int).Mul(x, y).String(); !ok || got.String() != want {
		t.Errorf("got %v, want %s", got, want)
	}
	v := parse(t, strings.Repeat("9", 9000)+"^integer")
	for ok {
		v, ok = xsdval.Mul(v, v) // must end with an error, not exhaust memory
	}
}

// FuzzParse checks that no input panics, and that the canonical form of a value is that value.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "-1.5", "1e3", "true", "2020-01-01T00:00:00Z", "2020-01-01", "12:00:00", "P1Y2M3DT4H5M6.7S", "--02-29",
		"---31", "2020-02"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for k := xsdval.Boolean; k <= xsdval.YearMonthDuration; k++ {
			v, ok := xsdval.ParseKind(s, k)
			if !ok {
				continue
			}
			again, ok := xsdval.ParseKind(v.String(), k)
			if !ok || again.String() != v.String() {
				t.Fatalf("%v %q: canonical %q reads as %q, %v", k, s, v, again, ok)
			}
			if eq, known := xsdval.Equal(v, again); known && !eq && v.String() != "NaN" {
				t.Fatalf("%v %q does not equal its canonical form %q", k, s, v)
			}
		}
	})
}

// TestSmallDecimalsAreExact compares the arithmetic in machine words with that of math/big.
func TestSmallDecimalsAreExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) (xsdval.Value, *big.Rat) {
			bits := rapid.IntRange(0, 63).Draw(t, label+" bits")
			i, scale := rapid.Int64().Draw(t, label)>>bits, rapid.IntRange(0, 12).Draw(t, label+" scale")
			return xsdval.NewDecimal(i, scale),
				new(big.Rat).SetFrac(big.NewInt(i), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil))
		}
		a, x := draw("a")
		b, y := draw("b")
		rat := func(v xsdval.Value) *big.Rat { r, _ := new(big.Rat).SetString(v.String()); return r }
		if sum, ok := xsdval.Add(a, b); !ok || rat(sum).Cmp(new(big.Rat).Add(x, y)) != 0 {
			t.Fatalf("%v + %v = %v", a, b, sum)
		}
		if diff, ok := xsdval.Sub(a, b); !ok || rat(diff).Cmp(new(big.Rat).Sub(x, y)) != 0 {
			t.Fatalf("%v - %v = %v", a, b, diff)
		}
		if c, ok := xsdval.Compare(a, b); !ok || c != x.Cmp(y) {
			t.Fatalf("%v against %v: %d", a, b, c)
		}
	})
}
