package faces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/preserve"
	"odarchive/ns"
)

// Preserving selects what an export for preservation consists of.
type Preserving struct {
	Query string // that names versions; "" for everything
	// Whole exports all versions of each file that the query names.
	Whole bool
	// Held returns what the receiver has of a file already, nil if nothing: then only what is new is sent. It may be
	// nil. Files of which the receiver has a version that was withdrawn since are sent anew, whether the query names
	// them or not.
	Held     func(url string) *preserve.Held
	Bad      func(error) // is called for each file or version that cannot be exported
	Progress func(done, all int)
}

// Hello returns what a stream of the selection begins with.
func (a *Faces) Hello(query string) preserve.Hello {
	m := a.store.Mint
	h := preserve.Hello{Agent: m.Agent(), Identifier: m.Base, Title: "Files of the web and their versions, archived by " + m.Base}
	if query != "" {
		h.Identifier = m.Base + "get/files/sparql?q=" + url.QueryEscape(query)
	}
	return h
}

// Preserve sends versions to a receiver, file by file, in the order of their numbers.
func (a *Faces) Preserve(ctx context.Context, p Preserving, to preserve.Receiver) error {
	sent := map[string]bool{} // ids of resources; only kept if the receiver holds something
	send := func(id string, only map[int]bool) error {
		if p.Held != nil {
			sent[id] = true
		}
		return a.sendFile(ctx, p, id, only, to)
	}
	if err := a.eachSelected(ctx, p, send); err != nil {
		return err
	}
	if p.Held == nil {
		return nil
	}
	var withdrawn []string
	if err := a.store.Archive.WithdrawnResources(ctx, func(id string) { withdrawn = append(withdrawn, id) }); err != nil {
		return err
	}
	for _, id := range withdrawn {
		r, err := a.store.Archive.Resource(ctx, id)
		if err != nil {
			return err
		}
		if held := p.Held(r.URL); sent[id] || held == nil {
			continue
		}
		if err := send(id, nil); err != nil {
			return err
		}
	}
	return nil
}

// filesAtOnce is how many files of the whole archive are looked up together. The archive's state is not held while they
// are sent.
const filesAtOnce = 500

// eachSelected calls f with the id of each selected resource, and the numbers of its versions that are, nil for all.
func (a *Faces) eachSelected(ctx context.Context, p Preserving, f func(id string, only map[int]bool) error) error {
	if p.Query == "" {
		return a.eachArchived(ctx, p.Progress, f)
	}
	entries, err := a.named(ctx, p.Query)
	if err != nil {
		return err
	}
	type numbers = map[int]bool
	files, order := map[string]numbers{}, []string{}
	for _, e := range entries {
		id, n, ok := ns.SplitVersionID(e.ID)
		if !ok || e.LeftOut != "" {
			p.Bad(fmt.Errorf("%s: %s", cmp.Or(e.URL, e.ID), cmp.Or(e.LeftOut, "it is no version")))
			continue
		}
		if files[id] == nil {
			files[id] = numbers{}
			order = append(order, id)
		}
		files[id][n] = true
	}
	if len(entries) == 0 {
		return errors.New("the query names no file of this archive")
	}
	for i, id := range order {
		p.Progress(i, len(order))
		only := files[id]
		if p.Whole {
			only = nil
		}
		if err := f(id, only); err != nil {
			return err
		}
	}
	return nil
}

func (a *Faces) eachArchived(ctx context.Context, progress func(done, all int), f func(id string, only map[int]bool) error) error {
	after, done := "", 0
	for {
		var ids []string
		err := a.store.Archive.Archived(ctx, after, func(r catalog.Resource) bool {
			ids = append(ids, r.ID)
			return len(ids) < filesAtOnce
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			progress(done, -1)
			done++
			if err := f(id, nil); err != nil {
				return err
			}
		}
		after = ids[len(ids)-1]
	}
}

// sendFile sends the versions of a resource that the receiver does not have.
func (a *Faces) sendFile(ctx context.Context, p Preserving, id string, only map[int]bool, to preserve.Receiver) error {
	r, err := a.store.Archive.Resource(ctx, id)
	if err != nil {
		return err
	}
	versions, err := a.store.Archive.Versions(ctx, id)
	if err != nil {
		return err
	}
	slices.SortFunc(versions, func(x, y catalog.Version) int { return cmp.Compare(x.N, y.N) })
	o := preserve.Object{URL: r.URL, Title: r.Title, Format: r.Format, Sources: r.Sources}
	first := 0
	if p.Held != nil {
		if held := p.Held(r.URL); held != nil {
			if o.Anew, err = isOutdated(versions, held); err != nil {
				p.Bad(fmt.Errorf("%s: %w", r.URL, err))
				return nil
			}
			if first = len(held.Versions); o.Anew {
				first = 0
			}
		}
	}
	if first >= len(versions) {
		return nil
	}
	if err := to.Begin(ctx, o); err != nil {
		return err
	}
	for _, v := range versions[first:] {
		if only != nil && !only[v.N] {
			continue
		}
		if err := a.sendVersion(ctx, r, v, to); err != nil {
			return err
		}
	}
	return to.End(ctx)
}

// isOutdated reports whether a receiver has the bytes of a version that was withdrawn. It returns an error if what it
// has is not the beginning of these versions.
func isOutdated(versions []catalog.Version, held *preserve.Held) (outdated bool, err error) {
	if len(held.Versions) > len(versions) {
		return false, fmt.Errorf("what was exported has %d versions, this archive %d: it is of another archive, or of a later state",
			len(held.Versions), len(versions))
	}
	for i, h := range held.Versions {
		v := versions[i]
		if !h.Time.Equal(v.At) {
			return false, fmt.Errorf("version %d was exported as of %s, and is of %s: it is of another archive", i, h.Time.UTC(),
				v.At.UTC())
		}
		outdated = outdated || v.Withdrawn != nil && !h.Withdrawn
	}
	return outdated, nil
}

func (a *Faces) sendVersion(ctx context.Context, r catalog.Resource, v catalog.Version, to preserve.Receiver) error {
	f, err := a.store.Archive.Fetched(v.ID)
	if err != nil {
		return err
	}
	d := preserve.Describe(f.Version, f.Visit, f.Exchange, a.store.Mint.Version(v.ID))
	d.Title, d.Format, d.Sources = r.Title, r.Format, r.Sources
	if f.Withdrawn != nil {
		return to.Version(ctx, d, nil)
	}
	body, err := a.store.Archive.Open(ctx, v.ID)
	if err != nil {
		return to.Version(ctx, d, lost{err})
	}
	return errors.Join(to.Version(ctx, d, &ofArchive{body}), body.Close())
}

// lost stands for bytes that cannot be read.
type lost struct{ err error }

func (l lost) Read([]byte) (int, error) { return 0, badBytes(l.err) }

// ofArchive reads bytes of the archive.
type ofArchive struct{ r io.Reader }

func (o *ofArchive) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	return n, badBytes(err)
}

// badBytes returns a *preserve.Bad for an error of single bytes, others as they are.
func badBytes(err error) error {
	if errors.Is(err, content.ErrDamaged) || errors.Is(err, content.ErrNotFound) || errors.Is(err, archive.ErrNotFound) ||
		errors.Is(err, catalog.ErrWithdrawn) {
		return &preserve.Bad{Err: err}
	}
	return err
}
