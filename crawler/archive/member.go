package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/unpack"
)

// Member is one file inside a version that is an archive or compressed.
type Member struct {
	Version catalog.Version
	inspect.Member
	Listed bool // false if the version has more members than are listed: then only Extract finds out whether this one exists
}

// Member returns the member of a version at a path.
func (a *Archive) Member(ctx context.Context, id, path string) (Member, error) {
	var m Member
	var err error
	if m.Version, err = a.Version(ctx, id); err != nil {
		return m, err
	}
	in, err := a.Inside(ctx, id)
	if err != nil {
		return m, err
	}
	if in != nil {
		if i := slices.IndexFunc(in.Members, func(m inspect.Member) bool { return m.Path == path }); i >= 0 {
			m.Member, m.Listed = in.Members[i], true
			return m, nil
		}
	}
	if in == nil || !in.More {
		return m, records.NotFound("member", path)
	}
	m.Member = inspect.Member{Path: path, Size: -1}
	return m, nil
}

// Extract writes the bytes of a member to dst, within the limits of package unpack, whose errors are in the chain.
func (a *Archive) Extract(ctx context.Context, m Member, dst io.Writer) error {
	body, err := a.open(m.Version)
	if err != nil {
		return err
	}
	defer body.Close()
	doc, err := a.examine.Open(ctx, examine.Visitors, aboutOf(m.Version), examine.Body{Size: body.Size(), R: body})
	if err != nil {
		return fmt.Errorf("unpack %s: %w", m.Version.ID, err)
	}
	defer doc.Close()
	err = doc.Extract(ctx, fileOf(m.Version), m.Path, dst)
	if errors.Is(err, unpack.ErrNotFound) {
		return records.NotFound("member", m.Path)
	}
	return err
}
