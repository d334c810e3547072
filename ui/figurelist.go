package ui

import (
	"cmp"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/term"
)

// figure is a statistic: a query, and how its answer is drawn. The first variable is what a line stands for, the second
// its value; a third one is the name of the first.
type figure struct {
	ID, Title, About string
	Part             string // heading above it, if the figure before has another one
	Kind             string // "bars", "columns", "quantiles"
	Size             bool   // the values are bytes
	Mean             bool   // the values are not whole
	Growing          bool   // each value is added to those before
	Query            string
	// Files says where a line leads: "type", "host", "outcome" and "publisher" to a search, "dead portal" and "dead
	// publisher" to a search for those of its files that cannot be fetched, "page" to the page of the IRI; otherwise it
	// is a query in the console, in which %s is the term that the line stands for. "" is nowhere.
	Files string
}

// title is the part of a query that finds the name of a portal.
const title = "\n  OPTIONAL { SELECT ?portal (SAMPLE(?title) AS ?name) WHERE { ?portal a dcat:Catalog ; dct:title ?title } GROUP BY " +
	"?portal }\n"

// Parts of queries about files: dead selects those whose last fetch kept nothing, changed counts the versions of each,
// and published finds the publishers that portals name. Some portals describe a file by its address, others in a node
// of its own.
const (
	dead = "\n  { SELECT ?file (MAX(?ended) AS ?last) WHERE { ?any prov:used ?file ; prov:endedAtTime ?ended } GROUP BY ?file }\n  " +
		"?fetch prov:used ?file ; prov:endedAtTime ?last ; arc:outcome \"no-version\" .\n"
	changed   = "\n  { SELECT ?file (COUNT(?version) AS ?versions) WHERE { ?file dct:hasVersion ?version } GROUP BY ?file }\n"
	published = "GRAPH ?graph { ?dataset dct:publisher/<http://xmlns.com/foaf/0.1/name> ?publisher ; " +
		"dcat:distribution/(dcat:downloadURL|dcat:accessURL)? ?file }\n  FILTER (!STRENDS(STR(?graph), \"#withdrawn\"))"
)

// stillListed is the part of a query that leaves out files that no portal lists any more.
func stillListed(file string) string { return "FILTER NOT EXISTS { " + file + " arc:delisted ?since }" }

// figureList has the tables and figures of the ODArchive paper and of Portal Watch, each computed from this archive's
// own triples.
func figureList() []figure {
	return []figure{
		{Part: "What is kept", ID: "growth", Title: "Growth", About: "Bytes of all versions at the end of each month.", Kind: "columns",
			Size: true, Growing: true,
			Query: "SELECT ?month (SUM(?size) AS ?bytes) WHERE {\n  ?version dct:issued ?issued ; dcat:byteSize ?size .\n  BIND " +
				"(SUBSTR(STR(?issued), 1, 7) AS ?month)\n}\nGROUP BY ?month\nORDER BY ?month\nLIMIT 400"},
		{ID: "types", Title: "File types", About: "Versions by detected media type.", Kind: "bars", Files: "type",
			Query: "SELECT ?type (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type " +
				".\n}\nGROUP BY ?type\nORDER BY DESC(?versions)\nLIMIT 15"},
		{ID: "bytes", Title: "Bytes by type", About: "Total size of the versions of each type.", Kind: "bars", Size: true, Files: "type",
			Query: "SELECT ?type (SUM(?size) AS ?bytes) WHERE {\n  ?version dct:isVersionOf ?resource ; dcat:mediaType ?type ; " +
				"dcat:byteSize ?size .\n}\nGROUP BY ?type\nORDER BY DESC(?bytes)\nLIMIT 15"},
		{ID: "sizes", Title: "Sizes by quantile",
			About: "From the smallest version to the largest; half of all versions are smaller than the middle.", Kind: "quantiles",
			Size:  true,
			Query: "SELECT ?size WHERE {\n  ?version dcat:byteSize ?size .\n}\nLIMIT 200000"},
		{Part: "Where it comes from", ID: "portals", Title: "Files by portal",
			About: "Files by the portals that list them, without those that no portal lists any more.", Kind: "bars", Files: "page",
			Query: "SELECT ?portal ?resources ?name WHERE {\n  { SELECT ?portal (COUNT(DISTINCT ?resource) AS ?resources) WHERE { " +
				"?resource a dcat:Distribution ; arc:hasPortal ?portal . " + stillListed("?resource") + " } GROUP BY ?portal }" + title +
				"}\nORDER BY DESC(?resources)\nLIMIT 15"},
		{ID: "portalbytes", Title: "Bytes by portal",
			About: "Total size of the versions of the files that each portal lists, or listed before.", Kind: "bars", Size: true,
			Files: "page",
			Query: "SELECT ?portal ?bytes ?name WHERE {\n  { SELECT ?portal (SUM(?size) AS ?bytes) WHERE { ?resource arc:hasPortal " +
				"?portal ; dct:hasVersion ?version . ?version dcat:byteSize ?size } GROUP BY ?portal }" + title +
				"}\nORDER BY DESC(?bytes)\nLIMIT 15"},
		{ID: "hosts", Title: "Files by host", About: "The servers that the files come from.", Kind: "bars", Files: "host",
			Query: "SELECT ?host (COUNT(?resource) AS ?resources) WHERE {\n  ?resource arc:host ?host .\n}\nGROUP BY ?host\nORDER BY " +
				"DESC(?resources)\nLIMIT 15"},
		{Part: "What is broken", ID: "outcomes", Title: "Outcomes of fetches",
			About: "Outcomes of all fetches; a line leads to the files whose last fetch ended so.", Kind: "bars", Files: "outcome",
			Query: "SELECT ?outcome (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE {\n  ?fetch arc:outcome ?outcome .\n  OPTIONAL { " +
				"?fetch arc:visits ?visits }\n}\nGROUP BY ?outcome\nORDER BY DESC(?fetches)"},
		{ID: "errors", Title: "Why there was no version", About: "Error classes of fetches that kept nothing.", Kind: "bars",
			Files: "SELECT DISTINCT ?file WHERE {\n  ?fetch arc:errorClass %s ; prov:used ?file .\n}\nLIMIT 1000",
			Query: "SELECT ?class (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE {\n  ?fetch arc:errorClass ?class .\n  OPTIONAL { ?fetch " +
				"arc:visits ?visits }\n}\nGROUP BY ?class\nORDER BY DESC(?fetches)\nLIMIT 15"},
		{ID: "statuses", Title: "Status of dead links", About: "HTTP status of the fetches that kept nothing.", Kind: "bars",
			Files: "SELECT DISTINCT ?file WHERE {\n  ?fetch arc:outcome \"no-version\" ; arc:httpStatus %s ; prov:used ?file .\n}\nLIMIT " +
				"1000",
			Query: "SELECT ?status (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE {\n  ?fetch arc:outcome \"no-version\" ; arc:httpStatus " +
				"?status .\n  OPTIONAL { ?fetch arc:visits ?visits }\n}\nGROUP BY ?status\nORDER BY DESC(?fetches)\nLIMIT 15"},
		{ID: "never", Title: "Files never had, by portal",
			About: "Files that a portal lists, and of which no fetch ever brought a version; without those that no portal lists any more.",
			Kind:  "bars",
			Files: "SELECT ?file WHERE {\n  ?file arc:hasPortal %s ; arc:host ?host .\n  FILTER NOT EXISTS { ?file dct:hasVersion " +
				"?version }\n  " + stillListed("?file") + "\n}\nLIMIT 1000",
			Query: "SELECT ?portal ?files ?name WHERE {\n  { SELECT ?portal (COUNT(DISTINCT ?file) AS ?files) WHERE { ?file " +
				"arc:hasPortal ?portal ; arc:host ?host . FILTER NOT EXISTS { ?file dct:hasVersion ?version } " + stillListed("?file") +
				" } GROUP BY ?portal }" + title + "}\nORDER BY DESC(?files)\nLIMIT 15"},
		{ID: "failing", Title: "Failed fetches by portal",
			About: "Fetches that kept nothing, of the files that each portal lists, or listed before.", Kind: "bars", Files: "page",
			Query: "SELECT ?portal ?fetches ?name WHERE {\n  { SELECT ?portal (SUM(COALESCE(?visits, 1)) AS ?fetches) WHERE { ?fetch " +
				"arc:outcome \"no-version\" ; prov:used ?file . ?file arc:hasPortal ?portal . OPTIONAL { ?fetch arc:visits ?visits } } " +
				"GROUP BY ?portal }" + title + "}\nORDER BY DESC(?fetches)\nLIMIT 15"},
		{ID: "deadportals", Title: "Dead links by portal",
			About: "Files whose last fetch kept nothing, by the portals that list them, or listed them before.", Kind: "bars",
			Files: "dead portal",
			Query: "SELECT ?portal ?files ?name WHERE {\n  { SELECT ?portal (COUNT(DISTINCT ?file) AS ?files) WHERE {" + dead +
				"  ?file arc:hasPortal ?portal } GROUP BY ?portal }" + title + "}\nORDER BY DESC(?files)\nLIMIT 15"},
		{ID: "deadpublishers", Title: "Dead links by publisher",
			About: "Files whose last fetch kept nothing, by the publishers that portals name.", Kind: "bars", Files: "dead publisher",
			Query: "SELECT ?publisher (COUNT(DISTINCT ?file) AS ?files) WHERE {" + dead + "  " + published +
				"\n}\nGROUP BY ?publisher\nORDER BY DESC(?files)\nLIMIT 15"},
		{Part: "How it changes", ID: "days", Title: "Versions by day", About: "New versions archived on each day.", Kind: "columns",
			Query: "SELECT ?day (COUNT(?version) AS ?versions) WHERE {\n  ?version dct:issued ?issued .\n  BIND (SUBSTR(STR(?issued), 1, " +
				"10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
		{ID: "changes", Title: "Changes by day", About: "Versions that differ from the one before, on each day.", Kind: "columns",
			Query: "SELECT ?day (COUNT(?version) AS ?changes) WHERE {\n  ?version prov:wasRevisionOf ?before ; dct:issued ?issued .\n  " +
				"BIND (SUBSTR(STR(?issued), 1, 10) AS ?day)\n}\nGROUP BY ?day\nORDER BY ?day\nLIMIT 400"},
		{ID: "versions", Title: "Versions per file", About: "How many files have one version, two, three and so on.", Kind: "columns",
			Files: "SELECT ?file (COUNT(?version) AS ?versions) WHERE {\n  ?file dct:hasVersion ?version\n}\nGROUP BY ?file\nHAVING " +
				"(COUNT(?version) = %s)\nLIMIT 1000",
			Query: "SELECT ?versions (COUNT(?resource) AS ?resources) WHERE {\n  { SELECT ?resource (COUNT(?version) AS ?versions) WHERE " +
				"{ ?resource dct:hasVersion ?version } GROUP BY ?resource }\n}\nGROUP BY ?versions\nORDER BY ?versions\nLIMIT 100"},
		{ID: "rates", Title: "Changes per file, by type", About: "How often a file of each type has changed so far, on average.",
			Kind: "bars", Mean: true, Files: "type",
			Query: "SELECT ?type (AVG(?versions - 1) AS ?changes) WHERE {\n  { SELECT ?file (COUNT(?version) AS ?versions) WHERE { ?file " +
				"dct:hasVersion ?version } GROUP BY ?file }\n  ?file dcat:mediaType ?type .\n}\nGROUP BY ?type\nORDER BY " +
				"DESC(?changes)\nLIMIT 15"},
		{ID: "portalrates", Title: "Changes per file, by portal",
			About: "How often a file that a portal lists, or listed before, has changed so far, on average.", Kind: "bars", Mean: true,
			Files: "page",
			Query: "SELECT ?portal ?changes ?name WHERE {\n  { SELECT ?portal (AVG(?versions - 1) AS ?changes) WHERE {" + changed +
				"  ?file arc:hasPortal ?portal } GROUP BY ?portal }" + title + "}\nORDER BY DESC(?changes)\nLIMIT 15"},
		{ID: "publisherrates", Title: "Changes per file, by publisher",
			About: "How often a file of a publisher has changed so far, on average.", Kind: "bars", Mean: true, Files: "publisher",
			Query: "SELECT ?publisher (AVG(?versions - 1) AS ?changes) WHERE {" + changed +
				"  { SELECT DISTINCT ?publisher ?file WHERE { " + published +
				" } }\n}\nGROUP BY ?publisher\nORDER BY DESC(?changes)\nLIMIT 15"},
		{Part: "What is in the tables", ID: "rows", Title: "Rows of tables by quantile", About: "From the shortest table to the longest.",
			Kind:  "quantiles",
			Query: "SELECT ?rows WHERE {\n  ?table arc:rows ?rows .\n}\nLIMIT 200000"},
		{ID: "columns", Title: "Columns of tables", About: "How many tables have one column, two, three and so on.", Kind: "columns",
			Files: "SELECT ?version WHERE {\n  ?table arc:columns %s ; csvw:url ?version .\n}\nLIMIT 1000",
			Query: "SELECT ?columns (COUNT(?table) AS ?tables) WHERE {\n  ?table arc:columns ?columns .\n}\nGROUP BY ?columns\nORDER BY " +
				"?columns\nLIMIT 60"},
		dialect("headers", "Header rows", "Whether CSV versions name their columns.", "csvw:header"),
		dialect("delimiters", "Delimiters", "How the columns of CSV versions are separated.", "csvw:delimiter"),
		dialect("encodings", "Encodings", "Character encodings detected in CSV versions.", "csvw:encoding"),
		dialect("quotes", "Quotation marks", "What encloses cells of CSV versions.", "csvw:quoteChar"),
		dialect("lines", "Ends of lines", "What ends the rows of CSV versions.", "csvw:lineTerminators"),
		{ID: "datatypes", Title: "Datatypes of columns", About: "Datatypes that were detected in columns.", Kind: "bars",
			Files: "SELECT ?version ?column ?name WHERE {\n  ?column csvw:datatype %s ; csvw:name ?name .\n  ?schema csvw:column ?column " +
				".\n  ?table csvw:tableSchema ?schema ; csvw:url ?version .\n}\nLIMIT 1000",
			Query: "SELECT ?datatype (COUNT(?column) AS ?columns) WHERE {\n  ?column csvw:datatype ?datatype .\n}\nGROUP BY " +
				"?datatype\nORDER BY DESC(?columns)\nLIMIT 15"},
	}
}

// dialect is a figure about a property of the dialects of CSV versions.
func dialect(id, title, about, property string) figure {
	where := "  ?table csvw:dialect ?dialect ; csvw:url ?version .\n  ?dialect " + property + " "
	return figure{ID: id, Title: title, About: about, Kind: "bars", Files: "SELECT ?version WHERE {\n" + where + "%s .\n}\nLIMIT 1000",
		Query: "SELECT ?" + id + " (COUNT(?table) AS ?tables) WHERE {\n" + where + "?" + id + " .\n}\nGROUP BY ?" + id +
			"\nORDER BY DESC(?tables)\nLIMIT 15"}
}

// label returns how a line is named to people.
func (f figure) label(row []term.Key) string {
	if len(row) > 2 && row[2] != "" {
		return line(row[2].Value())
	}
	k := row[0]
	switch v := k.Value(); {
	case f.Files == "type":
		return shortType(v)
	case f.ID == "headers":
		return cmp.Or(map[string]string{"true": "named", "false": "no names"}[v], v)
	case k.Kind() == term.KindIRI:
		short := curie(v, "")
		return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(short, "xsd:"), "arc:"), short)
	case f.ID == "outcomes":
		return outcomeWord(catalog.Outcome(v))
	default:
		return cmp.Or(map[string]string{"\t": "tab", " ": "space", ",": "comma", ";": "semicolon", "|": "bar", ":": "colon",
			`"`: "double quotes", "'": "single quotes", "\n": "LF", "\r\n": "CR LF", "\r": "CR"}[v], v, "(none)")
	}
}

// href returns the address of the files behind a line, "" if there is none.
func (f figure) href(k term.Key) string {
	switch f.Files {
	case "":
		return ""
	case "type", "host", "outcome", "publisher":
		return with(nil, f.Files, k.Value())
	case "dead portal", "dead publisher":
		return with(url.Values{"outcome": {string(catalog.NoVersion)}}, strings.TrimPrefix(f.Files, "dead "), k.Value())
	case "page":
		return pagePath(k.Value())
	}
	text := ""
	switch k.Kind() {
	case term.KindIRI:
		text = "<" + iriText(k.Value()) + ">"
	case term.KindLiteral:
		text = literal(k.Value())
		if dt := k.Datatype(); dt != "" && dt != term.XSDString && k.Lang() == "" {
			text += "^^<" + iriText(dt) + ">"
		}
	default:
		return ""
	}
	return consolePath(withPrefixes(strings.Replace(f.Files, "%s", text, 1)))
}
