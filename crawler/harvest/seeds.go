package harvest

import (
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/xsdval"
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
			Format: dist.Format, MediaType: dist.MediaType, Size: dist.Size, Period: period, Modified: modified(dist.Modified, d.Modified),
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

// modified returns the first declared date that is valid, or the zero time.
func modified(declared ...string) time.Time {
	for _, s := range declared {
		k := date(s)
		if kind := xsdval.KindOf(k.Datatype()); kind == xsdval.DateTime || kind == xsdval.Date {
			if v, ok := xsdval.ParseKind(k.Value(), kind); ok {
				return time.UnixMilli(v.UnixMilli()).UTC()
			}
		}
	}
	return time.Time{}
}
