// Package entries reads files that are lists of entries: calendars, and records of web archives.
package entries

import "odarchive/crawler/inspect/tables/source"

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"text/calendar":        calendar,
		"application/warc":     captures,
		"application/x-ia-arc": captures,
	}
}
