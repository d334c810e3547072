package kv

import "fmt"

// Space is a keyspace: the first byte of every key inside Badger. A number is never reused for something else.
type Space byte

// The spaces of a data directory, each with the package that owns it. 0x14 and 0x15 were reserved and never written.
// Badger's own keys begin with '!', 0x21.
const (
	SpaceMeta         Space = 0x01 // crawler/archive, crawler/archive/joining, cmd/internal/store: formats and progress of one-off work
	SpaceTripleMeta   Space = 0x10 // triplestore: the root, lists of obsolete keys
	SpaceTripleIndex  Space = 0x11 // triplestore: blocks of quads
	SpaceDict         Space = 0x12 // triplestore: blocks of terms
	SpaceTripleLog    Space = 0x13 // triplestore: the change log
	SpaceText         Space = 0x16 // triplestore/text: words of literals
	SpaceSpatial      Space = 0x17 // triplestore/spatial: boxes of geometries
	SpaceContent      Space = 0x20 // crawler/archive/content: files
	SpaceContentRefs  Space = 0x22 // crawler/archive/content: references and maps
	SpaceFrontier     Space = 0x30 // crawler/queue/frontier: where the records of URLs are
	SpaceQueue        Space = 0x31 // crawler/queue/frontier: what is due, by host
	SpaceHosts        Space = 0x32 // crawler/queue/frontier: host groups and leases
	SpaceDue          Space = 0x33 // crawler/queue/frontier: records of URLs, by when they are due
	SpaceScope        Space = 0x34 // crawler/queue/scope: rules of what may be fetched, and counts of what they refused
	SpaceSeries       Space = 0x35 // crawler/archive/series: what was fetched, over time
	SpaceHints        Space = 0x36 // crawler/queue/hints: sitemaps, and how far their word goes
	SpaceArchive      Space = 0x40 // crawler/archive/records, tallies, joining: the first byte of a key is its table
	SpaceArchiveIdx   Space = 0x41 // crawler/archive: stored records
	SpaceSearch       Space = 0x42 // crawler/archive/search, crawler/archive/search: the search index
	SpaceJoins        Space = 0x43 // crawler/archive/joining, crawler/archive/joins: columns that share values
	SpaceEvents       Space = 0x44 // crawler/archive/events: the log of what changed
	SpaceTransparency Space = 0x45 // crawler/archive/transparency: the Merkle log of versions
	SpacePoliteness   Space = 0x50 // crawler/web/politeness: robots rules and host delays
	SpaceHarvest      Space = 0x60 // crawler/harvest/ledger: portals, their entries and reports
	SpaceCampaigns    Space = 0x61 // crawler/follow/campaign: campaigns, their URLs and tasks
	SpaceGraphs       Space = 0x62 // crawler/follow/graphs: what content graphs hold
	SpaceTimetable    Space = 0x63 // crawler/harvest/timetable: planned harvests
	spaceApplied      Space = 0x7d // kv: one key, written by every write set; see cache.go
	spaceScratch      Space = 0x7e // kv: always empty
	SpaceTest         Space = 0x7f // tests
)

var spaceNames = map[Space]string{
	SpaceMeta: "meta", SpaceTripleMeta: "triplemeta", SpaceTripleIndex: "index", SpaceDict: "dict", SpaceTripleLog: "triplelog",
	SpaceText: "text", SpaceSpatial: "spatial",
	SpaceContent: "content", SpaceContentRefs: "contentrefs", SpaceFrontier: "frontier", SpaceQueue: "queue",
	SpaceHosts: "hosts", SpaceDue: "due", SpaceScope: "scope", SpaceSeries: "series", SpaceHints: "hints", SpaceArchive: "archive",
	SpaceArchiveIdx: "archiveidx", SpaceSearch: "search",
	SpaceJoins: "joins", SpaceEvents: "events", SpaceTransparency: "transparency", SpacePoliteness: "politeness", SpaceHarvest: "harvest",
	SpaceCampaigns: "campaigns", SpaceGraphs: "graphs", SpaceTimetable: "timetable", SpaceTest: "test",
}

// String returns the name of the space.
func (s Space) String() string {
	if n, ok := spaceNames[s]; ok {
		return n
	}
	return fmt.Sprintf("space %#02x", byte(s))
}
