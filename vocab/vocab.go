// Package vocab lists the namespaces that the archive uses, with their usual prefixes.
//
// Turtle writers abbreviate IRIs with these prefixes, and the console offers them. Each vocabulary has a package below
// this one that defines its terms.
package vocab

import (
	"odarchive/vocab/adms"
	"odarchive/vocab/arc"
	"odarchive/vocab/csvw"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/dqv"
	"odarchive/vocab/foaf"
	"odarchive/vocab/geosparql"
	"odarchive/vocab/hydra"
	"odarchive/vocab/ldp"
	"odarchive/vocab/locn"
	"odarchive/vocab/owl"
	"odarchive/vocab/prov"
	"odarchive/vocab/rdf"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/schema"
	"odarchive/vocab/sd"
	"odarchive/vocab/skos"
	"odarchive/vocab/spdx"
	"odarchive/vocab/vcard"
	"odarchive/vocab/void"
	"odarchive/vocab/xsd"
)

// Prefixes returns a new map from prefixes to namespaces.
func Prefixes() map[string]string {
	return map[string]string{
		"adms":   adms.NS,
		"arc":    arc.NS,
		"csvw":   csvw.NS,
		"dcat":   dcat.NS,
		"dct":    dcterms.NS,
		"dqv":    dqv.NS,
		"foaf":   foaf.NS,
		"gsp":    geosparql.NS,
		"hydra":  hydra.NS,
		"ldp":    ldp.NS,
		"locn":   locn.NS,
		"owl":    owl.NS,
		"prov":   prov.NS,
		"rdf":    rdf.NS,
		"rdfs":   rdfs.NS,
		"schema": schema.NS,
		"sd":     sd.NS,
		"skos":   skos.NS,
		"spdx":   spdx.NS,
		"vcard":  vcard.NS,
		"void":   void.NS,
		"xsd":    xsd.NS,
	}
}

// QueryPrefixes returns a new map with the prefixes that queries and updates of the archive may use without declaring
// them: those of Prefixes, and the other usual names. dc is that of the elements of Dublin Core, as everywhere; the
// queries of the ODArchive paper name terms with it, which the archive reads as such.
func QueryPrefixes() map[string]string {
	all := Prefixes()
	all["dc"], all["dcterms"] = "http://purl.org/dc/elements/1.1/", dcterms.NS
	return all
}
