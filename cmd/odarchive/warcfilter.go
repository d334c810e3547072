package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"

	"github.com/dustin/go-humanize/english"
	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"
)

func (c *cli) warcFilter() *cobra.Command {
	var f cdxj.Filter
	var from, to, out string
	var limit int
	cmd := &cobra.Command{
		Use:   "filter FILE... [-o FILE]",
		Short: "Copy the records that match into a new file",
		Long: `Copy the records that match all conditions, in the order of the files, to FILE or standard output. Gzip members are
copied unchanged. If FILE.cdxj, the output of 'warc index', is next to a file and newer, only the selected records are read.`,
		Example: `  odarchive warc filter crawl.warc.gz --host data.example.org --type response -o some.warc.gz
  odarchive warc filter crawl.warc.gz --url 'https://example.org/data/*' --mime text/csv --status 200 -o tables.warc.gz
  odarchive warc filter *.warc.gz --from 2024-01 --to 2024-03 --limit 100 -o early.warc.gz`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f, err = cdxj.NewFilter(f); err != nil {
				return usageError{err}
			}
			if from != "" {
				if f.From, _, err = cdxj.ParseTime(from); err != nil {
					return usagef("--from %w", err)
				}
			}
			if to != "" {
				if _, f.To, err = cdxj.ParseTime(to); err != nil {
					return usagef("--to %w", err)
				}
			}
			found := &faults{out: c.stderr}
			copied := 0
			err = c.writeTo(out, func(w io.Writer) error {
				buffered := bufio.NewWriterSize(w, 256<<10)
				s := &selection{ctx: cmd.Context(), filter: f, left: limit, out: buffered, found: found,
					compress: strings.HasSuffix(strings.ToLower(out), ".gz"), asItIs: out == "-" || out == ""}
				err := c.eachWARC(cmd.Context(), args, func(o *wacz.Opened, file wacz.File) error {
					if limit > 0 && s.left == 0 {
						return nil
					}
					return s.copyFrom(c, o, file)
				})
				copied = s.copied
				return errors.Join(err, buffered.Flush())
			})
			if err != nil {
				return err
			}
			if out != "-" && out != "" {
				fmt.Fprintf(c.stdout, "%s: %s\n", out, english.Plural(copied, "record", ""))
			}
			return found.err()
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.URL, "url", nil, "address in any spelling; all that begin so, with * at the end (repeatable)")
	fl.StringSliceVar(&f.Host, "host", nil, "names of hosts")
	fl.StringSliceVar(&f.Status, "status", nil, "status of the HTTP response: 404, or 4xx; a list")
	fl.StringSliceVar(&f.Types, "type", nil, "types of records: response, request, revisit, resource, metadata, ...")
	fl.StringSliceVar(&f.MIME, "mime", nil, "media types: text/csv, or text/*")
	fl.StringVar(&from, "from", "", "first time: 2026, 2026-01-31, 2026-01-31T12:00:00Z or 20260131120000")
	fl.StringVar(&to, "to", "", "last time, included")
	number(fl, &limit, "limit", 0, unbounded, "copy at most so many records; 0 for no limit")
	fl.StringVarP(&out, "output", "o", "-", "file to write, compressed if it ends in .gz; - for standard output, compressed as the source")
	return cmd
}

// selection copies the records that a filter selects.
type selection struct {
	ctx      context.Context
	filter   cdxj.Filter
	left     int // records that may still be copied; negative for no limit
	out      io.Writer
	found    *faults
	compress bool // write gzip members
	asItIs   bool // compress if the source is compressed
	copied   int  // records
}

// copyFrom copies the selected records of one file.
func (s *selection) copyFrom(c *cli, o *wacz.Opened, file wacz.File) error {
	magic := make([]byte, 2)
	n, _ := file.ReadAt(magic, 0)
	packed := string(magic[:n]) == "\x1f\x8b"
	if s.asItIs {
		s.compress = packed
	}
	if s.left == 0 {
		s.left = -1
	}
	if !o.Package {
		done, err := s.byIndex(file, packed)
		if done || err != nil {
			return err
		}
	}
	in, done := c.readWARC(s.ctx, file)
	defer done()
	return s.scan(in, file, packed)
}

// errEnough ends a copy when the limit is reached.
var errEnough = errors.New("the limit is reached")

// byIndex copies the selected records of a file, which it finds in the index beside the file. done is false if there is
// no usable index; then nothing was copied.
func (s *selection) byIndex(file wacz.File, packed bool) (done bool, err error) {
	name := file.Name + ".cdxj"
	source, err := os.Stat(file.Name)
	if err != nil {
		return false, nil
	}
	info, err := os.Stat(name)
	if err != nil || info.ModTime().Before(source.ModTime()) {
		return false, nil
	}
	index, err := cdxj.Open(name)
	if err != nil {
		return false, nil // the file can be read without an index
	}
	defer index.Close()
	if len(index.Metas) != 1 || index.Metas[0].Size != file.Size || index.Metas[0].File != filepath.Base(file.Name) ||
		!s.filter.Indexed(index.Metas[0].Unlisted) {
		return false, nil
	}
	var spans []cdxj.Span
	err = index.Captures(s.filter.Prefix(), func(one cdxj.Capture) error {
		if s.filter.Candidate(one) {
			spans = append(append(spans, one.Span), one.With...)
		}
		return s.ctx.Err()
	})
	if err != nil {
		return false, s.ctx.Err()
	}
	slices.SortFunc(spans, func(a, b cdxj.Span) int { return cmp.Compare(a.Offset, b.Offset) })
	if slices.ContainsFunc(spans, func(p cdxj.Span) bool { return p.Length == 0 }) {
		return false, nil // records share a gzip member
	}
	for _, span := range slices.Compact(spans) {
		if err := s.ctx.Err(); err != nil {
			return true, err
		}
		r := warc.NewReader(io.NewSectionReader(file, span.Offset, span.Length), warc.Limits{})
		rec, err := r.Next()
		if err != nil {
			return true, fmt.Errorf("%s: there is no record at offset %d; make %s again", file.Name, span.Offset, name)
		}
		rec.Offset = span.Offset
		matches, _, err := s.matches(rec, file)
		if err == nil && matches {
			err = s.raw(file, span, packed)
		}
		if errors.Is(err, errEnough) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// matches reports whether a record is selected. It may read the beginning of the block, and returns a reader of the
// whole block.
func (s *selection) matches(rec *warc.Record, file wacz.File) (bool, io.Reader, error) {
	one, m, body, err := cdxj.Describe(rec, file.Name, s.filter.NeedsHTTP())
	if m != nil {
		body = io.MultiReader(strings.NewReader(string(m.Head)), body)
	}
	if _, ok := errors.AsType[*warc.Fault](err); ok {
		return false, body, nil // Finish reports it
	}
	return s.filter.Matches(one), body, nil
}

// scan reads a whole file and copies the selected records.
func (s *selection) scan(in io.Reader, file wacz.File, packed bool) error {
	r := warc.NewReader(in, warc.Limits{})
	report, before := s.found.of(file.Name), int64(-1)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			report(*f)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
		shared := packed && rec.Offset == before // the record before is in the same member
		before = rec.Offset
		matches, body, err := s.matches(rec, file)
		if err != nil {
			return err
		}
		if matches && shared {
			rec.Block = body
			if err := s.rewrite(rawRecord(rec)); err != nil && !errors.Is(err, errEnough) {
				return fmt.Errorf("%s: %w", file.Name, err)
			} else if err != nil {
				return nil
			}
			continue
		}
		if f, ok := errors.AsType[*warc.Fault](r.Finish()); ok {
			report(*f)
			continue
		}
		if !matches {
			continue
		}
		err = s.raw(file, cdxj.Span{Offset: rec.Offset, Length: rec.Length}, packed)
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file.Name, err)
		}
	}
}

// raw copies the bytes of a record from its file. It rewrites the record if the record shares its member with others,
// or if only one of source and output is compressed.
func (s *selection) raw(file wacz.File, span cdxj.Span, packed bool) error {
	if packed == s.compress && span.Length > 0 {
		if _, err := io.Copy(s.out, io.NewSectionReader(file, span.Offset, span.Length)); err != nil {
			return err
		}
		return s.count()
	}
	rec, err := warc.NewReader(file.Reader(span.Offset), warc.Limits{}).Next()
	if err != nil {
		return err
	}
	return s.rewrite(rawRecord(rec))
}

// rewrite writes a record in the compression of the output.
func (s *selection) rewrite(record io.Reader) error {
	if !s.compress {
		if _, err := io.Copy(s.out, record); err != nil {
			return err
		}
		return s.count()
	}
	z := gzip.NewWriter(s.out)
	if _, err := io.Copy(z, record); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return s.count()
}

// count counts a copied record. It returns errEnough when the limit is reached.
func (s *selection) count() error {
	s.copied++
	if s.left--; s.left == 0 {
		return errEnough
	}
	return nil
}
