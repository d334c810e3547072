package app

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/bundle"
	"odarchive/sparqlapi/fileserve"
	"odarchive/sparqlapi/memento"
	"odarchive/sparqlapi/problem"
)

// versions is the archive as a zip needs it: by IRI, by URL, by id, by type.
type versions struct{ *archive.Archive }

var _ bundle.Archive = versions{}

// Find implements bundle.Archive.
func (a versions) Find(ctx context.Context, addresses []string) ([]bundle.Entry, error) {
	wanted := make([]archive.Wanted, len(addresses))
	each(len(addresses), func(i int) { wanted[i] = a.wanted(addresses[i]) })
	entries, err := a.entries(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return entries, a.members(ctx, addresses, entries)
}

// maxUnpacked bounds what the members of one look-up unpack to: each is unpacked once to be measured and once to be sent.
const maxUnpacked = 4 << 30

// members puts in the entries of those addresses that are files inside versions.
func (a versions) members(ctx context.Context, addresses []string, entries []bundle.Entry) error {
	unpacked := int64(0)
	for i, address := range addresses {
		if entries[i].VersionIRI != "" || !strings.Contains(address, "/member/") {
			continue
		}
		ref, ok := a.Mint().Parse(address)
		if !ok || ref.Kind != ns.KindMember {
			continue
		}
		e, err := a.member(ctx, ref)
		if errors.Is(err, archive.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", address, err)
		}
		if unpacked += e.Size; unpacked > maxUnpacked {
			return problem.Newf(http.StatusRequestEntityTooLarge, "Too much to unpack", "the members that are selected unpack to more than %d bytes; select their versions instead", int64(maxUnpacked))
		}
		entries[i] = e
	}
	return nil
}

// member unpacks a file inside a version to learn its length and checksums. One that is there but cannot be unpacked any
// more is left out of the zip, for the rest is still worth having.
func (a versions) member(ctx context.Context, ref ns.Ref) (e bundle.Entry, err error) {
	m, err := a.Member(ctx, ref.ID, ref.Path)
	if err != nil {
		return e, err
	}
	v := m.Version
	e = bundle.Entry{
		Name: bundle.MemberName(bundle.Name(v.URL, v.N, v.FileName), m.Path), URL: v.URL, VersionIRI: a.Mint().Member(v.ID, m.Path), MediaType: m.Type, Modified: v.At,
		Member: &bundle.Member{Of: a.Mint().Version(v.ID), Write: func(w io.Writer) error { return a.Extract(ctx, m, w) }},
	}
	sha, sum, crc, size := sha256.New(), md5.New(), crc32.NewIEEE(), counter(0)
	err = a.Extract(ctx, m, io.MultiWriter(sha, sum, crc, &size))
	if err == nil {
		e.SHA256, e.MD5, e.CRC32, e.Size = [32]byte(sha.Sum(nil)), [16]byte(sum.Sum(nil)), crc.Sum32(), int64(size)
		return e, nil
	}
	if ctx.Err() == nil {
		e.LeftOut = fileserve.WhyLost(m, err)
	}
	if e.LeftOut == "" {
		return e, err
	}
	return e, nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// wanted is the version that an address stands for; what is no address stands for nothing that is there.
func (a versions) wanted(address string) archive.Wanted {
	if ref, ok := a.Mint().Parse(address); ok && (ref.Kind == ns.KindVersion || ref.Kind == ns.KindColumn) {
		w, _ := archive.WantVersion(ref.ID)
		return w
	}
	if w, ok := archive.WantVersion(address); ok {
		return w
	}
	if ns.IsResourceID(address) {
		return archive.WantLatest(address)
	}
	id, err := archive.ResourceID(address)
	if err != nil {
		return archive.Wanted{}
	}
	return archive.WantLatest(id)
}

func (a versions) entries(ctx context.Context, wanted []archive.Wanted) ([]bundle.Entry, error) {
	found, err := a.Archive.Find(ctx, wanted)
	if err != nil {
		return nil, err
	}
	entries := make([]bundle.Entry, len(found))
	each(len(found), func(i int) {
		if s := &found[i]; s.ID != "" {
			entries[i] = bundle.EntryOf(s, a.Mint().Version(s.ID))
		}
	})
	return entries, nil
}

// each calls f with 0 to n-1, on all processors.
func each(n int, f func(i int)) {
	var done sync.WaitGroup
	share := max(1024, n/runtime.GOMAXPROCS(0)+1)
	for from := 0; from < n; from += share {
		done.Go(func() {
			for i := from; i < min(from+share, n); i++ {
				f(i)
			}
		})
	}
	done.Wait()
}

// OfType implements bundle.Archive.
func (a versions) OfType(ctx context.Context, mediaType string) ([]bundle.Entry, error) {
	types, err := a.typesLike(ctx, mediaType)
	if err != nil {
		return nil, err
	}
	var wanted []archive.Wanted
	for _, t := range types {
		err := a.IDsOfType(ctx, t, func(id string) { wanted = append(wanted, archive.WantLatest(id)) })
		if err != nil {
			return nil, err
		}
	}
	return a.entries(ctx, wanted)
}

// typesLike are the media types that a name stands for: itself, or those with a subtype that is, ends in or begins with
// the short word ("csv", "json", "turtle").
func (a versions) typesLike(ctx context.Context, name string) ([]string, error) {
	name = strings.ToLower(name)
	if strings.Contains(name, "/") {
		return []string{name}, nil
	}
	known, err := a.Types(ctx)
	if err != nil {
		return nil, err
	}
	var like []string
	for _, t := range known {
		_, subtype, _ := strings.Cut(t.Key, "/")
		if subtype == name || strings.HasSuffix(subtype, "+"+name) || strings.HasSuffix(subtype, "."+name) || strings.TrimPrefix(subtype, "x-") == name {
			like = append(like, t.Key)
		}
	}
	return like, nil
}

// lookup is the archive for handlers that take "not found" as an answer, not as an error.
type lookup struct{ archive *archive.Archive }

var (
	_ fileserve.Archive = lookup{}
	_ memento.Archive   = lookup{}
)

func known[T any](value T, err error) (T, bool, error) {
	if errors.Is(err, archive.ErrNotFound) {
		return value, false, nil
	}
	return value, err == nil, err
}

// Version implements fileserve.Archive.
func (l lookup) Version(ctx context.Context, id string) (catalog.Version, bool, error) {
	return known(l.archive.Version(ctx, id))
}

// Latest implements fileserve.Archive.
func (l lookup) Latest(ctx context.Context, url string) (catalog.Version, bool, error) {
	return known(l.archive.Latest(ctx, url))
}

// TimeMap implements memento.Archive.
func (l lookup) TimeMap(ctx context.Context, url string) ([]catalog.Version, error) {
	all, _, err := known(l.archive.Versions(ctx, url))
	return slices.DeleteFunc(all, func(v catalog.Version) bool { return v.ErrorPage != "" }), err
}
