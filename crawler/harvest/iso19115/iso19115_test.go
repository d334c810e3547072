package iso19115

import (
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

func record(t *testing.T, body string) Record {
	t.Helper()
	r := loose.NewXMLReader([]byte(body))
	start, _, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	root, err := r.Element(start)
	if err != nil || !Is(root) {
		t.Fatalf("%v, or no record", err)
	}
	return Read(root, func(id string) string { return "https://m.example/" + id })
}

func text(name, value string) string {
	return "<" + name + "><gco:CharacterString>" + value + "</gco:CharacterString></" + name + ">"
}

func TestARecordOfISO19115Part3(t *testing.T) {
	t.Parallel()
	rec := record(t, `<mdb:MD_Metadata><mdb:metadataIdentifier><mcc:MD_Identifier>`+text("mcc:code", "x-1")+`</mcc:MD_Identifier></mdb:metadataIdentifier>
		<mdb:defaultLocale><lan:PT_Locale id="DE"><lan:language><lan:LanguageCode codeListValue="ger"/></lan:language></lan:PT_Locale></mdb:defaultLocale>
		<mdb:otherLocale><lan:PT_Locale id="FR"><lan:language><lan:LanguageCode codeListValue="fre"/></lan:language></lan:PT_Locale></mdb:otherLocale>
		<mdb:dateInfo><cit:CI_Date><cit:date><gco:DateTime>2025-03-01T10:00:00Z</gco:DateTime></cit:date><cit:dateType><cit:CI_DateTypeCode codeListValue="revision"/></cit:dateType></cit:CI_Date></mdb:dateInfo>
		<mdb:identificationInfo><mri:MD_DataIdentification><mri:citation><cit:CI_Citation><cit:title><gco:CharacterString>Lärm</gco:CharacterString><lan:PT_FreeText><lan:textGroup>
		<lan:LocalisedCharacterString locale="#FR">Bruit</lan:LocalisedCharacterString></lan:textGroup></lan:PT_FreeText></cit:title></cit:CI_Citation></mri:citation>
		<mri:pointOfContact><cit:CI_Responsibility><cit:role><cit:CI_RoleCode codeListValue="owner"/></cit:role><cit:party><cit:CI_Organisation>`+text("cit:name", "Amt")+`</cit:CI_Organisation></cit:party></cit:CI_Responsibility></mri:pointOfContact>
		<mri:extent><gex:EX_Extent><gex:geographicElement><gex:EX_GeographicBoundingBox><gex:westBoundLongitude><gco:Decimal>5,9</gco:Decimal></gex:westBoundLongitude><gex:eastBoundLongitude><gco:Decimal>10.5</gco:Decimal></gex:eastBoundLongitude>
		<gex:southBoundLatitude><gco:Decimal>45.8</gco:Decimal></gex:southBoundLatitude><gex:northBoundLatitude><gco:Decimal>47.8</gco:Decimal></gex:northBoundLatitude></gex:EX_GeographicBoundingBox></gex:geographicElement>
		<gex:temporalElement><gex:EX_TemporalExtent><gex:extent><gml:TimePeriod><gml:beginPosition>2001</gml:beginPosition><gml:endPosition indeterminatePosition="now"/></gml:TimePeriod></gex:extent></gex:EX_TemporalExtent></gex:temporalElement></gex:EX_Extent></mri:extent>
		<mri:resourceMaintenance><mmi:MD_MaintenanceInformation><mmi:maintenanceAndUpdateFrequency><mmi:MD_MaintenanceFrequencyCode codeListValue="annually"/></mmi:maintenanceAndUpdateFrequency></mmi:MD_MaintenanceInformation></mri:resourceMaintenance>
		<mri:resourceConstraints><mco:MD_LegalConstraints><mco:otherConstraints><gcx:Anchor xlink:href="http://inspire.ec.europa.eu/metadata-codelist/LimitationsOnPublicAccess/noLimitations">none</gcx:Anchor></mco:otherConstraints>
		`+text("mco:otherConstraints", "Licence: https://creativecommons.org/licenses/by/4.0/.")+`</mco:MD_LegalConstraints></mri:resourceConstraints></mri:MD_DataIdentification></mdb:identificationInfo>
		<mdb:distributionInfo><mrd:MD_Distribution><mrd:transferOptions><mrd:MD_DigitalTransferOptions><mrd:transferSize><gco:Real>1.5</gco:Real></mrd:transferSize><mrd:onLine><cit:CI_OnlineResource>`+
		text("cit:linkage", "https://m.example/a.zip")+text("cit:protocol", "WWW:LINK")+
		`</cit:CI_OnlineResource></mrd:onLine></mrd:MD_DigitalTransferOptions></mrd:transferOptions></mrd:MD_Distribution></mdb:distribut`+
		`ionInfo></mdb:MD_Metadata>`)
	d := rec.Dataset
	if rec.ID != "x-1" || d.IRI != "https://m.example/x-1" || rec.Stamp != "2025-03-01T10:00:00Z" || rec.Service {
		t.Errorf("%+v", rec)
	}
	if want := []harvest.Text{{Value: "Lärm", Lang: "de"}, {Value: "Bruit", Lang: "fr"}}; !slices.Equal(d.Title, want) {
		t.Errorf("title %v", d.Title)
	}
	if d.Publisher.Name != "Amt" || d.Frequency != "annually" || !slices.Equal(d.Spatial[0].Box, []float64{5.9, 45.8, 10.5, 47.8}) ||
		d.Temporal[0].Start != "2001" {
		t.Errorf("%+v", d)
	}
	if d.License != "https://creativecommons.org/licenses/by/4.0/" || !strings.HasSuffix(d.AccessLevel, "/noLimitations") {
		t.Errorf("licence %q, access %q", d.License, d.AccessLevel)
	}
	if seeds := d.Seeds(harvest.Portal{}); len(seeds) != 1 || seeds[0].URL != "https://m.example/a.zip" ||
		d.Distributions[0].Size != 1_500_000 {
		t.Errorf("seeds %+v", seeds)
	}
}

func TestLinksAreFilesServicesOrPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		link Link
		want string
	}{
		{Link{URL: "http://m.example/x", Protocol: "WWW:DOWNLOAD-1.0-http--download"}, "file"},
		{Link{URL: "http://m.example/x", Protocol: "WWW:LINK-1.0-http--link"}, "page"},
		{Link{URL: "http://m.example/x.gpkg", Protocol: "WWW:LINK-1.0-http--link"}, "file"},
		{Link{URL: "http://m.example/x", Protocol: "WWW:LINK-1.0-http--link", Function: "download"}, "file"},
		{Link{URL: "http://m.example/x.pdf", Function: "information"}, "page"},
		{Link{URL: "http://m.example/x"}, "file"},
		{Link{URL: "http://m.example/x", Protocol: "OGC:WMS-1.3.0-http-get-map"}, "service WMS"},
		{Link{URL: "http://m.example/x", Protocol: "http://www.opengis.net/def/serviceType/ogc/wfs"}, "service WFS"},
		{Link{URL: "http://m.example/x", Protocol: "OGC:WFS-1.0.0-http-get-feature--download"}, "file"},
		{Link{URL: "http://m.example/wxs?map=1"}, "service WXS"},
		{Link{URL: "http://m.example/x?SERVICE=WMS&REQUEST=GetCapabilities"}, "service OGC"},
		{Link{URL: "http://m.example/x", Protocol: "ESRI:REST"}, "service ESRI:REST"},
	} {
		d := harvest.Dataset{IRI: "https://m.example/d"}
		c.link.Add(&d)
		c.link.Add(&d)
		got := "page"
		if len(d.Distributions) == 1 {
			if got = "file"; d.Distributions[0].Service {
				got = "service " + d.Distributions[0].Format
			}
		}
		if got != c.want || got == "page" && d.LandingPage != c.link.URL {
			t.Errorf("%+v is a %s, want a %s", c.link, got, c.want)
		}
	}
}
