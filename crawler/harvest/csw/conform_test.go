package csw

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/portaltest"
)

func TestCSWConforms(t *testing.T) {
	portaltest.Conform(t, portaltest.Dialect{
		Source: func(http harvest.Doer) harvest.Harvester {
			return New(portalapi.Source{URL: "https://m.example/csw", HTTP: http, Rows: portaltest.PageSize, Now: portaltest.Now})
		},
		IRI: func(e portaltest.Entry) string {
			return fmt.Sprintf(
				"https://m.example/csw?elementSetName=full&id=id-%d&outputSchema=http%%3A%%2F%%2Fwww.opengis.net%%2Fcat%%2Fcsw"+
					"%%2F2.0.2&request=GetRecordById&service=CSW&version=2.0.2", e.N)
		},
		Answer: func(p *portaltest.Portal, r *http.Request) string {
			const xml = "Content-Type: application/xml\n"
			if r.FormValue("request") == "GetCapabilities" {
				return xml +
					`<csw:Capabilities xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:ows="http://www.opengis.net/ows"><ows:` +
					`OperationsMetadata><ows:Operation name="GetRecords"><ows:Parameter ` +
					`name="outputSchema"><ows:Value>http://www.opengis.net/` +
					`cat/csw/2.0.2</ows:Value></ows:Parameter></ows:Operation></ows:OperationsMetadata></csw:Capabilities>`
			}
			list := p.Since(strings.Trim(strings.TrimPrefix(r.FormValue("constraint"), "modified >= "), "'"))
			if r.FormValue("resultType") == "hits" {
				return xml + response(len(list), 0, 0, "")
			}
			page, next := p.Page(list, number(r.FormValue("startPosition"))-1)
			if next > 0 {
				next++
			}
			return xml + response(len(list), len(page), next, strings.ReplaceAll(portaltest.Join(page, func(e portaltest.Entry) string {
				return fmt.Sprintf(`<csw:Record><dc:identifier>id-%d</dc:identifier><dc:title>%s</dc:title><dct:modified>%s</dct:modified>`+
					`<dct:references scheme="WWW:DOWNLOAD-1.0-http--download">%s</dct:references></csw:Record>`, e.N, e.Title, e.Changed,
					e.File)
			}), ",<csw", "<csw"))
		},
	})
}

func response(matched, returned, next int, records string) string {
	return fmt.Sprintf(
		`<csw:GetRecordsResponse xmlns:csw="http://www.opengis.net/cat/csw/2.0.2" xmlns:dc="http://purl.org/dc/elements/1.1/" `+
			`xmlns:dct="http://purl.org/dc/terms/"><csw:SearchResults numberOfRecordsMatched="%d" numberOfRecordsReturned="%d" `+
			`nextRecord="%d">%s</csw:SearchResults></csw:GetRecordsResponse>`, matched, returned, next, records)
}
