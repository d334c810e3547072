// Package ns mints every IRI that the archive gives out, and reads them back.
//
// A resource (a URL that is crawled), its dataset and its portal keep the IRIs they have in the world; the archive
// mints IRIs only for what it makes: versions, fetches, graphs and Memento's maps. Parse(Mint(x)) gives x back.
// The vocabulary document of the arc: terms is embedded here too (Vocabulary).
package ns

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
)

// Paths below the base IRI. They are addresses that the world links to: they never change.
const (
	versionPath  = "api/v1/get/file/id/"
	legacyPath   = "get/file/id/"
	memberPath   = "/member/" // behind a version's IRI
	activityPath = "activity/"
	graphPath    = "graph/"
	timeMapPath  = "timemap/link/"
	timeMapJSON  = "timemap/json/"
	timeGatePath = "timegate/"
	resourcePath = "dataset?url="
	agentPath    = "crawler"
)

// Mint makes IRIs below one base, which ends in '/'.
type Mint struct{ Base string }

// New checks that base is an absolute http(s) IRI and gives it a final '/'.
func New(base string) (Mint, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return Mint{}, &BaseError{base}
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return Mint{Base: base}, nil
}

// BaseError says that a base IRI cannot be minted from.
type BaseError struct{ Base string }

func (e *BaseError) Error() string {
	return "base IRI " + strconv.Quote(e.Base) + " is not an absolute http or https address such as http://localhost:8080/"
}

// ResourceID is the short name of a resource: the first 96 bits of the SHA-256 of its SURT key in hexadecimal,
// 24 digits as the original archive's ids had.
func ResourceID(surtKey string) string {
	sum := sha256.Sum256([]byte(surtKey))
	return hex.EncodeToString(sum[:12])
}

// VersionID names version n (0 first) of a resource.
func VersionID(resourceID string, n int) string { return resourceID + "_" + strconv.Itoa(n) }

// SplitVersionID takes "{resource id}_{N}" apart.
func SplitVersionID(id string) (resourceID string, n int, ok bool) {
	resourceID, num, found := strings.Cut(id, "_")
	n, err := strconv.Atoi(num)
	ok = found && err == nil && n >= 0 && num == strconv.Itoa(n) && IsResourceID(resourceID)
	return resourceID, n, ok
}

// IsResourceID tells whether s has the shape of a resource id.
func IsResourceID(s string) bool {
	return len(s) == 24 && strings.Trim(s, "0123456789abcdef") == ""
}

// Version IRI of a version id.
func (m Mint) Version(id string) string { return m.Base + versionPath + id }

// Column IRI of the i-th column (from 1) of a version's table.
func (m Mint) Column(versionID string, i int) string {
	return m.Version(versionID) + "#" + strconv.Itoa(i)
}

// Member IRI of a file inside a version that is an archive, by its path there.
func (m Mint) Member(versionID, path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return m.Version(versionID) + memberPath + strings.Join(parts, "/")
}

// Activity IRI of one fetch or harvest.
func (m Mint) Activity(id string) string { return m.Base + activityPath + id }

// Graph IRI of the named graph that holds what a portal says of itself.
func (m Mint) Graph(portal string) string { return m.Base + graphPath + portal }

// TimeMap, TimeMapJSON and TimeGate of a resource URL (RFC 7089).
func (m Mint) TimeMap(resource string) string     { return m.Base + timeMapPath + resource }
func (m Mint) TimeMapJSON(resource string) string { return m.Base + timeMapJSON + resource }
func (m Mint) TimeGate(resource string) string    { return m.Base + timeGatePath + resource }

// Page is the address of the page about a resource URL.
func (m Mint) Page(resource string) string { return m.Base + resourcePath + url.QueryEscape(resource) }

// Agent IRI of the crawler itself.
func (m Mint) Agent() string { return m.Base + agentPath }

// Kind of thing a Ref points to.
type Kind byte

const (
	KindVersion Kind = iota + 1
	KindColumn
	KindMember
	KindActivity
	KindGraph
	KindTimeMap
	KindTimeGate
	KindAgent
)

// Ref is a minted IRI taken apart. ID is set for versions, columns, members and activities; URL for graphs, time maps
// and time gates; Column for columns; Path for members.
type Ref struct {
	Kind   Kind
	ID     string
	Column int
	Path   string
	URL    string
}

// Parse reads back an IRI minted below the same base; ok is false for every other IRI. The paper's form of version
// IRIs without "api/v1/" is read too.
func (m Mint) Parse(iri string) (ref Ref, ok bool) {
	path, below := strings.CutPrefix(iri, m.Base)
	if !below {
		return Ref{}, false
	}
	if path == agentPath {
		return Ref{Kind: KindAgent}, true
	}
	for _, prefix := range []string{versionPath, legacyPath} {
		if id, found := strings.CutPrefix(path, prefix); found {
			return parseVersion(id)
		}
	}
	for _, p := range []struct {
		prefix string
		kind   Kind
	}{{timeMapPath, KindTimeMap}, {timeMapJSON, KindTimeMap}, {timeGatePath, KindTimeGate}, {graphPath, KindGraph}} {
		if u, found := strings.CutPrefix(path, p.prefix); found && u != "" {
			return Ref{Kind: p.kind, URL: u}, true
		}
	}
	if id, found := strings.CutPrefix(path, activityPath); found && id != "" {
		return Ref{Kind: KindActivity, ID: id}, true
	}
	return Ref{}, false
}

// BaseOf returns the base that a version's IRI was minted below; ok is false for other IRIs.
func BaseOf(versionIRI string) (base string, ok bool) {
	base, id, found := strings.Cut(versionIRI, versionPath)
	_, _, isVersion := SplitVersionID(id)
	_, err := New(base)
	return base, found && isVersion && err == nil && strings.HasSuffix(base, "/")
}

func parseVersion(id string) (Ref, bool) {
	if id, path, isMember := strings.Cut(id, memberPath); isMember {
		path, _, _ = strings.Cut(path, "#") // a column of a member is told as the member
		path, err := url.PathUnescape(path)
		_, _, ok := SplitVersionID(id)
		return Ref{Kind: KindMember, ID: id, Path: path}, ok && err == nil && path != ""
	}
	id, fragment, hasFragment := strings.Cut(id, "#")
	if _, _, ok := SplitVersionID(id); !ok {
		return Ref{}, false
	}
	if !hasFragment {
		return Ref{Kind: KindVersion, ID: id}, true
	}
	i, err := strconv.Atoi(fragment)
	if err != nil || i < 1 || strconv.Itoa(i) != fragment {
		return Ref{}, false
	}
	return Ref{Kind: KindColumn, ID: id, Column: i}, true
}

// Vocabulary is the Turtle document that defines the arc: terms.
//
//go:embed arc.ttl
var Vocabulary string

// Shapes is the Turtle document with the SHACL shapes of the archive's triples.
//
//go:embed shapes.ttl
var Shapes string
