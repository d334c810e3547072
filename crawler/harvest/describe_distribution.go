package harvest

import (
	"strconv"
	"strings"

	"odarchive/triplestore/term"
	"odarchive/vocab"
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
	s.add(vocab.DCATDistributionProp, node)
	s.within(node, func() {
		s.isA(vocab.DCATDistribution)
		s.text(vocab.DCTTitle, d.Title)
		s.text(vocab.DCTDescription, d.Description)
		switch {
		case hasAccess && hasURL && access != url:
			s.add(vocab.DCATAccessURL, term.IRI(access))
			s.add(vocab.DCATDownloadURL, term.IRI(url))
		case hasURL:
			s.add(vocab.DCATAccessURL, term.IRI(url))
		case hasAccess:
			s.add(vocab.DCATAccessURL, term.IRI(access))
		default:
			s.text(vocab.DCATAccessURL, d.URL) // words instead of an address
		}
		s.thing(vocab.DCTFormat, d.Format)
		s.thing(vocab.DCATMediaType, d.MediaType)
		s.thing(vocab.DCTLicense, d.License)
		if d.Size > 0 {
			s.add(vocab.DCATByteSize, term.Typed(strconv.FormatInt(d.Size, 10), vocab.XSDInteger))
		}
		s.checksum(d, role+"sum")
		s.date(vocab.DCTIssued, d.Issued)
		s.date(vocab.DCTModified, d.Modified)
		s.thing(vocab.DCTConformsTo, d.Conforms...)
		if d.Service && hasURL && !isPage(d) {
			s.service(d, url, role+"service")
		}
	})
}

// service adds the service that gives access to the distribution.
func (s *statements) service(d Distribution, url, role string) {
	node := term.Blank(s.prefix + role)
	s.add(vocab.DCATAccessService, node)
	s.within(node, func() {
		s.isA(vocab.DCATDataService)
		s.text(vocab.DCTTitle, d.Title)
		s.add(vocab.DCATEndpointURL, term.IRI(url))
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
	s.add(vocab.SPDXChecksumProp, node)
	s.within(node, func() {
		s.isA(vocab.SPDXChecksum)
		if name := checksumAlgorithm(alg, value); name != "" {
			s.add(vocab.SPDXAlgorithm, term.IRI(vocab.SPDXNS+"checksumAlgorithm_"+name))
		}
		if isHex(value) {
			s.add(vocab.SPDXChecksumValue, term.Typed(strings.ToLower(value), vocab.XSDHexBinary))
		} else {
			s.text(vocab.SPDXChecksumValue, value)
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
