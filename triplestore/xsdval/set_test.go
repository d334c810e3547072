package xsdval_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/xsdval"

	"pgregory.net/rapid"
)

// various are values that are close to each other, or equal after promotion.
var various = strings.Fields(`1^integer 01^byte 1.0^decimal 1^float 1^double 1.5^decimal 1.5^float -1^integer 0^integer -0^double 0^float 0.0^decimal
	16777216^integer 16777217^integer 16777216^float 16777217^double 16777216.5^decimal 9007199254740992^integer 9007199254740993^integer
	9007199254740992^double 123456789012345678901234567890^integer 123456789012345678901234567891^integer 1.2345678901234568e29^double 1.2345678e29^float
	0.1^decimal 0.1^float 0.1^double 0.1000000005^double 0.10000000149011612^double 0.10000000149011612^decimal 0.1000000000000000055511^decimal
	INF^double -INF^float INF^float NaN^double NaN^float 1e400^double 1e39^double 3.4028235e38^float
	true^boolean 1^boolean false^boolean 0^boolean
	2020-01-01T00:00:00^dateTime 2020-01-01T00:00:00Z^dateTime 2020-01-01T01:00:00+01:00^dateTime 2020-01-01T14:00:00Z^dateTime 2020-01-01T14:00:00.001Z^dateTime
	2020-01-02T00:00:00Z^dateTimeStamp 2020-01-02T00:00:00^dateTime 2019-12-31T10:00:00Z^dateTime 2019-12-31T09:59:59Z^dateTime
	2020-01-01^date 2020-01-01Z^date 2020-01-01+14:00^date 2020-01-02^date 2019-12-31-14:00^date 2020^gYear 2020Z^gYear 2021^gYear 2020-01^gYearMonth
	12:00:00^time 12:00:00Z^time 13:00:00+01:00^time 23:30:00-05:00^time 04:30:00Z^time ---01^gDay --01^gMonth --01-01^gMonthDay
	P1Y^duration P12M^yearMonthDuration P12M^duration PT24H^dayTimeDuration P1D^duration PT0S^dayTimeDuration P0M^yearMonthDuration P1YT1S^duration PT0.5S^duration -PT0.5S^dayTimeDuration`)

func TestASetAgreesWithEqual(t *testing.T) {
	t.Parallel()
	var all []xsdval.Value
	for _, s := range various {
		all = append(all, parse(t, s))
	}
	check := func(t interface{ Errorf(string, ...any) }, list []xsdval.Value) {
		s := xsdval.NewSet(list)
		for _, v := range all {
			has, ok := false, true
			for _, x := range list {
				if x.Kind == v.Kind || x.Kind.Numeric() && v.Kind.Numeric() || x.Kind.IsDuration() && v.Kind.IsDuration() {
					eq, known := xsdval.Equal(x, v)
					has, ok = has || eq && known, ok && known
				}
			}
			if gotHas, gotOK := s.Has(v); gotHas != has || gotOK != (ok || has) {
				t.Errorf("%v (%v) in %v: got %v, %v, want %v, %v", v, v.Kind, list, gotHas, gotOK, has, ok || has)
			}
		}
	}
	check(t, nil)
	check(t, all)
	for _, v := range all {
		check(t, []xsdval.Value{v})
	}
	rapid.Check(t, func(t *rapid.T) {
		check(t, rapid.SliceOfN(rapid.SampledFrom(all), 0, 30).Draw(t, "list"))
	})
}
