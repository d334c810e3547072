// Package layers says which package may import which, as data; its tests hold the code to it.
//
// A package may import what stands on its own floor or below. It also names the one package through which each
// third-party library with a surprise in it is reached.
package layers

import "strings"

// Floors, from the ground up. "x/..." is the subtree of x; the longest match counts. One package a line, so that
// branches which add packages do not meet in a line.
var floors = [][]string{
	0: {
		"vocab",
		"ns",
		"testdata/...",
	},
	1: {
		"triplestore/term",
		"triplestore/fields",
		"triplestore/geometry",
		"triplestore/xsdval",
		"triplestore/compression",
		"triplestore/kv",
		"triplestore/disk/...",
		"triplestore/wal",
		"triplestore/bucket/...",
		"triplestore/internal/...",
		"crawler/catalog",
		"crawler/address",
		"crawler/web/spool",
		"crawler/queue/supervise",
		"crawler/inspect/charset/...",
		"sparqlapi/conneg",
	},
	2: {
		"triplestore/internal/dict",
		"triplestore/internal/index",
		"triplestore/rdfio/...",
		"triplestore/hdt",
		"triplestore/text",
		"triplestore/spatial",
		"triplestore/naive",
		"crawler/archive/content",
		"crawler/archive/joins",
		"crawler/archive/series",
		"crawler/inspect/...",
		"crawler/queue/schedule",
		"crawler/queue/scope",
		"crawler/web/...",
		"crawler/exchange/...",
		"crawler/follow/links",
		"crawler/follow/relevance",
		"crawler/follow/scrape",
	},
	3: {
		"triplestore",
		"triplestore/sparql/...",
		"crawler/archive/...",
		"crawler/copies/backup",
		"crawler/copies/vault",
		"crawler/queue/frontier",
		"crawler/queue/retention",
	},
	4: {
		"crawler/archive",
		"crawler/archive/hooks",
		"crawler/archive/quality",
		"crawler/copies/dispatch",
		"crawler/follow/...",
		"crawler/harvest/...",
		"crawler/queue/hints",
	},
	5: {
		"crawler",
		"crawler/jobs",
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
	"github.com/andybalholm/cascadia":     "crawler/follow/scrape",
	"go.yaml.in":                          "crawler/follow/scrape",
	"golang.org/x/mod":                    "crawler/archive/transparency",
	"github.com/yuin/goldmark":            "ui/docs",
	"github.com/minio/minio-go":           "triplestore/bucket",
	"github.com/modelcontextprotocol":     "sparqlapi/assist",
	"github.com/nats-io":                  "crawler/copies/dispatch",
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
