package ui

import (
	"strings"

	"odarchive/ns"
)

// Example is a query on the home page and in the console.
type Example struct {
	Title string
	About string // one sentence
	Query string
}

const prefixes = `PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#>
PREFIX csvw: <http://www.w3.org/ns/csvw#>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX dct: <http://purl.org/dc/terms/>
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
`

// withPrefixes prepends the declarations of the prefixes that a query uses.
func withPrefixes(query string) string {
	var used strings.Builder
	for line := range strings.Lines(prefixes) {
		name := strings.Fields(line)[1]
		if strings.Contains(query, name) {
			used.WriteString(line)
		}
	}
	return used.String() + "\n" + query
}

// Examples returns the default example queries, which work in any archive.
func Examples(m ns.Mint) []Example {
	list := []Example{
		{"The latest versions", "The versions that were archived last, newest first.", `SELECT ?version ?resource ?type ?size ?issued WHERE {
  ?version dct:isVersionOf ?resource ;
           dct:issued ?issued ;
           dcat:mediaType ?type ;
           dcat:byteSize ?size .
}
ORDER BY DESC(?issued)
LIMIT 100`},
		{"Every CSV file of a portal", "All CSV versions with the portals that list them. Narrow the query with a FILTER, and download the files as one zip.", `SELECT ?portal ?resource ?version WHERE {
  ?resource arc:hasPortal ?portal ;
            dct:hasVersion ?version .
  ?version dcat:mediaType "text/csv" .
}
ORDER BY ?portal ?resource
LIMIT 1000`},
		{"Files that change most", "Resources by the number of their versions.", `SELECT ?resource (COUNT(?version) AS ?versions) (MIN(?issued) AS ?first) (MAX(?issued) AS ?last) WHERE {
  ?resource dct:hasVersion ?version .
  ?version dct:issued ?issued .
}
GROUP BY ?resource
ORDER BY DESC(?versions)
LIMIT 50`},
		{"Tables with a column named like …", "Versions with a column whose name matches a pattern.", `SELECT ?version ?name ?datatype WHERE {
  ?table csvw:url ?version ;
         csvw:tableSchema ?schema .
  ?schema csvw:column ?column .
  ?column csvw:name ?name .
  OPTIONAL { ?column csvw:datatype ?datatype }
  FILTER regex(?name, "date|datum", "i")
}
LIMIT 500`},
		{"Columns that may identify people", "Columns with names of people, or how to reach them. It is a guess by the values: look before you publish or withdraw.", `SELECT ?version ?name ?kind WHERE {
  ?column arc:personalData true ;
          csvw:name ?name ;
          rdfs:range ?kind .
  ?schema csvw:column ?column .
  ?table csvw:tableSchema ?schema ;
         csvw:url ?version .
}
LIMIT 500`},
		{"Keys between tables", "Columns whose values are keys of another table of the same file, as in databases, workbooks and feeds of timetables.", `SELECT ?version ?name ?other WHERE {
  ?column arc:references ?key ;
          csvw:name ?name .
  ?key csvw:name ?other .
  ?schema csvw:column ?column .
  ?table csvw:tableSchema ?schema ;
         csvw:url ?version .
}
LIMIT 500`},
		{"Large tables", "CSV versions by their number of rows.", `SELECT ?version ?rows ?columns ?delimiter ?encoding WHERE {
  ?table csvw:url ?version ;
         arc:rows ?rows ;
         arc:columns ?columns ;
         csvw:dialect ?dialect .
  OPTIONAL { ?dialect csvw:delimiter ?delimiter }
  OPTIONAL { ?dialect csvw:encoding ?encoding }
}
ORDER BY DESC(?rows)
LIMIT 100`},
		{"Versions of one month", "Everything archived in a period.", `SELECT ?version ?issued WHERE {
  ?version dct:issued ?issued .
  FILTER (?issued >= "2026-11-01T00:00:00Z"^^xsd:dateTime &&
          ?issued <  "2026-12-01T00:00:00Z"^^xsd:dateTime)
}
ORDER BY ?issued
LIMIT 1000`},
		{"What could not be fetched", "Fetches that kept no version, and why. Those of a file that failed alike, one after another, are one row.", `SELECT ?resource ?since ?until ?fetches ?outcome ?class ?why WHERE {
  ?fetch prov:used ?resource ;
         prov:startedAtTime ?since ;
         prov:endedAtTime ?until ;
         arc:outcome ?outcome .
  OPTIONAL { ?fetch arc:visits ?fetches }
  OPTIONAL { ?fetch arc:errorClass ?class }
  OPTIONAL { ?fetch arc:why ?why }
  FILTER (?outcome != "archive" && ?outcome != "unchanged")
}
ORDER BY DESC(?until)
LIMIT 200`},
		{"File types", "Number and total size of versions, by media type.", `SELECT ?type (COUNT(?version) AS ?versions) (SUM(?size) AS ?bytes) WHERE {
  ?version dct:isVersionOf ?resource ;
           dcat:mediaType ?type ;
           dcat:byteSize ?size .
}
GROUP BY ?type
ORDER BY DESC(?versions)`},
	}
	for i := range list {
		list[i].Query = withPrefixes(list[i].Query)
	}
	return list
}
