package jobs

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/preserve"
	"odarchive/triplestore/kv"

	"github.com/dustin/go-humanize"
)

// Preserved is a preserve.Receiver that archives what an export holds. Each version is a transaction, so that what was
// received before a crash stays, and receiving it again adds nothing. Bytes that were withdrawn here and URLs that are
// never kept are counted, and are no error. Close must be called at the end.
type Preserved struct {
	to    *Importer
	seed  catalog.Seed
	Count Imported
}

// Preserved returns a receiver that puts files and their versions into the archive. The URLs are registered, but not
// crawled until they are added.
func (c *Importer) Preserved() *Preserved { return &Preserved{to: c} }

var _ preserve.Receiver = (*Preserved)(nil)

// Begin implements preserve.Receiver: it registers the file.
func (p *Preserved) Begin(ctx context.Context, o preserve.Object) error {
	c := p.to
	if rest, is := strings.CutPrefix(o.URL, preserve.Imported); is {
		var err error
		if o.URL, err = p.address(ctx, preserve.Imported+rest); err != nil {
			return err
		}
	}
	seed, err := crawler.CleanSeed(catalog.Seed{URL: o.URL, Title: o.Title, Format: o.Format})
	if err != nil {
		p.Count.Faults++
		return &preserve.Bad{Err: err}
	}
	p.seed = seed
	seeds := []catalog.Seed{}
	for _, s := range o.Sources {
		one := seed
		one.Portal, one.Dataset, one.DatasetTitle = s.Portal, s.Dataset, s.DatasetTitle
		if one, err = crawler.CleanSeed(one); err == nil && s.Delisted.IsZero() {
			seeds = append(seeds, one)
		}
	}
	if len(seeds) == 0 {
		seeds = append(seeds, seed)
	}
	also := func(txn *kv.Txn) error { return c.Pipeline.Frontier.ImportIn(txn, seed.URL) }
	_, err = c.Pipeline.Archive.Register(ctx, c.Pipeline.Clock(), archive.Listing{Seeds: seeds}, also)
	return err
}

// address returns the URL of a file that has none: below the base that the archive had when it was imported first.
func (p *Preserved) address(ctx context.Context, path string) (string, error) {
	mint := p.to.Pipeline.Archive.Mint()
	for _, base := range mint.Bases() {
		_, err := p.to.Pipeline.Archive.Resource(ctx, base+path)
		if err == nil {
			return base + path, nil
		}
		if !errors.Is(err, archive.ErrNotFound) {
			return "", err
		}
	}
	return mint.Base + path, nil
}

// Version implements preserve.Receiver.
func (p *Preserved) Version(ctx context.Context, v preserve.Version, body io.Reader) error {
	outcome, err := p.keep(ctx, v, body)
	if isRefused(err) { // an archive that must not have it has no fault
		p.Count.Withdrawn++
		return nil
	}
	if _, ofFile := errors.AsType[*captureError](err); ofFile && !ends(ctx, err) {
		err = &preserve.Bad{Err: err}
	}
	switch {
	case err != nil:
		p.Count.Faults++
		return err
	case outcome == catalog.Archived:
		p.Count.Versions++
	case outcome == catalog.Unchanged:
		p.Count.Unchanged++
	default:
		p.Count.Others++
	}
	return nil
}

func (p *Preserved) keep(ctx context.Context, v preserve.Version, in io.Reader) (outcome catalog.Outcome, err error) {
	c := p.to
	bad := func(err error) error { return &captureError{fmt.Errorf("version %d: %w", v.N, err)} }
	if err := cmp.Or(v.Check(), c.checkDate(v.Time)); err != nil {
		return "", bad(err)
	}
	if in == nil {
		return catalog.NoVersion, p.keepRecord(ctx, v)
	}
	body := c.Spool.Create()
	defer func() { err = errors.Join(err, body.Remove()) }()
	limit := c.Pipeline.MaxBody
	n, err := io.Copy(body, io.LimitReader(&reader{ctx, in}, limit+1))
	if err == nil && n > limit {
		err = bad(fmt.Errorf("it is longer than --max-body, %s", humanize.IBytes(uint64(c.Pipeline.MaxBody))))
	}
	if err != nil {
		return "", err
	}
	if n == 0 {
		return catalog.NoVersion, nil
	}
	if err := body.Finish(); err != nil {
		return "", err
	}
	sum := body.Digests().SHA256
	if got := hex.EncodeToString(sum[:]); v.SHA256 != "" && got != v.SHA256 {
		return "", bad(fmt.Errorf("its SHA-256 is %s, not that of its record", got))
	}
	im := crawler.Imported{
		URL: p.seed.URL, FinalURL: v.FinalURL, At: v.Time, Status: v.Status, Header: v.HTTPHeader(), Truncated: v.Truncated,
		Format: v.Format, Exchange: v.Exchange.Catalog(), Body: body,
	}
	outcome, err = c.Pipeline.Import(ctx, im)
	if w, is := errors.AsType[*catalog.WithdrawnError](err); is { // its number stays taken
		digests := catalog.Digests{SHA256: sum, MD5: body.Digests().MD5}
		if _, failed := c.Pipeline.ImportTombstone(ctx, p.tombstone(v, digests, n, w.Withdrawal)); failed != nil {
			return outcome, failed
		}
	}
	return outcome, err
}

// keepRecord keeps the record of a version that was withdrawn. Without its digests there is nothing to keep.
func (p *Preserved) keepRecord(ctx context.Context, v preserve.Version) error {
	sha, err := hex.DecodeString(v.SHA256)
	md5, err5 := hex.DecodeString(v.MD5)
	var digests catalog.Digests
	if v.Withdrawal == nil || err != nil || err5 != nil || len(sha) != len(digests.SHA256) || len(md5) != len(digests.MD5) || v.Size < 0 {
		return nil
	}
	copy(digests.SHA256[:], sha)
	copy(digests.MD5[:], md5)
	order := catalog.WithdrawalOrder{Targets: []string{v.URL}, Reason: v.Withdrawal.Reason, Basis: v.Withdrawal.Basis, By: v.Withdrawal.By,
		Status: v.Withdrawal.Status}
	at := v.Withdrawal.At
	if now := p.to.Pipeline.Clock(); at.After(now) {
		at = now
	}
	w, err := order.Withdrawal(at)
	if err != nil {
		return &captureError{fmt.Errorf("version %d was withdrawn: %w", v.N, err)}
	}
	_, err = p.to.Pipeline.ImportTombstone(ctx, p.tombstone(v, digests, v.Size, w))
	return err
}

func (p *Preserved) tombstone(v preserve.Version, digests catalog.Digests, size int64, w catalog.Withdrawal) crawler.Tombstone {
	return crawler.Tombstone{URL: p.seed.URL, FinalURL: v.FinalURL, At: v.Time, Status: v.Status, Digests: digests, Size: size,
		Type: v.MediaType, Charset: v.Charset, FileName: v.FileName, Withdrawn: w}
}

// End implements preserve.Receiver.
func (p *Preserved) End(context.Context) error { return nil }

// Close finishes what was received.
func (p *Preserved) Close(ctx context.Context) error { return p.to.Pipeline.JoinAll(ctx) }
