package bucket

import (
	"cmp"
	"net/url"
	"path/filepath"
	"strings"
)

// Overlap reports whether two URLs for Open name the same place, or one names a place below that of the other, so that
// objects of one would be among those of the other. It sends no request. Symbolic links to directories are followed.
// URLs that Check refuses overlap with nothing.
func Overlap(a, b string) bool {
	x, errX := parse(a)
	y, errY := parse(b)
	if errX != nil || errY != nil || x.Scheme != y.Scheme {
		return false
	}
	if x.Scheme == "file" {
		return within(real(x.Path), real(y.Path), string(filepath.Separator))
	}
	return x.Host == y.Host && endpointOf(x) == endpointOf(y) && within(strings.Trim(x.Path, "/"), strings.Trim(y.Path, "/"), "/")
}

// FileURL returns the URL of a directory, whose path may be relative.
func FileURL(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String(), err
}

// within reports whether two paths are the same, or one is below the other.
func within(a, b, slash string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	return a == b || strings.HasPrefix(b, strings.TrimSuffix(a, slash)+slash) || a == ""
}

// real follows the symbolic links in what exists of an absolute path.
func real(path string) string {
	path = filepath.Clean(filepath.FromSlash(path))
	for rest := ""; ; {
		if found, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Join(found, rest)
		}
		parent := filepath.Dir(path)
		if parent == path {
			return filepath.Join(path, rest)
		}
		rest, path = filepath.Join(filepath.Base(path), rest), parent
	}
}

// endpointOf returns the endpoint of a URL without what may be written in several ways.
func endpointOf(u *url.URL) string {
	e, err := url.Parse(cmp.Or(u.Query().Get("endpoint"), amazon))
	if err != nil {
		return ""
	}
	port := e.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[e.Scheme]
	}
	return strings.ToLower(e.Hostname()) + ":" + port
}
