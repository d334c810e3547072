// Package ns mints and parses the IRIs of the archive.
//
// Resources (crawled URLs), datasets and portals keep their own IRIs. The archive mints IRIs only for what it creates:
// versions, fetches, graphs, and the TimeMaps and TimeGates of Memento. Parse reverses minting. The package also embeds
// the document that defines the arc: terms (Vocabulary).
package ns

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Paths below the base IRI. Others link to them, so they never change.
const (
	versionPath  = "api/v1/get/file/id/"
	legacyPath   = "get/file/id/"
	memberPath   = "/member/" // follows a version's IRI
	activityPath = "activity/"
	graphPath    = "graph/"
	warcPath     = "warc/"
	timeMapPath  = "timemap/link/"
	timeMapJSON  = "timemap/json/"
	timeGatePath = "timegate/"
	resourcePath = "dataset?url="
	agentPath    = "crawler"
	eventPath    = "event/"
	proofPath    = "proof/"
)

// Mint mints IRIs below a base, which ends with '/', and parses those below Base and the former bases.
type Mint struct {
	Base   string
	Former []string // the other bases below which the archive minted IRIs; each ends with '/'
}

// Bases returns all bases below which the archive minted IRIs, the present one first.
func (m Mint) Bases() []string { return append([]string{m.Base}, m.Former...) }

// New returns a Mint for base, which must be an absolute http or https IRI without query, fragment and password, since
// every IRI would show it. It adds a missing final '/'. The error is a *BaseError.
func New(base string) (Mint, error) {
	u, err := url.Parse(base)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return Mint{}, &BaseError{base}
	}
	if !strings.HasSuffix(base, "/") {
		base += "/"
	}
	return Mint{Base: base}, nil
}

// Root returns the path of Base without the final '/', escaped: "/archive" for https://a.example/archive/, and "" for
// https://a.example/. A cookie of the archive has the path Root() + "/".
func (m Mint) Root() string {
	u, err := url.Parse(m.Base)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(u.EscapedPath(), "/")
}

// BaseError means that IRIs cannot be minted below a base.
type BaseError struct{ Base string }

func (e *BaseError) Error() string {
	return "base IRI " + strconv.Quote(e.Base) + " is not an absolute http or https address such as http://localhost:8080/"
}

// ResourceID returns the id of a resource: the first 96 bits of the SHA-256 of its SURT key, in 24 hexadecimal digits
// like the ids of the original archive.
func ResourceID(surtKey string) string {
	sum := sha256.Sum256([]byte(surtKey))
	return hex.EncodeToString(sum[:12])
}

// ActivityID returns the id of the activity of a resource that begins at a time.
func ActivityID(resourceID string, start time.Time) string {
	return resourceID + "-" + strconv.FormatInt(start.UnixMilli(), 10)
}

// VersionID returns the id of version n of a resource, counted from 0.
func VersionID(resourceID string, n int) string { return resourceID + "_" + strconv.Itoa(n) }

// SplitVersionID splits the id of a version. ok is false if id is malformed.
func SplitVersionID(id string) (resourceID string, n int, ok bool) {
	resourceID, num, found := strings.Cut(id, "_")
	n, err := strconv.Atoi(num)
	ok = found && err == nil && n >= 0 && num == strconv.Itoa(n) && IsResourceID(resourceID)
	return resourceID, n, ok
}

// IsResourceID reports whether s has the form of a resource id.
func IsResourceID(s string) bool {
	return len(s) == 24 && strings.Trim(s, "0123456789abcdef") == ""
}

// Version returns the IRI of a version.
func (m Mint) Version(id string) string { return m.Base + versionPath + id }

// Column returns the IRI of the i-th column, counted from 1, of a version's table.
func (m Mint) Column(versionID string, i int) string {
	return m.Version(versionID) + "#" + strconv.Itoa(i)
}

// Member returns the IRI of a file inside a version that is an archive, by its path in the archive.
func (m Mint) Member(versionID, path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return m.Version(versionID) + memberPath + strings.Join(parts, "/")
}

// Activity returns the IRI of a fetch or harvest.
func (m Mint) Activity(id string) string { return m.Base + activityPath + id }

// Graph returns the IRI of the named graph with a portal's catalog.
func (m Mint) Graph(portal string) string { return m.Base + graphPath + portal }

// WARC returns the IRI of a WARC file with a name, and of the graph that describes its records.
func (m Mint) WARC(name string) string { return m.Base + warcPath + url.PathEscape(name) }

// TimeMap returns the address of a resource's TimeMap in link format (RFC 7089).
func (m Mint) TimeMap(resource string) string { return m.Base + timeMapPath + resource }

// TimeMapJSON returns the address of a resource's TimeMap in JSON.
func (m Mint) TimeMapJSON(resource string) string { return m.Base + timeMapJSON + resource }

// TimeGate returns the address of a resource's TimeGate (RFC 7089).
func (m Mint) TimeGate(resource string) string { return m.Base + timeGatePath + resource }

// Page returns the address of the page about a resource.
func (m Mint) Page(resource string) string { return m.Base + resourcePath + url.QueryEscape(resource) }

// Event returns the IRI of an event of the log of changes, by its number.
func (m Mint) Event(number uint64) string { return m.Base + eventPath + strconv.FormatUint(number, 10) }

// Proof returns the address of the proof that a version is in the transparency log.
func (m Mint) Proof(versionID string) string { return m.Base + proofPath + versionID }

// Agent returns the IRI of the crawler.
func (m Mint) Agent() string { return m.Base + agentPath }

// Kind is the kind of a Ref.
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
	KindWARC
	KindEvent
)

// Ref is a parsed IRI. ID is set for versions, columns, members, activities and events; URL for graphs, TimeMaps,
// TimeGates and, as the escaped name, WARC files; Column for columns; Path for members.
type Ref struct {
	Kind   Kind
	ID     string
	Column int
	Path   string
	URL    string
}

// Parse parses an IRI minted below Base or a former base. It also accepts version IRIs in the form of the paper,
// without "api/v1/". ok is false for other IRIs.
func (m Mint) Parse(iri string) (ref Ref, ok bool) {
	ref, _, ok = m.split(iri)
	return ref, ok
}

// Moved returns an IRI that was minted below Base or a former base as it is below another base; other IRIs are returned
// unchanged.
func (m Mint) Moved(iri, base string) string {
	if _, path, ok := m.split(iri); ok {
		return base + path
	}
	return iri
}

// Aliases returns an IRI that was minted below Base or a former base as it is below each of them, first of all below
// Base. Of another IRI, it returns only that one.
func (m Mint) Aliases(iri string) []string {
	_, path, ok := m.split(iri)
	if !ok {
		return []string{iri}
	}
	all := []string{m.Base + path}
	for _, base := range m.Former {
		all = append(all, base+path)
	}
	return all
}

// split also returns what follows the base. One base may be below another: the longest one counts.
func (m Mint) split(iri string) (ref Ref, path string, ok bool) {
	longest := -1
	for i := -1; i < len(m.Former); i++ {
		base := m.Base
		if i >= 0 {
			base = m.Former[i]
		}
		rest, below := strings.CutPrefix(iri, base)
		if !below || len(base) <= longest {
			continue
		}
		if r, minted := parse(rest); minted {
			ref, path, ok, longest = r, rest, true, len(base)
		}
	}
	return ref, path, ok
}

// parse parses what follows the base of an IRI.
func parse(path string) (ref Ref, ok bool) {
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
	}{{timeMapPath, KindTimeMap}, {timeMapJSON, KindTimeMap}, {timeGatePath, KindTimeGate}, {graphPath, KindGraph}, {warcPath, KindWARC}} {
		if u, found := strings.CutPrefix(path, p.prefix); found && u != "" {
			return Ref{Kind: p.kind, URL: u}, true
		}
	}
	if id, found := strings.CutPrefix(path, activityPath); found && id != "" {
		return Ref{Kind: KindActivity, ID: id}, true
	}
	if id, found := strings.CutPrefix(path, eventPath); found && id != "" {
		return Ref{Kind: KindEvent, ID: id}, true
	}
	return Ref{}, false
}

// BaseOf returns the base of a version's IRI. ok is false, and base empty, for other IRIs.
func BaseOf(versionIRI string) (base string, ok bool) {
	base, id, found := strings.Cut(versionIRI, versionPath)
	if _, _, isVersion := SplitVersionID(id); !found || !isVersion || !strings.HasSuffix(base, "/") {
		return "", false
	}
	if _, err := New(base); err != nil {
		return "", false
	}
	return base, true
}

func parseVersion(id string) (Ref, bool) {
	if id, path, isMember := strings.Cut(id, memberPath); isMember {
		path, _, _ = strings.Cut(path, "#") // a column of a member is parsed as the member
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
