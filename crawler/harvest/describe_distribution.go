package harvest

import (
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab/dcat"
	"odarchive/vocab/dcterms"
	"odarchive/vocab/spdx"
	"odarchive/vocab/xsd"
)

// distribution adds a distribution of the dataset, named by its IRI or else by its URL, which is also the IRI of the
// crawled resource.
func (s *statements) distribution(d Distribution, role string) {
	url, hasURL := AsIRI(d.URL)
	access, hasAccess := AsIRI(d.AccessURL)
	name := d.IRI
	if _, ok := AsIRI(name); !ok {
		name = url
	}
	node := s.node(name, role)
	s.add(dcat.DistributionProp, node)
	s.within(node, func() {
		s.isA(dcat.Distribution)
		s.text(dcterms.Title, d.Title)
		s.text(dcterms.Description, d.Description)
		switch {
		case hasAccess && hasURL && access != url:
			s.add(dcat.AccessURL, term.IRI(access))
			s.add(dcat.DownloadURL, term.IRI(url))
		case hasURL:
			s.add(dcat.AccessURL, term.IRI(url))
		case hasAccess:
			s.add(dcat.AccessURL, term.IRI(access))
		default:
			s.text(dcat.AccessURL, d.URL) // words instead of an address
		}
		s.thing(dcterms.Format, d.Format)
		s.thing(dcat.MediaType, d.MediaType)
		s.thing(dcterms.License, d.License)
		if d.Size > 0 {
			s.add(dcat.ByteSize, term.Typed(strconv.FormatInt(d.Size, 10), xsd.Integer))
		}
		s.checksum(d, role+"sum")
		s.date(dcterms.Issued, d.Issued)
		s.date(dcterms.Modified, d.Modified)
		s.thing(dcterms.ConformsTo, d.Conforms...)
		if d.Service && hasURL && !isPage(d) {
			s.service(d, url, role+"service")
		}
	})
}

// service adds the service that gives access to the distribution.
func (s *statements) service(d Distribution, url, role string) {
	node := term.Blank(s.prefix + role)
	s.add(dcat.AccessService, node)
	s.within(node, func() {
		s.isA(dcat.DataService)
		s.text(dcterms.Title, d.Title)
		s.add(dcat.EndpointURL, term.IRI(url))
	})
}

// isPage reports whether the distribution is a page for people, not an API.
func isPage(d Distribution) bool {
	return strings.EqualFold(d.Format, "html") || strings.HasPrefix(strings.ToLower(d.MediaType), "text/html")
}

func (s *statements) checksum(d Distribution, role string) {
	sum := plain(d.Checksum)
	alg, value, ok := strings.Cut(sum, ":") // some portals write "sha256:…"
	if !ok {
		alg, value = d.ChecksumAlg, sum
	}
	if value == "" {
		return
	}
	node := term.Blank(s.prefix + role)
	s.add(spdx.ChecksumProp, node)
	s.within(node, func() {
		s.isA(spdx.Checksum)
		if name := checksumAlgorithm(alg, value); name != "" {
			s.add(spdx.Algorithm, term.IRI(spdx.NS+"checksumAlgorithm_"+name))
		}
		if isHex(value) {
			s.add(spdx.ChecksumValue, term.Typed(strings.ToLower(value), xsd.HexBinary))
		} else {
			s.text(spdx.ChecksumValue, value)
		}
	})
}

// checksumAlgorithm returns the SPDX name of an algorithm, found by its declared name or else by the length of the sum.
func checksumAlgorithm(alg, value string) string {
	alg = strings.ToLower(alg[strings.LastIndexAny(alg, "_#/")+1:])
	switch name := strings.NewReplacer("-", "", "_", "").Replace(alg); name {
	case "md5", "sha1", "sha224", "sha256", "sha384", "sha512":
		return name
	}
	if alg == "" && isHex(value) {
		return map[int]string{32: "md5", 40: "sha1", 64: "sha256", 96: "sha384", 128: "sha512"}[len(value)]
	}
	return ""
}
