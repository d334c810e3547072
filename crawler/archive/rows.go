package archive

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/unpack"
)

// Table is one table of a version.
type Table struct {
	Member  string // path of the archive's member that contains it, "" for the version itself
	Type    string // media type of that file
	Charset string
	Index   int // of the table in that file
	Profile *csvprofile.Profile
}

// Tables returns the tables of a version, in the order of its file, and what is inside the version (nil if unknown).
func (a *Archive) Tables(ctx context.Context, v catalog.Version) ([]Table, *inspect.Inside, error) {
	in, err := a.Inside(ctx, v.ID)
	if err != nil || in == nil {
		return nil, nil, err
	}
	var list []Table
	add := func(member, typ, charset string, tables []*csvprofile.Profile) {
		for i, p := range tables {
			if p != nil {
				list = append(list, Table{member, typ, charset, i, p})
			}
		}
	}
	add("", v.Type, v.Charset, in.Tables)
	for _, m := range in.Members {
		add(m.Path, m.Type, m.Charset, m.Tables)
	}
	return list, in, nil
}

// EachRowFrom calls f with the data rows of a table, as inspect.EachRowFrom does.
func (a *Archive) EachRowFrom(ctx context.Context, v catalog.Version, t Table, marks inspect.Marks, f func(cells [][]byte) error) error {
	body, err := a.open(v)
	if err != nil {
		return fmt.Errorf("version %s: %w", v.ID, err)
	}
	defer body.Close()
	doc, err := a.examine.Open(ctx, examine.Visitors, aboutOf(v), examine.Body{Size: body.Size(), R: body})
	if err != nil {
		return fmt.Errorf("rows of %s: %w", v.ID, err)
	}
	defer doc.Close()
	err = doc.EachRow(ctx, fileOf(v), examine.Table(t), marks, f)
	if errors.Is(err, unpack.ErrNotFound) {
		return records.NotFound("member", t.Member)
	}
	return err
}

// fileOf returns what is known of a version beside its bytes.
func fileOf(v catalog.Version) examine.File {
	return examine.File{Found: detect.Detection{Type: v.Type}, Name: v.FileName}
}
