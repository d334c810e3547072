package main

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
)

func literal(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func writeNTriples(w io.Writer, t table, d dataset) error {
	for i, row := range t.Rows {
		for k, c := range t.Columns {
			if _, err := fmt.Fprintf(w, "<http://id.example/%s/%d> <http://id.example/def/%s> %s .\n", d.Name, i, c.Name,
				literal(row[k])); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeTurtle(w io.Writer, t table, d dataset) error {
	fmt.Fprint(w, "@prefix def: <http://id.example/def/> .\n")
	for i, row := range t.Rows {
		fmt.Fprintf(w, "<http://id.example/%s/%d> a def:%s", d.Name, i, d.Topic.Theme)
		for k, c := range t.Columns {
			fmt.Fprintf(w, " ;\n  def:%s %s", c.Name, literal(row[k]))
		}
		fmt.Fprintln(w, " .")
	}
	return nil
}

func writeJSONLD(w io.Writer, t table, d dataset) error {
	var nodes []any
	for i, row := range t.Rows {
		o := object(t, row)
		o["@id"] = fmt.Sprintf("http://id.example/%s/%d", d.Name, i)
		nodes = append(nodes, o)
	}
	return json.NewEncoder(w).Encode(map[string]any{"@context": map[string]any{"@vocab": "http://id.example/def/"}, "@graph": nodes})
}

func writeRDFXML(w io.Writer, t table, d dataset) error {
	fmt.Fprint(w,
		"<?xml version=\"1.0\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" "+
			"xmlns:def=\"http://id.example/def/\">\n")
	for i, row := range t.Rows {
		fmt.Fprintf(w, "<rdf:Description rdf:about=\"http://id.example/%s/%d\">", d.Name, i)
		for k, c := range t.Columns {
			fmt.Fprintf(w, "<def:%s>%s</def:%[1]s>", c.Name, html.EscapeString(row[k]))
		}
		fmt.Fprintln(w, "</rdf:Description>")
	}
	_, err := fmt.Fprintln(w, "</rdf:RDF>")
	return err
}

// writeCatalog writes a portal as DCAT-AP, in Turtle.
func (p *portal) writeCatalog(w io.Writer) error {
	lang := "en"
	if p.German {
		lang = "de"
	}
	text := func(s string) string { return literal(s) + "@" + lang }
	fmt.Fprintf(w,
		"@prefix dcat: <http://www.w3.org/ns/dcat#> .\n@prefix dct: <http://purl.org/dc/terms/> .\n@prefix foaf: "+
			"<http://xmlns.com/foaf/0.1/> .\n@prefix vcard: <http://www.w3.org/2006/vcard/ns#> .\n@prefix xsd: "+
			"<http://www.w3.org/2001/XMLSchema#> .\n")
	fmt.Fprintf(w,
		"<%s> a dcat:Catalog ; dct:title %s ; dct:description %s ; foaf:homepage <%[1]s> ; dct:publisher <%[1]s#publisher> "+
			".\n<%[1]s#publisher> a foaf:Organization ; foaf:name %[4]s .\n", p.Home, text(p.Title), text(p.About), text(p.Publisher))
	for _, d := range p.Datasets {
		iri := p.Home + "dataset/" + d.Name
		fmt.Fprintf(w,
			"<%s> dcat:dataset <%s> .\n<%[2]s> a dcat:Dataset ; dct:title %s ; dct:identifier %s ; dct:publisher <%[1]s#publisher> ; "+
				"dcat:landingPage <%[2]s.html> ;\n", p.Home, iri, text(d.Title), literal(d.Name))
		if d.About != "" {
			fmt.Fprintf(w, "  dct:description %s ;\n", text(d.About))
		}
		for _, k := range d.Keywords {
			fmt.Fprintf(w, "  dcat:keyword %s ;\n", text(k))
		}
		if d.Contact != "" {
			fmt.Fprintf(w, "  dcat:contactPoint [ a vcard:Organization ; vcard:fn %s ; vcard:hasEmail <mailto:%s> ] ;\n",
				literal(d.Contact), d.ContactMail)
		}
		if d.Frequency != "" {
			fmt.Fprintf(w, "  dct:accrualPeriodicity <http://publications.europa.eu/resource/authority/frequency/%s> ;\n", d.Frequency)
		}
		fmt.Fprintf(w,
			"  dct:temporal [ a dct:PeriodOfTime ; dcat:startDate \"%s-01-01\"^^xsd:date ] ;\n  dcat:theme "+
				"<http://publications.europa.eu/resource/authority/data-theme/%s> ; dct:issued \"%s\"^^xsd:date ; dct:modified "+
				"\"%s\"^^xsd:dateTime .\n",
			d.TemporalFrom, d.Topic.Theme, d.Issued.Format(time.DateOnly), d.Modified.Format(time.RFC3339))
		for i, f := range d.Files {
			fmt.Fprintf(w,
				"<%s> dcat:distribution <%[1]s#%d> .\n<%[1]s#%[2]d> a dcat:Distribution ; dct:title %s ; dcat:accessURL <%s> ; "+
					"dcat:downloadURL <%[4]s> ; dct:format %s", iri, i, text(f.Title), f.URL, literal(f.Label))
			if d.Licence != "" {
				fmt.Fprintf(w, " ; dct:license <%s>", d.Licence)
			}
			fmt.Fprintln(w, " .")
		}
	}
	return nil
}
