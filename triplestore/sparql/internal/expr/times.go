package expr

import (
	"fmt"
	"slices"

	"odarchive/triplestore/xsdval"
)

// timeFunctions are those of §17.4.5, and ADJUST (SPARQL 1.2 community practice: fn:adjust-*-to-timezone).
var timeFunctions = map[string]function{
	"YEAR": timePart(func(p xsdval.Parts) Value { return NewInt(p.Year) }, xsdval.DateTime, xsdval.Date, xsdval.GYear, xsdval.GYearMonth),
	"MONTH": timePart(func(p xsdval.Parts) Value { return NewInt(int64(p.Month)) },
		xsdval.DateTime, xsdval.Date, xsdval.GYearMonth, xsdval.GMonth, xsdval.GMonthDay),
	"DAY": timePart(func(p xsdval.Parts) Value { return NewInt(int64(p.Day)) },
		xsdval.DateTime, xsdval.Date, xsdval.GMonthDay, xsdval.GDay),
	"HOURS":   timePart(func(p xsdval.Parts) Value { return NewInt(int64(p.Hour)) }, xsdval.DateTime, xsdval.Time),
	"MINUTES": timePart(func(p xsdval.Parts) Value { return NewInt(int64(p.Minute)) }, xsdval.DateTime, xsdval.Time),
	"SECONDS": timePart(func(p xsdval.Parts) Value { return newXSD(p.Second) }, xsdval.DateTime, xsdval.Time),
	"TZ": fn1(func(v Value) Value {
		if v.kind != XSD || !v.x.Kind.IsTemporal() {
			return errValue
		}
		return newString(zoneText(v.x.Parts()))
	}),
	"TIMEZONE": fn1(func(v Value) Value {
		if v.kind != XSD {
			return errValue
		}
		return xsdOK(v.x.Timezone())
	}),
	"ADJUST": fnN(1, 2, adjust),
}

// timePart returns the function for a part of values of the given kinds.
func timePart(get func(xsdval.Parts) Value, kinds ...xsdval.Kind) function {
	return fn1(func(v Value) Value {
		if v.kind != XSD || !slices.Contains(kinds, v.x.Kind) {
			return errValue
		}
		return get(v.x.Parts())
	})
}

// zoneText returns the time zone as TZ does.
func zoneText(p xsdval.Parts) string {
	switch z := p.Zone; {
	case !p.HasZone:
		return ""
	case z == 0:
		return "Z"
	case z < 0:
		return fmt.Sprintf("-%02d:%02d", -z/60, -z%60)
	default:
		return fmt.Sprintf("+%02d:%02d", z/60, z%60)
	}
}

// adjust implements ADJUST. Without a time zone, or with "", it removes that of the value.
func adjust(a []Value) Value {
	if a[0].kind != XSD {
		return errValue
	}
	var zone xsdval.Value
	if len(a) == 2 {
		switch {
		case a[1].kind == XSD:
			zone = a[1].x
		case a[1].kind == Str && a[1].s == "":
		default:
			return errValue
		}
	}
	return xsdOK(a[0].x.Adjust(zone))
}
