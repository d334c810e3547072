package expr

import (
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

const dayMillis = 86_400_000

// localMillis returns the milliseconds of a dateTime or date since the year 1, in its own zone. ok is false for other
// ids, and before the year 1.
func localMillis(id term.ID) (ms int64, ok bool) {
	p := id.Payload()
	switch id.Tag() {
	case term.TagDateTime:
		ms = int64(p >> dateTimeShift)
	case term.TagDate:
		ms = int64(p>>dateShift) * 60_000
	default:
		return 0, false
	}
	if zone := int64(p & zoneMask); zone > 1 {
		ms += (zone - zoneBias) * 60_000
	}
	return ms, ms >= 0
}

const (
	partYear = iota
	partMonth
	partDay
)

// datePart is YEAR, MONTH or DAY.
func datePart(id term.ID, part int) term.ID {
	if id == 0 {
		return 0
	}
	ms, ok := localMillis(id)
	if !ok {
		return Unsure
	}
	y, m, d := xsdval.Civil(ms / dayMillis)
	switch part {
	case partYear:
		return integerOf(y)
	case partMonth:
		return integerOf(int64(m))
	}
	return integerOf(int64(d))
}

// clockPart is HOURS or MINUTES: the number of units of so many milliseconds, up to a larger unit.
func clockPart(id term.ID, unit, most int64) term.ID {
	if id == 0 {
		return 0
	}
	ms, ok := localMillis(id)
	if !ok || id.Tag() != term.TagDateTime {
		return Unsure
	}
	return integerOf(ms / unit % most)
}

// seconds is SECONDS, a decimal.
func seconds(id term.ID) term.ID {
	if id == 0 {
		return 0
	}
	ms, ok := localMillis(id)
	if !ok || id.Tag() != term.TagDateTime {
		return Unsure
	}
	return decimalOf(ms % 60_000 * 1000)
}
