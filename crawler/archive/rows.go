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
	in := inspect.Input{Found: detect.Detection{Type: v.Type}, Name: v.FileName, Size: body.Size(), Body: body}
	err = inspect.EachRowFrom(ctx, in, t.Member, t.Type, t.Charset, t.Index, t.Profile, inspect.Limits{}, marks, f)
	if errors.Is(err, unpack.ErrNotFound) {
		return records.NotFound("member", t.Member)
	}
	return err
}
