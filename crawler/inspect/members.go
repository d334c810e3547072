package inspect

import (
	"bytes"
	"context"
	"errors"
	"io"

	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/unpack"
)

// errEnough ends the walk once enough members have been counted.
var errEnough = errors.New("enough members")

// members lists the members of an archive or compressed file, and examines the small ones.
func (l *look) members(in Input) {
	err := unpack.Walk(l.ctx, in.Body, in.Size, in.Found.Type, l.limits.unpack(in), func(m unpack.Member) error {
		if len(l.found.Members) >= l.limits.MaxMembers || len(m.Path) > l.paths {
			return l.omitMember()
		}
		l.paths -= len(m.Path)
		member, err := l.member(m, in.Base)
		l.found.Members = append(l.found.Members, member)
		if err != nil {
			l.fault(m.Path, err)
		}
		return l.ctx.Err()
	})
	if err != nil && !errors.Is(err, errEnough) {
		l.fault(in.Name, err)
	}
	l.shapefiles(in)
}

// unpack returns the limits for opening an archive. They are the same for listing its members and for extracting one,
// since the paths depend on them.
func (l Limits) unpack(in Input) unpack.Limits {
	return unpack.Limits{Name: in.Name, TempDir: l.TempDir, Temp: l.Temp, MaxMembers: l.MaxMembers + maxOmitted}
}

// Extract writes the bytes of one member of an archive to dst. path is the one that File listed. Errors are those of
// package unpack.
func Extract(ctx context.Context, in Input, path string, limits Limits, dst io.Writer) error {
	limits = limits.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	return unpack.Extract(ctx, in.Body, in.Size, in.Found.Type, path, limits.unpack(in), dst)
}

// member examines one member. It reads the bytes into memory, at most MaxProbe.
func (l *look) member(m unpack.Member, base string) (Member, error) {
	member := Member{Path: m.Path, Size: m.Size, Modified: m.Modified}
	if m.Packed || m.Size > l.limits.MaxProbe {
		return member, nil
	}
	r, err := m.Open()
	if err != nil {
		return member, err
	}
	body, err := io.ReadAll(io.LimitReader(r, l.limits.MaxProbe+1))
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err != nil || int64(len(body)) > l.limits.MaxProbe {
		return member, err
	}
	member.Size = int64(len(body))
	found, err := detect.File(l.ctx, detect.Input{Name: m.Path, Size: member.Size, Body: bytes.NewReader(body)})
	if err != nil {
		return member, err
	}
	member.Type, member.Charset = found.Type, found.Charset
	inner := Input{Found: found, Name: m.Path, Base: base, Size: member.Size, Body: bytes.NewReader(body)}
	if found.Compression == "" {
		member.Document = l.document(m.Path, inner)
	}
	if found.Compression == "" && !unpack.Known(found.Type) && found.Type != shapefileType { // shapefiles wait for their parts
		member.Tables, member.RDF = l.boundTables(l.tables(m.Path, inner)), l.boundRDF(l.rdf(inner))
	}
	return member, nil
}
