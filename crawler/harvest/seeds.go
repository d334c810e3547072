package harvest

import (
	"strings"
	"time"

	"odarchive/crawler/catalog"
)

// Seeds are the URLs of the distributions that can be fetched, as p lists them.
func (d Dataset) Seeds(p Portal) []catalog.Seed {
	var seeds []catalog.Seed
	for _, dist := range d.Distributions {
		if dist.Service || dist.URL == "" {
			continue
		}
		seeds = append(seeds, catalog.Seed{
			URL: strings.TrimSpace(dist.URL), Portal: p.IRI, PortalTitle: p.Title,
			Dataset: d.IRI, DatasetTitle: firstText(d.Title), Title: dist.Title,
			Format: dist.Format, MediaType: dist.MediaType, Size: dist.Size, Period: PeriodOf(d.Frequency),
		})
	}
	return seeds
}

func firstText(texts []Text) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0].Value
}

// frequencyPeriod of the words that DCAT-AP, data.json and Dublin Core use.
func frequencyPeriod(string) time.Duration { return 0 }
