package expr

import (
	"fmt"

	"odarchive/triplestore/xsdval"
)

// timeFunctions are those of §17.4.5, and ADJUST (SPARQL 1.2 community practice: fn:adjust-*-to-timezone).
func timeFunctions(name string) (function, bool) {
	part := func(f func(xsdval.Parts) Value, kinds ...xsdval.Kind) (function, bool) {
		return fn1(func(v Value) Value {
			for _, k := range kinds {
				if v.kind == XSD && v.x.Kind == k {
					return f(v.x.Parts())
				}
			}
			return errValue
		}), true
	}
	switch name {
	case "YEAR":
		return part(func(p xsdval.Parts) Value { return NewInt(p.Year) }, xsdval.DateTime, xsdval.Date, xsdval.GYear, xsdval.GYearMonth)
	case "MONTH":
		return part(func(p xsdval.Parts) Value { return NewInt(int64(p.Month)) },
			xsdval.DateTime, xsdval.Date, xsdval.GYearMonth, xsdval.GMonth, xsdval.GMonthDay)
	case "DAY":
		return part(func(p xsdval.Parts) Value { return NewInt(int64(p.Day)) },
			xsdval.DateTime, xsdval.Date, xsdval.GMonthDay, xsdval.GDay)
	case "HOURS":
		return part(func(p xsdval.Parts) Value { return NewInt(int64(p.Hour)) }, xsdval.DateTime, xsdval.Time)
	case "MINUTES":
		return part(func(p xsdval.Parts) Value { return NewInt(int64(p.Minute)) }, xsdval.DateTime, xsdval.Time)
	case "SECONDS":
		return part(func(p xsdval.Parts) Value { return NewXSD(p.Second) }, xsdval.DateTime, xsdval.Time)
	case "TZ":
		return fn1(func(v Value) Value {
			if v.kind != XSD || !v.x.Kind.IsTemporal() {
				return errValue
			}
			return NewString(zoneText(v.x.Parts()))
		}), true
	case "TIMEZONE":
		return fn1(func(v Value) Value {
			if v.kind != XSD {
				return errValue
			}
			d, ok := v.x.Timezone()
			if !ok {
				return errValue
			}
			return NewXSD(d)
		}), true
	case "ADJUST":
		return fnN(1, 2, adjust), true
	}
	return function{}, false
}

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
	r, ok := a[0].x.Adjust(zone)
	if !ok {
		return errValue
	}
	return NewXSD(r)
}
