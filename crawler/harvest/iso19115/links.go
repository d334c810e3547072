package iso19115

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// maxLinks is the maximum number of distributions of a record.
const maxLinks = 5000

// distributions adds the addresses in distributionInfo and the operations of a service.
func (r *reader) distributions(d *harvest.Dataset) {
	format := r.format()
	for _, options := range append(r.root.All("distributionInfo/*/transferOptions/*"),
		r.root.All("distributionInfo/*/distributor/*/distributorTransferOptions/*")...) {
		online := options.All("onLine/*")
		for _, e := range online {
			l := Link{Protocol: line(e.First("protocol")), Function: code(e.First("function")), Name: line(e.First("name")),
				Description: line(e.First("description")),
				MediaType:   e.First("name/MimeFileType").Attr("type"), Format: format}
			if len(online) == 1 {
				l.Size = megabytes(leaf(options.First("transferSize")))
			}
			for _, l.URL = range addresses(e.First("linkage")) {
				if len(d.Distributions) < maxLinks {
					l.Add(d)
				}
			}
		}
	}
	for _, e := range r.about.All("containsOperations/*/connectPoint/*/linkage") {
		for _, address := range addresses(e) {
			if len(d.Distributions) < maxLinks {
				Link{URL: address, Protocol: cmp.Or(line(r.about.First("serviceType")), "service"), service: true}.Add(d)
			}
		}
	}
}

// format returns the format of all distributions, "" if there are several or none.
func (r *reader) format() string {
	names := map[string]bool{}
	format := ""
	for _, path := range []string{"distributionFormat/*/name", "distributionFormat/*/formatSpecificationCitation/*/title",
		"distributor/*/distributorFormat/*/name"} {
		for _, e := range r.root.All("distributionInfo/*/" + path) {
			if name := line(e); strings.Trim(name, "-. ") != "" {
				names[name], format = true, name
			}
		}
	}
	if len(names) != 1 {
		return ""
	}
	return format
}

// megabytes returns the size in MD_DigitalTransferOptions in bytes.
func megabytes(s string) int64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n <= 0 || n > 1e9 {
		return 0
	}
	return int64(n * 1e6)
}

// addresses returns the distinct addresses of a linkage: gmd:URL, a text, or addresses by language.
func addresses(e *loose.Element) []string {
	if e == nil {
		return nil
	}
	var all []string
	e.Walk(func(e *loose.Element, _ []*loose.Element) {
		if address := e.Text(); address != "" && !slices.Contains(all, address) && len(all) < 50 {
			all = append(all, address)
		}
	})
	return all
}

// Link is an address as catalogs of geographic data describe it.
type Link struct {
	URL, Name, Description string
	Protocol               string // "WWW:DOWNLOAD-1.0-http--download", "OGC:WMS-1.1.1-http-get-map", a media type, or the address of a code
	Function               string // a CI_OnLineFunctionCode
	Format, MediaType      string
	Size                   int64
	service                bool
}

// Add adds the link to a dataset, as a file to crawl, as a service or as the landing page.
func (l Link) Add(d *harvest.Dataset) {
	if slices.ContainsFunc(d.Distributions, func(have harvest.Distribution) bool { return have.URL == l.URL }) {
		return
	}
	service := l.serviceName()
	switch {
	case service != "":
		d.Distributions = append(d.Distributions,
			harvest.Distribution{URL: l.URL, Title: cmp.Or(l.Name, l.Description), Description: l.Description, Format: service,
				Service: true})
	case l.isPage():
		if d.LandingPage = cmp.Or(d.LandingPage, l.URL); d.LandingPage != l.URL {
			if page, ok := harvest.AsIRI(l.URL); ok {
				d.Statements = append(d.Statements, term.Quad{S: term.IRI(d.IRI), P: term.IRI(vocab.FOAFPage), O: term.IRI(page)})
			}
		}
	default:
		dist := harvest.Distribution{URL: l.URL, Title: cmp.Or(l.Name, l.Description), Description: l.Description, Format: l.Format,
			MediaType: l.MediaType, Size: l.Size}
		if strings.Count(l.Protocol, "/") == 1 && !strings.Contains(l.Protocol, ":") {
			dist.MediaType = cmp.Or(dist.MediaType, l.Protocol)
		}
		d.Distributions = append(d.Distributions, dist)
	}
}

// serviceName returns the protocol of a link to a service, "" for other links.
func (l Link) serviceName() string {
	protocol := strings.ToUpper(l.Protocol[strings.LastIndexByte(l.Protocol, '/')+1:])
	if l.service {
		return cmp.Or(l.Protocol, "service")
	}
	if strings.Contains(protocol, "DOWNLOAD") || strings.Contains(protocol, "FILE") {
		return ""
	}
	for _, name := range []string{"WMTS", "WMS", "WFS", "WCS", "WPS", "CSW", "SOS", "TMS", "OGC API", "OGCAPI", "SPARQL"} {
		if strings.Contains(protocol, name) {
			return name
		}
	}
	if strings.HasPrefix(protocol, "ESRI:") || strings.Contains(protocol, "REST") || strings.HasSuffix(protocol, ":API") {
		return l.Protocol
	}
	at := strings.ToLower(l.URL)
	if path, _, _ := strings.Cut(at, "?"); protocol == "" {
		for _, name := range []string{"wms", "wfs", "wcs", "wmts", "wxs"} {
			if strings.HasSuffix(path, "/"+name) {
				return strings.ToUpper(name)
			}
		}
	}
	if strings.Contains(at, "request=getcapabilities") {
		return "OGC"
	}
	return ""
}

// isPage reports whether a link leads to a page, not to data.
func (l Link) isPage() bool {
	switch l.Function {
	case "download", "fileAccess", "offlineAccess":
		return false
	case "information", "search", "order", "completeMetadata", "browseGraphic", "browsing", "emailService", "upload":
		return true
	}
	protocol := strings.ToUpper(l.Protocol)
	if strings.Contains(protocol, "DOWNLOAD") || harvest.IsFile(l.URL) {
		return false
	}
	return strings.HasPrefix(protocol, "WWW:LINK") || strings.HasPrefix(protocol, "CHTOPO:") || strings.HasPrefix(protocol, "MAP:") ||
		strings.HasPrefix(l.Protocol, "text/html")
}
