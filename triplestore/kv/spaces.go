package kv

import "fmt"

// Space is a keyspace: the first byte of every key inside Badger. A number is never used again for something else.
type Space byte

// All spaces of a data directory, each with the package that owns it. ('!' = 0x21 begins Badger's own keys.)
const (
	SpaceMeta        Space = 0x01 // kv's users: format versions and settings of a directory, key = owner "/" name
	SpaceTripleMeta  Space = 0x10 // triplestore: format version, counters, roots
	SpaceTripleIndex Space = 0x11 // triplestore/index: blocks of quads
	SpaceDict        Space = 0x12 // triplestore/dict: blocks of terms
	SpaceTripleLog   Space = 0x13 // triplestore: commits that are not yet merged into blocks
	SpaceTripleStats Space = 0x14 // triplestore: statistics
	SpaceChanges     Space = 0x15 // triplestore: the change log
	SpaceContent     Space = 0x20 // crawler/archive/content
	SpaceContentRefs Space = 0x22 // crawler/archive/content: references and maps
	SpaceFrontier    Space = 0x30 // crawler/frontier: where the records of URLs are
	SpaceQueue       Space = 0x31 // crawler/frontier: what is due, per host
	SpaceHosts       Space = 0x32 // crawler/frontier: host groups and leases
	SpaceDue         Space = 0x33 // crawler/frontier: records of URLs, by when they are due
	SpaceArchive     Space = 0x40 // crawler/archive: versions
	SpaceArchiveIdx  Space = 0x41 // crawler/archive: stored records
	SpaceSearch      Space = 0x42 // crawler/archive, crawler/archive/wordindex: the search index
	SpaceJoins       Space = 0x43 // crawler/archive/joins: columns that share values
	SpacePoliteness  Space = 0x50 // crawler/web/politeness: robots rules and host delays
	SpaceHarvest     Space = 0x60 // crawler/harvest: resume tokens
	spaceApplied     Space = 0x7d // kv: one key, written by every write set; see cache.go
	spaceScratch     Space = 0x7e // kv: always empty
	SpaceTest        Space = 0x7f // tests of kv
)

var spaceNames = map[Space]string{
	SpaceMeta: "meta", SpaceTripleMeta: "triplemeta", SpaceTripleIndex: "index", SpaceDict: "dict", SpaceTripleLog: "triplelog",
	SpaceTripleStats: "triplestats", SpaceChanges: "changes", SpaceContent: "content", SpaceContentRefs: "contentrefs",
	SpaceFrontier: "frontier", SpaceQueue: "queue", SpaceHosts: "hosts", SpaceDue: "due", SpaceArchive: "archive", SpaceArchiveIdx: "archiveidx", SpaceSearch: "search", SpaceJoins: "joins",
	SpacePoliteness: "politeness", SpaceHarvest: "harvest", SpaceTest: "test",
}

func (s Space) String() string {
	if n, ok := spaceNames[s]; ok {
		return n
	}
	return fmt.Sprintf("space %#02x", byte(s))
}
