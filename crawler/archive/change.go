package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/examine"
)

// compareTime limits how long comparing two versions may take.
const compareTime = 5 * time.Minute

// Compare reports what changed from one version to another; they need not be neighbours.
func (a *Archive) Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error) {
	older, closeOlder, err := a.Side(ctx, from)
	if err != nil {
		return nil, err
	}
	defer closeOlder.Close()
	newer, closeNewer, err := a.Side(ctx, to)
	if err != nil {
		return nil, err
	}
	defer closeNewer.Close()
	doc, err := a.examine.Open(ctx, examine.Visitors, aboutOf(from), older.Body)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from.ID, to.ID, err)
	}
	defer doc.Close()
	report, err := doc.Compare(ctx, older, newer, false, o, compareTime)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s: %w", from.ID, to.ID, err)
	}
	return report, nil
}

func aboutOf(v catalog.Version) examine.About {
	return examine.About{SHA256: v.Digests.SHA256, URL: v.URL}
}

// Change returns how a version differs from the one before, nil if unknown.
func (a *Archive) Change(ctx context.Context, id string) (s *diff.Summary, err error) {
	err = a.view(func(t records.Txn) (err error) {
		s, err = t.Change(id)
		return err
	})
	return s, err
}

// Side opens a version for comparison, with what is inside it. The caller closes the io.Closer.
func (a *Archive) Side(ctx context.Context, v catalog.Version) (side examine.Side, closer io.Closer, err error) {
	err = a.view(func(t records.Txn) (err error) {
		side.Inside, err = t.InsidePacked(v.ID)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return examine.Side{}, nil, err
	}
	body, err := a.open(v)
	if err != nil {
		return examine.Side{}, nil, fmt.Errorf("version %s: %w", v.ID, err)
	}
	side.Type, side.Charset, side.Name, side.Body = v.Type, v.Charset, v.FileName, examine.Body{Size: body.Size(), R: body}
	return side, body, nil
}
