package oai

import (
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// one returns the dataset of a record with this metadata and about.
func one(t *testing.T, metadata, about string) harvest.Dataset {
	t.Helper()
	h := &run{src: Source{URL: "http://r.example/oai"}, portal: "http://r.example/oai"}
	var found []harvest.Dataset
	_,
		err := parse(
		[]byte(
			`<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xlink="http://www.w3.org/1999/xlink" `+
				`xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><ListRecords><record>`+
				`<header><identifier>oai:r:1</identifier><datestamp>2026-01-01</datestamp></header><metadata>`+metadata+`</metadata>`+about+
				`</record></ListRecords></OAI-PMH>`), func(rec record) error {
			found = append(found, h.dataset("http://r.example/d", rec))
			return nil
		})
	if err != nil || len(found) != 1 {
		t.Fatalf("%d datasets, %v", len(found), err)
	}
	return found[0]
}

func says(d harvest.Dataset, property, value string) bool {
	return slices.ContainsFunc(d.Statements, func(q term.Quad) bool { return q.P.Value() == property && q.O.Value() == value })
}

func TestDublinCoreBecomesDCTerms(t *testing.T) {
	t.Parallel()
	d := one(t, `<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:x="http://purl.org/dc/elements/1.1/">
		<x:title xml:lang="de">Bäume</x:title><x:creator>Stadt Wien</x:creator><x:subject>trees</x:subject><x:description>All of them.</x:description>
		<x:publisher>Magistrat</x:publisher><x:contributor>Gärtner</x:contributor><x:date>2020</x:date><x:type>Dataset</x:type><x:format>text/csv</x:format>
		<x:identifier>http://r.example/page/1</x:identifier><x:identifier>http://r.example/trees.csv</x:identifier><x:source>http://s.example/</x:source><x:language>de</x:language>
		<x:relation>http://r.example/a/trees.pdf</x:relation><x:coverage>Wien</x:coverage><x:rights>free</x:rights><x:rights>https://creativecommons.org/licenses/by/4.0/</x:rights></dc>`, "")
	if d.Title[0] != (harvest.Text{Value: "Bäume", Lang: "de"}) || d.Creators[0].Name != "Stadt Wien" || d.Keywords[0].Value != "trees" ||
		d.Description[0].Value != "All of them." ||
		d.Publisher.Name != "Magistrat" || d.Issued != "2020" || d.Language[0] != "de" || d.Rights != "free" ||
		d.License != "https://creativecommons.org/licenses/by/4.0/" || d.LandingPage != "http://r.example/page/1" {
		t.Errorf("%+v", d)
	}
	for property, value := range map[string]string{vocab.DCTContributor: "Gärtner", vocab.DCTDate: "2020", vocab.DCTType: "Dataset",
		vocab.DCTFormat: "text/csv", vocab.DCTSource: "http://s.example/",
		vocab.DCTRelation: "http://r.example/a/trees.pdf", vocab.DCTNS + "coverage": "Wien", vocab.DCTSubject: "trees"} {
		if !says(d, property, value) {
			t.Errorf("no %s %q", property, value)
		}
	}
	if got := urls(d); got != "http://r.example/trees.csv http://r.example/a/trees.pdf" {
		t.Errorf("files %s", got)
	}
}

func urls(d harvest.Dataset) string {
	var all []string
	for _, s := range d.Seeds(harvest.Portal{}) {
		all = append(all, s.URL)
	}
	return strings.Join(all, " ")
}

func TestLinksToFilesAreFoundInEveryFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, metadata, want, mediaType string }{
		{
			"METS",
			`<mets xmlns="http://www.loc.gov/METS/"><fileSec><fileGrp><file MIMETYPE="text/csv" SIZE="12" ` +
				`CHECKSUM="0cc175b9c0f1b6a831c399e269772661" CHECKSUMTYPE="MD5"><FLocat ` +
				`xlink:href="http://r.example/f/1"/></file></fileGrp></fileSec></mets>`, "http://r.example/f/1", "text/csv"},
		{
			"DIDL",
			`<d:DIDL xmlns:d="urn:mpeg:mpeg21:2002:02-DIDL-NS"><d:Item><d:Component><d:Resource mimeType="application/pdf" ` +
				`ref="http://r.example/f/2"/></d:Component></d:Item></d:DIDL>`, "http://r.example/f/2", "application/pdf"},
		{
			"OpenAIRE",
			`<o:resource xmlns:o="http://namespace.openaire.eu/schema/oaire/"><o:file mimeType="application/zip" ` +
				`objectType="dataset">http://r.example/f/3</o:file></o:resource>`, "http://r.example/f/3", "application/zip"},
		{"Atom with aggregation",
			`<entry xmlns="http://www.w3.org/2005/Atom"><link rel="http://www.openarchives.org/ore/terms/aggregates" ` +
				`href="http://r.example/f/4" type="text/plain" length="3"/><link rel="alternate" href="http://r.example/page"/></entry>`,
			"http://r.example/f/4", "text/plain"},
		{
			"MARCXML",
			`<record xmlns="http://www.loc.gov/MARC21/slim"><datafield tag="856"><subfield ` +
				`code="u">http://r.example/f/5.csv</subfield></datafield></record>`, "http://r.example/f/5.csv", ""},
		{
			"ISO 19139",
			`<gmd:MD_Metadata ` +
				`xmlns:gmd="http://www.isotc211.org/2005/gmd"><gmd:linkage><gmd:URL>http://r.example/f/6.zip</gmd:URL></gmd:linkage></gmd` +
				`:MD_Metadata>`, "http://r.example/f/6.zip", ""},
		{
			"DCAT in RDF",
			`<rdf:RDF xmlns:dcat="http://www.w3.org/ns/dcat#" xmlns:dct="http://purl.org/dc/terms/"><dcat:Dataset ` +
				`rdf:about="http://r.example/ds"><dct:title>T</dct:title><dcat:distribution><dcat:Distribution><dcat:downloadURL ` +
				`rdf:resource="http://r.example/f/7"/><dcat:mediaType>text/csv</dcat:mediaType></dcat:Distribution></dcat:distribution></` +
				`dcat:Dataset></rdf:RDF>`, "http://r.example/f/7", "text/csv"},
		{
			"EDM in RDF",
			`<rdf:RDF xmlns:edm="http://www.europeana.eu/schemas/edm/"><rdf:Description rdf:about="http://r.example/a"><edm:isShownBy ` +
				`rdf:resource="http://r.example/f/8.jpg"/></rdf:Description></rdf:RDF>`, "http://r.example/f/8.jpg", ""},
		{
			"DataCite",
			`<resource xmlns="http://datacite.org/schema/kernel-4"><identifier ` +
				`identifierType="DOI">10.5281/zenodo.1</identifier><titles><title>T</title></titles></resource>`,
			"https://doi.org/10.5281/zenodo.1", ""},
		{"a format with an address",
			`<dc xmlns="http://www.openarchives.org/OAI/2.0/oai_dc/"><format>application/pdf http://r.example/f/9</format></dc>`,
			"http://r.example/f/9", "application/pdf"},
	} {
		d := one(t, c.metadata, "")
		seeds := d.Seeds(harvest.Portal{})
		if len(seeds) != 1 || seeds[0].URL != c.want || seeds[0].MediaType != c.mediaType {
			t.Errorf("%s: %+v, want %s %q", c.about, seeds, c.want, c.mediaType)
		}
	}
}

func TestOtherFormatsAreKeptAsTheyCame(t *testing.T) {
	t.Parallel()
	d := one(t, `<m:mods xmlns:m="http://www.loc.gov/mods/v3"><m:titleInfo><m:title>T &amp; U</m:title></m:titleInfo></m:mods>`, "")
	want := `<m:mods xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:xlink="http://www.w3.org/1999/xlink" ` +
		`xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:m="http://www.loc.gov/mods/v3"><m:titleInfo><m:title>T &amp; ` +
		`U</m:title></m:titleInfo></m:mods>`
	if !says(d, vocab.ArcMetadataRecord, want) || d.Title[0].Value != "T & U" {
		t.Errorf("%+v", d)
	}
	big := one(t, `<mods xmlns="http://www.loc.gov/mods/v3"><title>T</title><note>`+strings.Repeat("x", maxLiteral)+`</note></mods>`, "")
	if slices.ContainsFunc(big.Statements, func(q term.Quad) bool { return q.P.Value() == vocab.ArcMetadataRecord }) ||
		len(big.Title) != 1 {
		t.Error("a record of more than 64 KiB is kept as a literal")
	}
	rdf := one(t,
		`<rdf:RDF xmlns:d="http://purl.org/dc/terms/"><rdf:Description `+
			`rdf:about="http://r.example/a"><d:title>T</d:title></rdf:Description></rdf:RDF>`, "")
	if !says(rdf, vocab.DCTTitle, "T") || !says(rdf, vocab.FOAFPrimaryTopic, "http://r.example/a") {
		t.Errorf("%+v", rdf.Statements)
	}
}

func TestWhereARecordWasHarvestedBeforeIsToldAsItsProvenance(t *testing.T) {
	t.Parallel()
	d := one(t, dc("http://r.example/x.csv"),
		`<about><provenance xmlns="http://www.openarchives.org/OAI/2.0/provenance"><originDescription harvestDate="2026-01-01T00:00:00Z" `+
			`altered="false">`+
			`<baseURL>http://first.example/oai</baseURL><identifier>oai:first:7</identifier><datestamp>2025-01-01</datestamp></originDesc`+
			`ript`+
			`ion></provenance></about>`)
	if !says(d, vocab.PROVWasDerivedFrom, "http://first.example/oai?identifier=oai%3Afirst%3A7&metadataPrefix=oai_dc&verb=GetRecord") ||
		!slices.Contains(d.Identifiers, "oai:first:7") {
		t.Errorf("%+v", d)
	}
}
