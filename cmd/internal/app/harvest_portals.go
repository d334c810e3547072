package app

import (
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/datacite"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/dataverse"
	"odarchive/crawler/harvest/invenio"
	"odarchive/crawler/harvest/magda"
	"odarchive/crawler/harvest/opendatasoft"
	"odarchive/crawler/harvest/socrata"
	"odarchive/crawler/harvest/udata"
)

// portals are the kinds of sources that are one portal with an interface of its own.
func portals() []harvester {
	return []harvester{
		{"ckan", func(_ *Node, s HarvestSource) harvest.Harvester {
			return ckan.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"datajson", func(_ *Node, s HarvestSource) harvest.Harvester {
			return datajson.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"socrata", func(_ *Node, s HarvestSource) harvest.Harvester {
			return socrata.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"opendatasoft", func(_ *Node, s HarvestSource) harvest.Harvester {
			return opendatasoft.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"udata", func(_ *Node, s HarvestSource) harvest.Harvester {
			return udata.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"magda", func(_ *Node, s HarvestSource) harvest.Harvester {
			return magda.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"invenio", func(_ *Node, s HarvestSource) harvest.Harvester {
			return invenio.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"zenodo", func(_ *Node, s HarvestSource) harvest.Harvester {
			return invenio.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"datacite", func(_ *Node, s HarvestSource) harvest.Harvester {
			return datacite.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
		{"dataverse", func(_ *Node, s HarvestSource) harvest.Harvester {
			return dataverse.Source{URL: s.Address, Portal: s.Portal, HTTP: s.HTTP}
		}},
	}
}
