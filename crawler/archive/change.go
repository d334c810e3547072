package archive

import (
	"context"
	"errors"
	"fmt"
	"io"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
)

// Compare reports what changed from one version to another; they need not be neighbours.
func (a *Archive) Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error) {
	older, _, closeOlder, err := a.Side(ctx, from)
	if err != nil {
		return nil, err
	}
	defer closeOlder.Close()
	newer, _, closeNewer, err := a.Side(ctx, to)
	if err != nil {
		return nil, err
	}
	defer closeNewer.Close()
	report, err := diff.Compare(ctx, older, newer, o)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from.ID, to.ID, err)
	}
	return report, nil
}

// Change returns how a version differs from the one before, nil if unknown.
func (a *Archive) Change(ctx context.Context, id string) (s *diff.Summary, err error) {
	err = a.view(func(t records.Txn) (err error) {
		s, err = t.Change(id)
		return err
	})
	return s, err
}

// Side opens a version for comparison, and returns what is inside it. The caller closes the io.Closer.
func (a *Archive) Side(ctx context.Context, v catalog.Version) (diff.Side, *inspect.Inside, io.Closer, error) {
	var in *inspect.Inside
	err := a.view(func(t records.Txn) (err error) {
		in, err = t.InsideSketched(v.ID)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return diff.Side{}, nil, nil, err
	}
	body, err := a.open(v)
	if err != nil {
		return diff.Side{}, nil, nil, fmt.Errorf("version %s: %w", v.ID, err)
	}
	file := inspect.Input{Found: detect.Detection{Type: v.Type, Charset: v.Charset}, Name: v.FileName, Size: body.Size(), Body: body}
	return diff.SideOf(file, in), in, body, nil
}
