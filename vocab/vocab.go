// Package vocab lists the namespaces that the archive uses, with their usual prefixes.
//
// Turtle writers abbreviate IRIs with these prefixes, and the console offers them. Each vocabulary has a file with its
// terms as absolute IRIs, those that the archive reads or writes: DCATDataset is http://www.w3.org/ns/dcat#Dataset. If
// a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package vocab

// Prefixes returns a new map from prefixes to namespaces.
func Prefixes() map[string]string {
	return map[string]string{
		"adms":   ADMSNS,
		"arc":    ArcNS,
		"csvw":   CSVWNS,
		"dcat":   DCATNS,
		"dct":    DCTNS,
		"dqv":    DQVNS,
		"foaf":   FOAFNS,
		"gsp":    GeoNS,
		"hydra":  HydraNS,
		"ldp":    LDPNS,
		"locn":   LOCNNS,
		"owl":    OWLNS,
		"prov":   PROVNS,
		"rdf":    RDFNS,
		"rdfs":   RDFSNS,
		"schema": SchemaNS,
		"sd":     SDNS,
		"skos":   SKOSNS,
		"spdx":   SPDXNS,
		"vcard":  VCardNS,
		"void":   VoIDNS,
		"xsd":    XSDNS,
	}
}

// QueryPrefixes returns a new map with the prefixes that queries and updates of the archive may use without declaring
// them: those of Prefixes, and the other usual names. dc is that of the elements of Dublin Core, as everywhere; the
// queries of the ODArchive paper name terms with it, which the archive reads as such.
func QueryPrefixes() map[string]string {
	all := Prefixes()
	all["dc"], all["dcterms"] = "http://purl.org/dc/elements/1.1/", DCTNS
	return all
}
