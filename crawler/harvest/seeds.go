package harvest

import (
	"strings"

	"odarchive/crawler/catalog"
)

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
			Format: dist.Format, MediaType: dist.MediaType, Period: period,
		})
	}
	return seeds
}

// FirstText returns the first text without its language, "" if there is none.
func FirstText(texts []Text) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0].Value
}
