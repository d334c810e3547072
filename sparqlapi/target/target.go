// Package target reads the parameters of a request's address: numbers in the query string, ids and names in the path,
// and the web addresses that /get/file/{URL}, /timegate/{URL} and similar routes end with.
//
// A router that uses Escaped matches the path as the client escaped it, so that every parameter arrives escaped. Value
// and URL decode them. No handler cuts the path itself.
package target

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"odarchive/ns"
	"odarchive/sparqlapi/problem"

	"github.com/go-chi/chi/v5"
)

// Escaped is middleware for a chi router. Without it chi matches the decoded path of some requests and the escaped path
// of others, and a parameter may have lost the difference between "%2F" and "/".
func Escaped(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chi.RouteContext(r.Context()).RoutePath = r.URL.EscapedPath()
		next.ServeHTTP(w, r)
	})
}

// Value returns the decoded path parameter of that name; "*" names the rest of the path. It is empty if the route has
// no such parameter.
func Value(r *http.Request, name string) string {
	raw := r.PathValue(name)
	if value, err := url.PathUnescape(raw); err == nil { // net/http has checked the whole path
		return value
	}
	return raw
}

// URL returns the web address in the path parameter "*", or what it names (Named), and the query parameters that belong
// to this server.
//
// The address may be raw (/get/file/http://a.example/x.csv?y=1): then it includes the request's query string, and own
// is empty. Or it may be percent-encoded (/get/file/http%3A%2F%2Fa.example%2Fx.csv%3Fy%3D1): then the query string is
// this server's. A "//" that a proxy has folded into "/" is restored. Errors are problems of status 400 or 404.
func URL(r *http.Request) (address string, own url.Values, err error) {
	address = r.PathValue("*")
	if address == "" {
		return "", nil, problem.Newf(http.StatusNotFound, "No address given", "expected %s followed by an absolute URL", r.URL.Path)
	}
	raw := hasScheme(address)
	if !raw {
		address = Value(r, "*")
	}
	if !hasScheme(address) {
		return "", nil, problem.Newf(http.StatusBadRequest, "Bad address", "%q is not an absolute http, https or ftp URL", address)
	}
	if i := strings.Index(address, ":/") + 2; !strings.HasPrefix(address[i:], "/") {
		address = address[:i] + "/" + address[i:]
	}
	if !raw {
		return Named(r, address), r.URL.Query(), nil
	}
	if id := Named(r, address); id != address { // a version of this archive has no other query than this server's
		return id, r.URL.Query(), nil
	}
	if r.URL.RawQuery != "" || r.URL.ForceQuery {
		address += "?" + r.URL.RawQuery
	}
	return address, url.Values{}, nil
}

// Parameter returns the web address in a query parameter, as Named does.
func Parameter(r *http.Request, name string) string { return Named(r, r.URL.Query().Get(name)) }

// Named returns what an address names: the id of a version, if it is the version's address at the host that was asked,
// and else the address. So what people copy from their browser is found at another name or port than the base's.
func Named(r *http.Request, address string) string {
	plain, _, _ := strings.Cut(address, "?")
	plain = strings.TrimSuffix(plain, "/")
	base, ok := ns.BaseOf(plain)
	if !ok {
		return address
	}
	if u, err := url.Parse(base); err != nil || !strings.EqualFold(u.Host, r.Host) {
		return address
	}
	return plain[strings.LastIndexByte(plain, '/')+1:]
}

func hasScheme(s string) bool {
	for _, scheme := range []string{"http:/", "https:/", "ftp:/"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return true
		}
	}
	return false
}

// Int returns the number in a query parameter, or missing if the parameter is empty or absent. A number outside of min
// to max, or anything else, is a problem of status 400.
func Int(query url.Values, name string, missing, min, max int) (int, error) {
	value := query.Get(name)
	if value == "" {
		return missing, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < min || n > max {
		return 0, problem.Newf(http.StatusBadRequest, "Bad parameter", "%s=%q: expected a number from %d to %d", name, value, min, max)
	}
	return n, nil
}

// CutParameter removes a parameter from a query string, and returns its decoded value. It keeps the rest byte for byte,
// because the query string may belong to a raw address in the path.
func CutParameter(query, name string) (rest, value string, found bool) {
	parts := strings.Split(query, "&")
	kept := parts[:0]
	for _, part := range parts {
		k, v, _ := strings.Cut(part, "=")
		if k, err := url.QueryUnescape(k); err != nil || k != name {
			kept = append(kept, part)
			continue
		}
		if plain, err := url.QueryUnescape(v); err == nil {
			v = plain
		}
		value, found = v, true
	}
	if !found {
		return query, "", false
	}
	return strings.Join(kept, "&"), value, true
}

// Redirect answers with a redirect to a path of this server, as it is below a base without a path: the middleware of
// package sparqlapi puts the base's path in front. The answer has no body, because http.Redirect would repeat the bare
// path in it.
func Redirect(w http.ResponseWriter, path string, status int) {
	w.Header().Set("Location", path)
	w.Header().Set("Content-Length", "0")
	w.WriteHeader(status)
}
