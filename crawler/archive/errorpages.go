package archive

import (
	"context"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/records"
	"odarchive/ns"
)

// Bounds of what one visit reads, and marks, among the versions with the same bytes.
const (
	sameBytesRead    = 2000
	sameBytesMarked  = 500
	sameBytesWritten = 1 << 20 // bytes of records
)

// SameBytes counts the other URLs of a URL's host that have a version with the same bytes, up to limit.
func (a *Archive) SameBytes(ctx context.Context, url string, sha256 [32]byte, limit int) (n int, err error) {
	id, err := records.ResourceID(url)
	if err != nil {
		return 0, err
	}
	err = a.view(func(t records.Txn) error {
		r, known, err := t.Resource(id)
		if err != nil || !known {
			return err
		}
		others := map[string]bool{}
		err = eachOfHost(ctx, t, r.Host, sha256, func(other, _ string) bool {
			if other != id {
				others[other] = true
			}
			return len(others) < limit
		})
		n = len(others)
		return err
	})
	return n, err
}

// eachOfHost calls f with the versions that have some bytes and whose resources are of a host, until f returns false.
func eachOfHost(ctx context.Context, t records.Txn, host string, sha256 [32]byte, f func(resource, version string) bool) error {
	read := 0
	return t.OfDigest(ctx, sha256, func(id string, n int) (bool, error) {
		r, known, err := t.Resource(id)
		if err != nil {
			return false, err
		}
		read++
		return (!known || r.Host != host || f(id, ns.VersionID(id, n))) && read < sameBytesRead, nil
	})
}

// markErrorPages marks a host's versions with some bytes as error pages. They stay in the archive under their IRIs, and
// no longer count as versions of the data.
func (u *update) markErrorPages(ctx context.Context, host string, sha256 [32]byte, why string) error {
	var versions []string
	err := eachOfHost(ctx, u.records, host, sha256, func(_, version string) bool {
		versions = append(versions, version)
		return len(versions) < sameBytesMarked
	})
	if err != nil {
		return err
	}
	written := 0
	for _, version := range versions {
		n, err := u.markErrorPage(version, why)
		if written += n; err != nil || written > sameBytesWritten {
			return err
		}
	}
	return nil
}

// markErrorPage marks one version. written is about how many bytes of strangers' texts it rewrote.
func (u *update) markErrorPage(version, why string) (written int, err error) {
	v, known, err := u.records.Version(version)
	if err != nil || !known || v.ErrorPage != "" {
		return 0, err
	}
	marked := v
	marked.ErrorPage = why
	id, n, _ := ns.SplitVersionID(version)
	before, _, err := u.records.Resource(id)
	if err != nil {
		return 0, err
	}
	after := before
	after.ErrorPages++
	if err := u.records.SetVersion(marked); err != nil {
		return 0, err
	}
	if err := u.records.Delete(storedSpace, storedKey(id, n)); err != nil { // error pages have no stored record
		return 0, err
	}
	if err := u.records.SaveResource(before, after); err != nil {
		return 0, err
	}
	if err := u.tallies.RemoveVersion(after, v); err != nil {
		return 0, err
	}
	written = headersSize(v.Headers) + headersSize(v.Request) + sourcesSize(after.Sources)
	return written, describe.Replace(u.triples, describe.Version(u.mint, v), describe.Version(u.mint, marked))
}
