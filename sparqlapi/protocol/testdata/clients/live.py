# Asks the endpoint of the first argument through the libraries that the second one names. Prints what they return.
import sys

url, library = sys.argv[1], sys.argv[2]
rows = "SELECT ?s ?o { ?s ?p ?o } ORDER BY ?o"
graph = "CONSTRUCT WHERE { ?s ?p ?o }"
if library == "sparqlwrapper":
    from SPARQLWrapper import JSON, N3, RDFXML, TURTLE, XML, SPARQLWrapper
    for method in ("GET", "POST"):
        for form in (JSON, XML):
            w = SPARQLWrapper(url)
            w.setMethod(method)
            w.setQuery(rows)
            w.setReturnFormat(form)
            got = w.query().convert()
            n = len(got["results"]["bindings"]) if form == JSON else len(got.getElementsByTagName("result"))
            print("rows", n)
        for form in (RDFXML, TURTLE, N3, None):
            w = SPARQLWrapper(url)
            w.setMethod(method)
            w.setQuery(graph)
            if form:
                w.setReturnFormat(form)
            got = w.query().convert()
            if isinstance(got, bytes):
                from rdflib import Graph
                got = Graph().parse(data=got, format="turtle")
            print("triples", len(got))
elif library == "rdflib":
    from rdflib import Graph
    from rdflib.plugins.stores.sparqlstore import SPARQLStore
    for method in ("GET", "POST"):
        for form in ("xml", "json", "csv", "tsv"):
            g = Graph(store=SPARQLStore(url, method=method, returnFormat=form))
            print("rows", len(list(g.query(rows))))
        g = Graph(store=SPARQLStore(url, method=method))
        print("triples", len(list(g.triples((None, None, None)))))
        print("triples", len(g.query(graph).graph))
