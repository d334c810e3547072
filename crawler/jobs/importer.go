package jobs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/captures"
	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/spool"
	"odarchive/triplestore/kv"

	"github.com/dustin/go-humanize"
)

// Importer puts what others have archived into the archive.
type Importer struct {
	Pipeline *crawler.Pipeline
	Spool    *spool.Spool
}

// Imported counts what came of an import.
type Imported struct {
	Versions  int `json:"versions"`  // new ones
	Unchanged int `json:"unchanged"` // captures of bytes that are a version already
	Withdrawn int `json:"withdrawn"` // captures of bytes that were withdrawn, or of URLs that are never kept
	Others    int `json:"others"`    // records that are no version of anything
	Faults    int `json:"faults"`
}

// registeredAtOnce is how many URLs an import registers in one transaction.
const registeredAtOnce = 500

// maxAhead is how far the clock of another archive may be ahead. A version with a later date would be the latest one
// for good, and the visits that follow would be compared with it.
const maxAhead = 24 * time.Hour

// checkDate returns an error if another archive cannot have found something at a time.
func (c *Importer) checkDate(at time.Time) error {
	switch {
	case at.After(c.Pipeline.Clock().Add(maxAhead)):
		return errors.New("its date is in the future")
	case at.Unix() < 0:
		return errors.New("its date is before 1970")
	}
	return nil
}

// ImportWARC archives the captures of a WARC or ARC file, in the order of their dates. fault is called for each fault
// of the file, and for each capture that cannot be kept; the others are imported all the same. progress is called with
// the number of captures that are done. With dry, it only counts: Versions are the captures that could be imported.
//
// The URLs are registered, but not crawled until they are added.
func (c *Importer) ImportWARC(ctx context.Context, file wacz.File, dry bool,
	fault func(warc.Fault), progress func(done, all int)) (n Imported, err error) {
	report := func(f warc.Fault) { n.Faults++; fault(f) }
	list, err := captures.Read(&reader{ctx, file.Reader(0)}, report)
	if err != nil {
		return n, err
	}
	if list.Shared { // unpacked, every record has a place of its own
		plain, err := c.unpacked(ctx, file)
		if err != nil {
			return n, err
		}
		defer func() { err = errors.Join(err, plain.Close(), os.Remove(plain.Name())) }()
		info, err := plain.Stat()
		if err != nil {
			return n, err
		}
		file = wacz.File{Name: file.Name, ReaderAt: plain, Size: info.Size()}
		if list, err = captures.Read(&reader{ctx, file.Reader(0)}, func(warc.Fault) {}); err != nil {
			return n, err
		}
	}
	n.Others = list.Others
	if dry {
		n.Versions = len(list.Captures)
		return n, nil
	}
	if err := c.registerAll(ctx, list.Captures); err != nil {
		return n, err
	}
	for i, one := range list.Captures {
		progress(i, len(list.Captures))
		outcome, err := c.importOne(ctx, file, one)
		if ends(ctx, err) {
			return n, err
		}
		switch {
		case isRefused(err):
			n.Withdrawn++
		case err != nil:
			report(warc.Fault{Offset: one.Offset(), Why: err.Error()})
		case outcome == catalog.Archived:
			n.Versions++
		default:
			n.Unchanged++
		}
	}
	return n, c.Pipeline.JoinAll(ctx)
}

// ends reports whether an error ends an import: one of the archive or the end of ctx, not one of the bytes.
func ends(ctx context.Context, err error) bool {
	_, ofFile := errors.AsType[*captureError](err)
	return err != nil && !isRefused(err) &&
		(ctx.Err() != nil || !ofFile || errors.Is(err, kv.ErrDiskFull) || errors.Is(err, kv.ErrWritesStopped))
}

// isRefused reports whether an error says that a capture must not be kept.
func isRefused(err error) bool {
	return errors.Is(err, catalog.ErrWithdrawn) || errors.Is(err, crawler.ErrNeverKept)
}

// captureError is the error of a capture whose bytes cannot be kept.
type captureError struct{ error }

func (e *captureError) Unwrap() error { return e.error }

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// unpacked returns a temporary file with the whole records of a file, without compression. A record whose block ends
// early is left out: what follows it would be taken for the rest of its block.
func (c *Importer) unpacked(ctx context.Context, file wacz.File) (*os.File, error) {
	f, err := os.CreateTemp("", "odarchive-warc-")
	if err != nil {
		return nil, err
	}
	r := warc.NewReader(&reader{ctx, file.Reader(0)}, warc.Limits{})
	for end := int64(0); ; {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if _, ok := errors.AsType[*warc.Fault](err); ok {
			continue
		}
		if err == nil {
			end, err = appendRecord(f, end, rec)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
}

// appendRecord writes a record at the end of a file, and returns the new end. Of a record whose block ends early,
// nothing remains.
func appendRecord(f *os.File, end int64, rec *warc.Record) (int64, error) {
	n, err := io.Copy(f, io.MultiReader(bytes.NewReader(rec.Head), rec.Block, strings.NewReader("\r\n\r\n")))
	if err == nil {
		return end + n, nil
	}
	if _, ofRecord := errors.AsType[*warc.Fault](err); !ofRecord {
		return end, err
	}
	if err := f.Truncate(end); err != nil {
		return end, err
	}
	_, err = f.Seek(end, io.SeekStart)
	return end, err
}

// registerAll registers the URLs of captures. They are not crawled until they are added.
func (c *Importer) registerAll(ctx context.Context, list []captures.Capture) error {
	known := map[string]bool{}
	var seeds []catalog.Seed
	register := func() error {
		var urls []string
		for _, s := range seeds {
			urls = append(urls, s.URL)
		}
		also := func(txn *kv.Txn) error { return c.Pipeline.Frontier.ImportIn(txn, urls...) }
		_, err := c.Pipeline.Archive.Register(ctx, c.Pipeline.Clock(), archive.Listing{Seeds: seeds}, also)
		seeds = seeds[:0]
		return err
	}
	for _, one := range list {
		if known[one.URL] {
			continue
		}
		known[one.URL] = true
		seed, err := crawler.CleanSeed(catalog.Seed{URL: one.URL, Format: one.Format})
		if err != nil {
			continue // importOne reports it
		}
		if seeds = append(seeds, seed); len(seeds) == registeredAtOnce {
			if err := register(); err != nil {
				return err
			}
		}
	}
	if len(seeds) == 0 {
		return nil
	}
	return register()
}

// cut returns "unspecified" if a body has fewer bytes than the head of its response announces, "" otherwise.
func cut(content captures.Content) string {
	announced, err := strconv.ParseInt(content.Header.Get("Content-Length"), 10, 64)
	if err == nil && content.Sent >= 0 && content.Sent < announced {
		return "unspecified"
	}
	return ""
}

// importOne archives one capture.
func (c *Importer) importOne(ctx context.Context, file wacz.File, one captures.Capture) (outcome catalog.Outcome, err error) {
	bad := func(err error) error {
		return &captureError{fmt.Errorf("%s of %s: %w", one.URL, warc.FormatDate(one.At), err)}
	}
	seed, err := crawler.CleanSeed(catalog.Seed{URL: one.URL, Format: one.Format})
	if err != nil {
		return "", bad(err)
	}
	if err := c.checkDate(one.At); err != nil {
		return "", bad(err)
	}
	content, err := captures.Open(file, file.Size, one)
	if err != nil {
		return "", bad(err)
	}
	body := c.Spool.Create()
	defer func() { err = errors.Join(err, body.Remove()) }()
	limit := c.Pipeline.MaxBody
	n, err := io.Copy(body, io.LimitReader(&reader{ctx, content.Body}, limit+1))
	truncated := cmp.Or(one.Truncated, cut(content))
	if errors.Is(err, io.ErrUnexpectedEOF) && truncated != "" && n > 0 {
		err = nil // the end of a compressed stream is missing, as was to be expected
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", bad(err)
	case n > limit:
		return "", bad(fmt.Errorf("it is longer than --max-body, %s", humanize.IBytes(uint64(c.Pipeline.MaxBody))))
	case n == 0:
		return catalog.NoVersion, nil
	}
	if err := body.Finish(); err != nil {
		return "", err
	}
	return c.Pipeline.Import(ctx, crawler.Imported{
		URL: seed.URL, FinalURL: one.FinalURL, At: one.At, Status: content.Status, Header: content.Header, Format: one.Format,
		Exchange: content.Exchange, Truncated: truncated, Body: body})
}
