// Package layers says which package may import which, as data; its tests hold the code to it.
//
// A package may import what stands on its own floor or below. It also names the one package through which each
// third-party library with a surprise in it is reached.
package layers

import "strings"

// Floors, from the ground up. "x/..." is the subtree of x; the longest match counts. One package a line, so that branches which add
// packages do not meet in a line.
var floors = [][]string{
	0: {
		"vocab/...",
		"ns",
		"testdata/...",
	},
	1: {
		"triplestore/term",
		"triplestore/fields",
		"triplestore/geometry",
		"triplestore/xsdval",
		"triplestore/compression",
		"triplestore/jsontext",
		"triplestore/kv",
		"triplestore/disk/...",
		"triplestore/wal",
		"triplestore/bucket/...",
		"triplestore/internal/...",
		"crawler/catalog",
		"crawler/address",
		"crawler/spelling",
		"crawler/web/spool",
		"crawler/supervise",
		"crawler/licences",
		"crawler/tomltext",
		"crawler/inspect/charset/...",
		"sparqlapi/conneg",
	},
	2: {
		"triplestore/internal/dict",
		"triplestore/internal/index",
		"triplestore/rdfio/...",
		"triplestore/hdt",
		"triplestore/rdfpatch",
		"triplestore/text",
		"triplestore/spatial",
		"triplestore/naive",
		"crawler/archive/content",
		"crawler/archive/timestamp/...",
		"crawler/archive/wordindex",
		"crawler/inspect/diff/...",
		"crawler/inspect/detect/...",
		"crawler/inspect/unpack/...",
		"crawler/inspect/csvprofile/...",
		"crawler/inspect/document/...",
		"crawler/inspect/tables/...",
		"crawler/inspect/extent",
		"crawler/inspect/keys",
		"crawler/inspect/rdfprofile/...",
		"crawler/archive/joins/...",
		"crawler/schedule",
		"crawler/web/politeness",
		"crawler/web/fetch",
		"crawler/web/names",
		"crawler/web/hosts",
		"crawler/web/ranges",
		"crawler/inspect",
		"crawler/inspect/packed",
		"crawler/inspect/apart",
		"crawler/inspect/examine",
		"crawler/web/webtest",
		"crawler/preserve/...",
		"crawler/warc/...",
		"crawler/scrape",
		"crawler/links",
		"crawler/relevance",
		"crawler/scope",
		"crawler/series",
	},
	3: {
		"triplestore",
		"triplestore/sparql/...",
		"crawler/frontier",
		"crawler/archive/describe",
		"crawler/archive/diary",
		"crawler/archive/backup",
		"crawler/archive/vault",
		"crawler/archive/faults",
		"crawler/retention",
		"crawler/archive/records",
		"crawler/archive/transparency",
		"crawler/archive/tallies",
		"crawler/archive/events",
		"crawler/archive/search",
		"crawler/archive/joining",
	},
	4: {
		"crawler/archive",
		"crawler/campaign",
		"crawler/dispatch",
		"crawler/graphs",
		"crawler/harvest/...",
		"crawler/archive/quality",
		"crawler/hints",
		"crawler/hooks",
	},
	5: {
		"crawler",
	},
	6: {
		"sparqlapi/...",
		"ui/...",
	},
	7: {
		"cmd/...",
	},
}

// doors: which package alone may import a library.
var doors = map[string]string{
	"github.com/dgraph-io/badger":         "triplestore/kv",
	"github.com/temoto/robotstxt":         "crawler/web/politeness",
	"github.com/gabriel-vasile/mimetype":  "crawler/inspect/detect",
	"github.com/dlclark/regexp2":          "triplestore/sparql/internal/pattern",
	"github.com/blevesearch/snowballstem": "triplestore/text",
	"github.com/peterstace":               "triplestore/geometry",
	"github.com/andybalholm/cascadia":     "crawler/scrape",
	"go.yaml.in":                          "crawler/scrape",
	"golang.org/x/mod":                    "crawler/archive/transparency",
	"github.com/yuin/goldmark":            "ui/docs",
	"github.com/minio/minio-go":           "triplestore/bucket",
	"github.com/modelcontextprotocol":     "sparqlapi/assist",
	"github.com/nats-io":                  "crawler/dispatch",
}

// floor of a package, -1 where it has none.
func floor(pkg string) int {
	best, at := -1, -1
	for f, patterns := range floors {
		for _, p := range patterns {
			tree, isTree := strings.CutSuffix(p, "/...")
			if (p == pkg || isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/"))) && len(p) > best {
				best, at = len(p), f
			}
		}
	}
	return at
}
