// Package target reads the web address that a route's tail names: /get/file/{URL}, /timegate/{URL} and their kin.
//
// The address may come raw (/get/file/http://a.example/x.csv?y=1), where the request's query string belongs to it, or
// percent-encoded as one path segment (/get/file/http%3A%2F%2Fa.example%2Fx.csv%3Fy%3D1), where the query string stays
// this server's own. Proxies that fold "//" into "/" are forgiven.
package target

import (
	"net/http"
	"net/url"
	"strings"

	"odarchive/sparqlapi/problem"
)

// Of gives the address behind prefix in r's path and the query parameters left for this server. The prefix is looked
// for at the start of the path, with or without /api/v1 before it.
func Of(r *http.Request, prefix string) (address string, own url.Values, err error) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/api/v1")
	tail, ok := strings.CutPrefix(path, prefix)
	if !ok || tail == "" {
		return "", nil, problem.Newf(http.StatusNotFound, "No address given", "expected %s followed by an absolute URL", prefix)
	}
	raw := hasScheme(tail)
	if !raw {
		if tail, err = url.PathUnescape(tail); err != nil {
			return "", nil, problem.Newf(http.StatusBadRequest, "Bad address", "%q is not well percent-encoded", tail)
		}
	}
	if !hasScheme(tail) {
		return "", nil, problem.Newf(http.StatusBadRequest, "Bad address", "%q is no absolute http, https or ftp URL", tail)
	}
	tail = unfold(tail)
	if !raw {
		return tail, r.URL.Query(), nil
	}
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		tail += "?" + r.URL.RawQuery
	}
	return tail, url.Values{}, nil
}

var schemes = []string{"http:/", "https:/", "ftp:/"}

func hasScheme(s string) bool {
	for _, scheme := range schemes {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// unfold gives "http:/a" back its second slash.
func unfold(s string) string {
	i := strings.Index(s, ":/")
	if !strings.HasPrefix(s[i+2:], "/") {
		return s[:i+2] + "/" + s[i+2:]
	}
	return s
}
