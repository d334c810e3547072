// Package conneg does proactive content negotiation over media types and codings (RFC 9110 §12.5).
//
// A handler lists the representations it offers, best first, and Choose returns the one that the client prefers. The
// package writes no headers: an answer that depends on Accept needs Vary.
package conneg

import (
	"net/http"
	"strconv"
	"strings"
)

// Offer is a representation that the server offers.
type Offer struct {
	MediaType string // "text/turtle", with parameters if they distinguish offers: `application/ld+json;profile="..."`
	Name      string // for the caller; not used here
}

// Of returns an offer for each media type.
func Of(mediaTypes ...string) []Offer {
	offers := make([]Offer, len(mediaTypes))
	for i, mt := range mediaTypes {
		offers[i].MediaType = mt
	}
	return offers
}

// Choose returns the offer with the highest quality in accept, the value of an Accept header (several header lines
// joined with commas). The most specific range that covers an offer gives its quality; among equals the earlier offer
// wins. An empty header accepts everything. Choose returns false if no offer is acceptable (406).
//
// A malformed range is skipped, and a malformed q counts as 1. If no range is valid, the header counts as empty.
func Choose(accept string, offers []Offer) (Offer, bool) {
	if len(offers) == 0 {
		return Offer{}, false
	}
	ranges := parse(accept)
	if len(ranges) == 0 {
		return offers[0], true
	}
	best, bestQ := Offer{}, 0.0
	for _, o := range offers {
		if q := quality(ranges, o); q > bestQ {
			best, bestQ = o, q
		}
	}
	return best, bestQ > 0
}

// Negotiate is Choose for a request.
func Negotiate(r *http.Request, offers []Offer) (Offer, bool) {
	return Choose(strings.Join(r.Header.Values("Accept"), ","), offers)
}

// mediaRange is an element of an Accept header, or a media type with quality 1.
type mediaRange struct {
	typ, subtype string
	params       map[string]string
	q            float64
}

// maxRanges bounds the work for a hostile header.
const maxRanges = 1000

func parse(accept string) []mediaRange {
	var ranges []mediaRange
	for rest := accept; rest != "" && len(ranges) < maxRanges; {
		var elem string
		elem, rest = cut(rest, ',')
		if r, ok := parseRange(elem); ok {
			ranges = append(ranges, r)
		}
	}
	return ranges
}

func parseRange(s string) (mediaRange, bool) {
	name, rest := cut(s, ';')
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "*" { // sent by old Java clients
		name = "*/*"
	}
	r := mediaRange{q: 1}
	var ok bool
	if r.typ, r.subtype, ok = strings.Cut(name, "/"); !ok || !isToken(r.typ) || !isToken(r.subtype) || r.typ == "*" && r.subtype != "*" {
		return r, false
	}
	for rest != "" {
		var param string
		param, rest = cut(rest, ';')
		key, value, _ := strings.Cut(param, "=")
		key, value = strings.ToLower(strings.TrimSpace(key)), unquote(strings.TrimSpace(value))
		switch {
		case key == "q":
			r.q = weight(value)
			return r, true // what follows the weight are extensions, not part of the media type
		case key == "charset" && strings.EqualFold(value, "utf-8"), key == "": // all our text is UTF-8
		default:
			if r.params == nil {
				r.params = map[string]string{}
			}
			r.params[key] = value
		}
	}
	return r, true
}

// cut splits s at the first sep outside of quotes.
func cut(s string, sep byte) (before, after string) {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == sep && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func unquote(s string) string {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	s = s[1 : len(s)-1]
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// weight parses a qvalue (RFC 9110 §12.4.2): digits and a point, no other forms of numbers.
func weight(s string) float64 {
	if strings.Trim(s, "0123456789.") != "" {
		if strings.HasPrefix(s, "-") {
			return 0
		}
		return 1
	}
	q, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 1
	}
	return min(q, 1)
}

func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c >= 0x7F || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// quality returns the weight of the most specific range that covers the offer, and of the first one if several are
// equally specific.
func quality(ranges []mediaRange, o Offer) float64 {
	offer, ok := parseRange(o.MediaType)
	if !ok {
		return 0
	}
	q, most := 0.0, 0
	for _, r := range ranges {
		if s := specificity(r, offer); s > most {
			q, most = r.q, s
		}
	}
	return q
}

// specificity returns how specifically a range names an offer, 0 if not at all (RFC 9110 §12.5.1). A range with a
// parameter that the offer lacks matches, too, but less than the same range without: for a client that asks for
// application/ld+json with some profile, application/ld+json is better than status 406.
func specificity(r, offer mediaRange) int {
	const any, anySubtype, otherParams, exact = 1, 2, 3, 4
	switch {
	case r.typ == "*":
		return any
	case r.typ != offer.typ:
		return 0
	case r.subtype == "*":
		return anySubtype
	case r.subtype != offer.subtype:
		return 0
	}
	matching := 0
	for key, value := range r.params {
		got, has := offer.params[key]
		if has && !strings.EqualFold(got, value) {
			return 0
		}
		if has {
			matching++
		}
	}
	if matching < len(r.params) {
		return otherParams
	}
	return exact + matching
}

// AcceptsGzip reports whether a request accepts the content coding gzip (RFC 9110 §12.5.3). "*" accepts it if wildcard
// is set. Careless clients send "*" and cannot decode gzip, so it must not be set for files that they would store.
func AcceptsGzip(r *http.Request, wildcard bool) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, params, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(part), " ", ""), ";")
		if coding != "gzip" && coding != "x-gzip" && !(coding == "*" && wildcard) {
			continue
		}
		q, found := strings.CutPrefix(params, "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !found || (err == nil && weight > 0)
	}
	return false
}
