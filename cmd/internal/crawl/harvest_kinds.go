package crawl

import (
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/csw"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/dcat"
	"odarchive/crawler/harvest/ldes"
	"odarchive/crawler/harvest/oai"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portals"
	"odarchive/crawler/harvest/portalwatch"
	"odarchive/crawler/harvest/schemaorg"
	"odarchive/crawler/harvest/sitemap"
	"odarchive/crawler/harvest/sparql"
)

type (
	source = HarvestSource
	made   = harvest.Harvester
)

// harvester makes the harvester of one kind.
type harvester struct {
	kind string
	make func(source) made
}

// harvesters returns all kinds: portals with an interface of their own, then protocols that many portals speak.
func harvesters() []harvester {
	portal := func(open func(portalapi.Source) portalapi.Harvester) func(source) made {
		return func(s source) made { return open(portalapi.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}) }
	}
	return []harvester{
		{"ckan", portal(ckan.New)},
		{"datajson", func(s source) made { return datajson.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP} }},
		{"socrata", portal(portals.NewSocrata)},
		{"opendatasoft", portal(portals.NewOpenDataSoft)},
		{"udata", portal(portals.NewUdata)},
		{"magda", portal(portals.NewMagda)},
		{"invenio", portal(portals.NewInvenio)},
		{"zenodo", portal(portals.NewInvenio)},
		{"datacite", portal(portals.NewDataCite)},
		{"dataverse", portal(portals.NewDataverse)},
		{"csw", portal(csw.New)},
		{"dcat", func(s source) made { return dcat.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP} }},
		{"ldes", func(s source) made { return ldes.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP} }},
		{"portalwatch", func(s source) made { return portalwatch.Source{Endpoint: s.Address, Portal: s.Portal, HTTP: s.HTTP} }},
		{"sparql", func(s source) made {
			return sparql.Source{Endpoint: sparql.Endpoint{URL: s.Address, HTTP: s.HTTP}, Portal: s.Portal}
		}},
		{"sitemap", func(s source) made {
			return sitemap.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP, Traffic: &harvest.Traffic{}}
		}},
		{"schemaorg", func(s source) made {
			return schemaorg.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP, Traffic: &harvest.Traffic{}}
		}},
		{"oai", func(s source) made {
			return oai.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP, Stats: &harvest.Traffic{}}
		}},
	}
}
