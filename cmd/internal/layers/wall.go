package layers

import "strings"

// The wall. The kit turns bytes into values: parsers, readers, writers, formats, algorithms. The house holds state:
// what it does is durable, and in one transaction with the rest. The kit reaches none of the packages in state, not
// even by way of others, so that each of its packages can be read, tested and used without an archive.

// kit names the packages of the kit, and inHouse what is excepted from its trees.
var kit = []string{
	"vocab",
	"ns",
	"triplestore/bucket/...",
	"triplestore/compression",
	"triplestore/disk/...",
	"triplestore/fields",
	"triplestore/geometry",
	"triplestore/hdt",
	"triplestore/naive",
	"triplestore/rdfio/...",
	"triplestore/sparql/conformance",
	"triplestore/sparql/internal/algebra",
	"triplestore/sparql/internal/expr",
	"triplestore/sparql/internal/oracle",
	"triplestore/sparql/internal/pattern",
	"triplestore/sparql/internal/syntax",
	"triplestore/sparql/results",
	"triplestore/term",
	"triplestore/xsdval",
	"crawler/address",
	"crawler/catalog",
	"crawler/exchange/...",
	"crawler/follow/discover",
	"crawler/follow/links",
	"crawler/follow/relevance",
	"crawler/follow/scrape",
	"crawler/follow/software",
	"crawler/harvest/...",
	"crawler/inspect/...",
	"crawler/queue/schedule",
	"crawler/queue/supervise",
	"crawler/web/names",
	"crawler/web/ranges",
	"crawler/web/spool",
	"crawler/web/webtest",
	"sparqlapi/answer",
	"sparqlapi/conneg",
	"sparqlapi/data/rowfile",
	"sparqlapi/describe/about",
	"sparqlapi/files/cdx",
	"sparqlapi/openapi/...",
	"sparqlapi/operate/access",
	"sparqlapi/problem",
	"sparqlapi/target",
	"ui/plot",
}

var inHouse = []string{
	"crawler/exchange/tape",
	"crawler/harvest/ledger",
	"crawler/harvest/timetable",
	"crawler/harvest/portaltest",
}

// state names the packages by which the house is known.
var state = []string{
	"triplestore",
	"triplestore/kv",
	"triplestore/wal",
	"crawler/archive",
	"crawler/archive/content",
	"crawler/queue/frontier",
}

// support names the packages that only tests use.
var support = []string{
	"crawler/exchange/timestamp/tsatest",
	"crawler/harvest/portaltest",
	"crawler/inspect/tables/source/sourcetest",
	"crawler/web/webtest",
	"sparqlapi/describe/internal/shacl",
	"sparqlapi/openapi/contract",
	"testdata/...",
	"triplestore/bucket/buckettest",
	"triplestore/disk/disktest",
	"triplestore/naive",
	"triplestore/sparql/conformance",
	"triplestore/sparql/internal/oracle",
}

// within reports whether a package is in a list of packages and trees ("x/...").
func within(list []string, pkg string) bool {
	for _, p := range list {
		tree, isTree := strings.CutSuffix(p, "/...")
		if p == pkg || isTree && (pkg == tree || strings.HasPrefix(pkg, tree+"/")) {
			return true
		}
	}
	return false
}

// inKit reports whether a package belongs to the kit.
func inKit(pkg string) bool { return within(kit, pkg) && !within(inHouse, pkg) }

// way returns the shortest way by imports from a package to one for which is returns true, both included; nil if there
// is none.
func way(imports map[string][]string, from string, is func(pkg string) bool) []string {
	came := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if is(at) {
			steps := []string{at}
			for came[at] != "" {
				at = came[at]
				steps = append([]string{at}, steps...)
			}
			return steps
		}
		for _, next := range imports[at] {
			if _, met := came[next]; !met {
				came[next] = at
				queue = append(queue, next)
			}
		}
	}
	return nil
}
