package links

import (
	"net/http"
	"regexp"
	"strings"

	"odarchive/crawler/address"
)

// linkValue matches one value of a Link header (RFC 8288), and linkParameter one of its parameters.
var (
	linkValue     = regexp.MustCompile(`<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s",;]*))?)*)`)
	linkParameter = regexp.MustCompile(`;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]*))`)
)

// Limits of Link headers.
const (
	maxHeaderBytes = 64 << 10
	maxHeaderLinks = 1000
)

// Header returns the links of Link headers that lead to the same in another syntax, or to a description. base is the
// URL of the document.
func Header(h http.Header, base address.URL) (all []Link) {
	for _, line := range h.Values("Link") {
		if len(line) > maxHeaderBytes {
			line = line[:maxHeaderBytes]
		}
		for _, m := range linkValue.FindAllStringSubmatch(line, maxHeaderLinks) {
			rel, mediaType, anchor := "", "", ""
			for _, p := range linkParameter.FindAllStringSubmatch(m[2], 20) {
				value := p[2] + p[3]
				switch strings.ToLower(p[1]) {
				case "rel":
					rel = value
				case "type":
					mediaType = value
				case "anchor":
					anchor = value
				}
			}
			kind := kindOfRel(rel)
			if kind == "" || anchor != "" && !strings.HasPrefix(anchor, "#") { // a link of another document
				continue
			}
			if to := resolve(m[1], base); to != "" && len(all) < maxHeaderLinks {
				all = append(all, Link{URL: to, Kind: kind, Type: cut(mediaType, maxText)})
			}
		}
	}
	return all
}

// kindOfRel returns the kind of a link by its relations, "" if it leads to no data.
func kindOfRel(rel string) Kind {
	found := Kind("")
	for _, one := range strings.Fields(strings.ToLower(rel)) {
		switch one {
		case "stylesheet", "icon", "preload", "prefetch", "dns-prefetch", "preconnect", "modulepreload", "manifest", "nofollow":
			return ""
		case "alternate", "item", "collection", "next", "prev", "first", "last":
			found = Alternate
		case "describedby", "meta", "describes":
			found = DescribedBy
		}
	}
	return found
}
