package ui

import "strings"

// purpose returns what a page says of itself to search engines (meta description), by the name of its template. Pages
// that know more about their subject set view.About.
func purpose(template, title string) string {
	about := map[string]string{
		"home": "An archive of open data: files that data portals link to, fetched regularly, every version kept, described in " +
			"RDF, and free to search, query and download.",
		"search": "Find archived files of open-data portals by title, address, column, type, portal, licence, size and time of " +
			"change, and download what was found as one zip.",
		"portals": "The open-data portals whose files this archive keeps: how many datasets and files each lists, how many versions " +
			"were archived, and how many files can no longer be fetched.",
		"portal": "What the portal %s lists: its datasets and files, what changed last, what cannot be fetched, and how well its " +
			"data is described.",
		"version":    "%s: an archived version of a file of open data, with its contents, columns, checksums and origin.",
		"table":      "%s: rows of an archived table, to filter, sort, link to and download as CSV, JSON, Parquet or Arrow.",
		"diff":       "What changed in %s: rows, columns, triples or lines that were added, removed or changed.",
		"rowhistory": "%s: every value it has had over all archived versions of its table.",
		"crawls": "What the archive fetches, when and why: the latest fetches with their outcomes, harvests, orders, errors, and the " +
			"state of every host.",
		"campaigns": "Campaigns of this archive: linked data that is followed, data files that are looked for on web sites, and APIs " +
			"that are read.",
		"campaign": "%s: what it has fetched, what it waits for, and what it found.",
		"hosts":    "How this archive treats single hosts: delays between requests, pauses, and what is never fetched.",
		"statistics": "Figures about open data, computed from this archive's own triples: file types, sizes, growth, broken links, " +
			"changes and columns, each with its query.",
		"operation": "How this archive does at the moment: what is due, which hosts are waited for and why, errors, damage, disk, and " +
			"what the crawl may fetch.",
		"fixity": "Which stored bytes of this archive were verified, when, and what was found.",
		"console": "Ask the archive in SPARQL: an editor with completion and examples, answers as tables, charts and maps, and the " +
			"files of an answer as one zip.",
		"apidoc":     "The HTTP interface of this archive: every operation with its parameters, and with commands and programs to copy.",
		"docs":       "%s: from the documentation of ODArchive.",
		"describe":   "All statements of this archive about %s, and what links to it.",
		"document":   "%s: statements about this archive, for people, and for programs as Turtle, JSON-LD and RDF/XML.",
		"vocabulary": "The terms in which this archive describes files, versions, fetches, tables and columns.",
		"proof":      "%s: evidence that this archive had exactly these bytes at that time, which can be verified without trusting it.",
		"basket":     "The files that were put into the basket, to download as one zip.",
		"signin":     "Sign in with a token of this archive.",
		"results":    "The answer to a query of this archive.",
	}[template]
	return strings.Replace(about, "%s", title, 1)
}
