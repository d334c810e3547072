package inspect

import (
	"context"
	"io"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/inspect/detect"
)

// shapefileType is the type of files whose tables need other members of their archive.
const shapefileType = "application/vnd.shp"

// beside returns a function that returns the member of an archive with the same path as another, but for its extension.
// Of members that cannot be read, or are too large, it says that there are none. known are the paths that there are,
// nil if nothing is known of them; used, if not nil, gets the paths of those that were returned.
func beside(ctx context.Context, archive Input, member string, limits Limits, known func(path string) bool,
	used *[]string) func(string) (io.ReaderAt, int64, bool) {
	base := strings.TrimSuffix(member, path.Ext(member))
	return func(extension string) (io.ReaderAt, int64, bool) {
		for _, p := range []string{base + strings.ToLower(extension), base + strings.ToUpper(extension)} {
			if known != nil && !known(p) {
				continue
			}
			in, err := memberInput(ctx, archive, p, limits)
			if err != nil {
				continue
			}
			if used != nil {
				*used = append(*used, p)
			}
			return in.Body, in.Size, true
		}
		return nil, 0, false
	}
}

// shapefiles profiles the shapefiles among the members of an archive, with the members that belong to them. The table
// of a .dbf file is that of its shapefile, and not listed twice.
func (l *look) shapefiles(archive Input) {
	var used []string
	members := l.found.Members
	at := func(path string) int {
		return slices.IndexFunc(members, func(m Member) bool { return m.Path == path })
	}
	for i := range members {
		m := &members[i]
		if m.Type != shapefileType || m.Size > l.limits.MaxProbe || l.ctx.Err() != nil {
			continue
		}
		in, err := memberInput(l.ctx, archive, m.Path, l.limits)
		if err != nil {
			l.fault(m.Path, err)
			continue
		}
		used = used[:0]
		in.Found = detect.Detection{Type: m.Type}
		in.beside = beside(l.ctx, archive, m.Path, l.limits, func(p string) bool { return at(p) >= 0 }, &used)
		found := l.tables(m.Path, in)
		if len(found) > 0 {
			for _, p := range used {
				other := &members[at(p)]
				for _, t := range other.Tables {
					l.columns += len(t.Columns)
				}
				other.Tables = nil
			}
		}
		m.Tables = l.boundTables(found)
	}
}
