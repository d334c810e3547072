package crawl

import (
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/csw"
	"odarchive/crawler/harvest/datacite"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/dataverse"
	"odarchive/crawler/harvest/dcat"
	"odarchive/crawler/harvest/invenio"
	"odarchive/crawler/harvest/ldes"
	"odarchive/crawler/harvest/magda"
	"odarchive/crawler/harvest/oai"
	"odarchive/crawler/harvest/opendatasoft"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portalwatch"
	"odarchive/crawler/harvest/schemaorg"
	"odarchive/crawler/harvest/sitemap"
	"odarchive/crawler/harvest/socrata"
	"odarchive/crawler/harvest/sparql"
	"odarchive/crawler/harvest/udata"
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
		{"socrata", portal(socrata.New)},
		{"opendatasoft", portal(opendatasoft.New)},
		{"udata", portal(udata.New)},
		{"magda", portal(magda.New)},
		{"invenio", portal(invenio.New)},
		{"zenodo", portal(invenio.New)},
		{"datacite", portal(datacite.New)},
		{"dataverse", portal(dataverse.New)},
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
