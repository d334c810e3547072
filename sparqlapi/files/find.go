package files

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
	"strings"
	"sync"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/examine"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

// BundleArchive finds versions and the files inside them. Its methods may be called concurrently.
type BundleArchive interface {
	// Find returns for each wanted version what is stored of it, with an empty ID if nothing is.
	Find(ctx context.Context, wanted []archive.Wanted) ([]archive.Stored, error)
	// Member returns a file inside a version; an unknown one is an error that wraps archive.ErrNotFound.
	Member(ctx context.Context, versionID, path string) (archive.Member, error)
	// Extract writes a member's bytes, within limits of size, ratio and time.
	Extract(ctx context.Context, m archive.Member, dst io.Writer) error
	// Types lists the media types of the archive.
	Types(ctx context.Context) ([]catalog.Count, error)
	// IDsOfType calls f with the id of each resource whose latest version has the media type.
	IDsOfType(ctx context.Context, mediaType string, f func(id string)) error
}

var _ BundleArchive = (*archive.Archive)(nil)

// finder makes entries of what an archive finds.
type finder struct {
	BundleArchive
	mint ns.Mint
}

// find returns the entry of each address: the IRI or id of a version, the IRI of a file inside a version, or the URL or
// id of a resource, which means its latest version. The entry of an unknown address has no ID.
func (f finder) find(ctx context.Context, addresses []string) ([]Entry, error) {
	wanted := make([]archive.Wanted, len(addresses))
	inParallel(len(addresses), func(i int) { wanted[i] = f.wanted(addresses[i]) })
	entries, err := f.stored(ctx, wanted)
	if err != nil {
		return nil, err
	}
	return entries, f.addMembers(ctx, addresses, entries)
}

func (f finder) stored(ctx context.Context, wanted []archive.Wanted) ([]Entry, error) {
	found, err := f.BundleArchive.Find(ctx, wanted)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(found))
	for i := range found {
		entries[i].Stored = found[i]
	}
	return entries, nil
}

// wanted returns the version that an address means. The zero value, which matches no version, is for other addresses.
func (f finder) wanted(address string) archive.Wanted {
	if ref, ok := f.mint.Parse(address); ok && (ref.Kind == ns.KindVersion || ref.Kind == ns.KindColumn) {
		w, _ := archive.WantVersion(ref.ID)
		return w
	}
	if w, ok := archive.WantVersion(address); ok {
		return w
	}
	if ns.IsResourceID(address) {
		return archive.WantLatest(address)
	}
	id, err := records.ResourceID(address)
	if err != nil {
		return archive.Wanted{}
	}
	return archive.WantLatest(id)
}

// inParallel calls f with 0 to n-1, on all processors.
func inParallel(n int, f func(i int)) {
	var running sync.WaitGroup
	share := max(1024, n/runtime.GOMAXPROCS(0)+1)
	for from := 0; from < n; from += share {
		running.Go(func() {
			for i := from; i < min(from+share, n); i++ {
				f(i)
			}
		})
	}
	running.Wait()
}

// maxUnpacked bounds what the members of one look-up unpack to: each is unpacked once to be measured and once to be
// sent.
const maxUnpacked = 4 << 30

// addMembers sets the entries of the addresses that are files inside versions.
func (f finder) addMembers(ctx context.Context, addresses []string, entries []Entry) error {
	unpacked := int64(0)
	for i, address := range addresses {
		if entries[i].ID != "" || !strings.Contains(address, "/member/") {
			continue
		}
		ref, ok := f.mint.Parse(address)
		if !ok || ref.Kind != ns.KindMember {
			continue
		}
		e, err := f.member(ctx, ref)
		if errors.Is(err, archive.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("unpack %s: %w", address, err)
		}
		if unpacked += e.Ref.Size; unpacked > maxUnpacked {
			return problem.Newf(http.StatusRequestEntityTooLarge, "Too much to unpack",
				"the selected members unpack to more than %d bytes; select their versions instead", int64(maxUnpacked))
		}
		entries[i] = e
	}
	return nil
}

// member unpacks a file inside a version to measure its length and checksums. If the file exists but cannot be
// unpacked, its entry is left out of the zip, because the rest is still useful.
func (f finder) member(ctx context.Context, ref ns.Ref) (e Entry, err error) {
	m, err := f.BundleArchive.Member(ctx, ref.ID, ref.Path)
	if err != nil {
		return e, err
	}
	v := m.Version
	e = Entry{
		Stored: archive.Stored{ID: v.ID, URL: v.URL, N: v.N, FileName: v.FileName, Type: m.Type, At: v.At},
		Member: &Member{Path: m.Path, Write: func(w io.Writer) error { return f.Extract(examine.Exporting(ctx), m, w) }},
	}
	sha, sum, crc, size := sha256.New(), md5.New(), crc32.NewIEEE(), meter{}
	if err = f.Extract(ctx, m, io.MultiWriter(sha, sum, crc, &size)); err == nil {
		e.Ref.SHA256, e.Ref.MD5, e.Ref.CRC32, e.Ref.Size = [32]byte(sha.Sum(nil)), [16]byte(sum.Sum(nil)), crc.Sum32(), size.size
		return e, nil
	}
	if ctx.Err() == nil {
		e.LeftOut = WhyLost(m, err)
	}
	if e.LeftOut == "" {
		return e, err
	}
	return e, nil
}

// ofType returns the latest versions of a media type, or of the types that a short word such as "csv" means.
func (f finder) ofType(ctx context.Context, name string) ([]Entry, error) {
	types, err := f.typesNamed(ctx, name)
	if err != nil {
		return nil, err
	}
	var wanted []archive.Wanted
	for _, t := range types {
		err := f.IDsOfType(ctx, t, func(id string) { wanted = append(wanted, archive.WantLatest(id)) })
		if err != nil {
			return nil, err
		}
	}
	return f.stored(ctx, wanted)
}

// typesNamed returns the media types that a name means: a media type means itself, and a short word ("csv", "json",
// "turtle") every type of the archive whose subtype is the word, ends in it after "+" or ".", or is "x-" and the word.
func (f finder) typesNamed(ctx context.Context, name string) ([]string, error) {
	name = strings.ToLower(name)
	if strings.Contains(name, "/") {
		return []string{name}, nil
	}
	known, err := f.Types(ctx)
	if err != nil {
		return nil, err
	}
	var named []string
	for _, t := range known {
		_, subtype, _ := strings.Cut(t.Key, "/")
		if subtype == name || strings.HasSuffix(subtype, "+"+name) || strings.HasSuffix(subtype, "."+name) ||
			strings.TrimPrefix(subtype, "x-") == name {
			named = append(named, t.Key)
		}
	}
	return named, nil
}
