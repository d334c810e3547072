package catalog

// Names of what a server is asked for: Seed.Accept.
const (
	AcceptRDF = "rdf" // RDF in any syntax, else a page, else anything
	AcceptCSV = "csv" // a table, else anything
)

// AcceptField returns the value of the Accept field of a request for a name of Seed.Accept. Other names are that value.
func AcceptField(name string) string {
	switch name {
	case "":
		return "*/*"
	case AcceptRDF:
		return "text/turtle, application/n-triples, application/rdf+xml, application/ld+json, application/n-quads, application/trig, " +
			"text/n3;q=0.9, " +
			"application/trix;q=0.8, application/rdf+json;q=0.8, application/xhtml+xml;q=0.3, text/html;q=0.3, */*;q=0.1"
	case AcceptCSV:
		return "text/csv, text/tab-separated-values;q=0.9, */*;q=0.1"
	}
	return name
}
