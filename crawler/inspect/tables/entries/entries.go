// Package entries reads files that are lists of entries: calendars, and records of web archives.
package entries

import "odarchive/crawler/inspect/tables/source"

// Reader returns the reader for a media type (lower case, without parameters), nil if it is not one of this package.
func Reader(mediaType string) source.Reader {
	switch mediaType {
	case "text/calendar":
		return calendar
	case "application/warc", "application/x-ia-arc":
		return captures
	}
	return nil
}
