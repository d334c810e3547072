package harvest

import (
	"cmp"
	"strings"
	"time"

	"odarchive/crawler/catalog"
)

// List adds a distribution. One without an address is only counted.
func (d *Dataset) List(dist Distribution) {
	switch {
	case dist.URL != "":
		d.Distributions = append(d.Distributions, dist)
	case !dist.Service:
		d.Unaddressed++
	}
}

// Seeds returns the URLs of the distributions that can be fetched, as listings of p.
func (d Dataset) Seeds(p Portal) []catalog.Seed {
	var seeds []catalog.Seed
	period := PeriodOf(d.Frequency)
	for _, dist := range d.Distributions {
		if dist.Service || dist.URL == "" {
			continue
		}
		seeds = append(seeds, catalog.Seed{
			URL: strings.TrimSpace(dist.URL), Portal: p.IRI, PortalTitle: p.Title,
			Dataset: d.IRI, DatasetTitle: FirstText(d.Title), Title: dist.Title,
			Format: dist.Format, MediaType: dist.MediaType, Period: period, Modified: ParseEnd(cmp.Or(dist.Modified, d.Modified)),
		})
	}
	return seeds
}

// withScheme returns an address with the scheme that people leave out where its host shows that it is one.
func withScheme(address string) string {
	if trimmed := strings.TrimSpace(address); len(trimmed) > 4 && strings.EqualFold(trimmed[:4], "www.") {
		return "http://" + trimmed
	}
	return address
}

// FirstText returns the first text without its language, "" if there is none.
func FirstText(texts []Text) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0].Value
}

// ParseEnd parses a time as ParseTime does. Of a date without a time, it returns the end. It returns the zero time for
// a text that is neither.
func ParseEnd(text string) time.Time {
	t, ok := ParseTime(text)
	if !ok {
		return time.Time{}
	}
	if len(strings.TrimSpace(text)) <= len(time.DateOnly) {
		t = t.Add(24*time.Hour - time.Second)
	}
	return t
}
