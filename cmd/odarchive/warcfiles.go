package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odarchive/crawler/warc"
	"odarchive/crawler/warc/audit"
	"odarchive/crawler/warc/cdxj"
	"odarchive/crawler/warc/wacz"

	"github.com/dustin/go-humanize/english"
	"github.com/klauspost/compress/gzip"
	"github.com/spf13/cobra"
)

// eachWARC calls f with every WARC or ARC file that the arguments name, also with those inside WACZ packages and in lists
// of files. Where a package is damaged, it goes on with the next file, and returns the error at the end.
func (c *cli) eachWARC(ctx context.Context, args []string, f func(*wacz.Opened, wacz.File) error) error {
	names, err := listed(args)
	if err != nil {
		return err
	}
	var damage error
	for _, name := range names {
		err := c.inWARC(ctx, name, func(o *wacz.Opened) error { return eachFile(o, f) })
		if damage = errors.Join(damage, err); !onlyDamage(err) {
			return damage
		}
	}
	return damage
}

// eachFile calls f with each file of an opened one. It ends at an error that is not of a damaged package.
func eachFile(o *wacz.Opened, f func(*wacz.Opened, wacz.File) error) (damage error) {
	for _, file := range o.Files {
		err := f(o, file)
		if damage = errors.Join(damage, err); !onlyDamage(err) {
			return damage
		}
	}
	return damage
}

// onlyDamage reports whether there is no error but those of damaged packages.
func onlyDamage(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(one error) bool { return !onlyDamage(one) })
	}
	_, ofPackage := errors.AsType[*wacz.DamagedError](err)
	return err == nil || ofPackage
}

// maxPaths bounds the lines of a list of files.
const maxPaths = 1_000_000

// listed replaces lists of files, such as Common Crawl's wat.paths.gz, by what they name: files in the folder of the
// list, or in the folders below it that their paths name.
func listed(args []string) (names []string, err error) {
	for _, name := range args {
		if !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".paths") {
			names = append(names, name)
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		var in io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			if in, err = gzip.NewReader(f); err != nil {
				return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
			}
		}
		lines := bufio.NewScanner(in)
		for n := 0; lines.Scan(); n++ {
			path := filepath.FromSlash(strings.TrimSpace(lines.Text()))
			if path == "" {
				continue
			}
			if n >= maxPaths || !filepath.IsLocal(path) {
				return nil, errors.Join(fmt.Errorf("%s: line %d is not the path of a file below its folder", name, n+1), f.Close())
			}
			beside := filepath.Join(filepath.Dir(name), filepath.Base(path))
			if _, err := os.Stat(beside); err != nil {
				beside = filepath.Join(filepath.Dir(name), path)
			}
			names = append(names, beside)
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return names, nil
}

func (c *cli) inWARC(ctx context.Context, name string, f func(*wacz.Opened) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o, err := wacz.Open(name, "")
	if err != nil {
		return err
	}
	return errors.Join(f(o), o.Close())
}

// readWARC returns a reader of a file that ends with the context, and that shows its progress.
func (c *cli) readWARC(ctx context.Context, file wacz.File) (r io.Reader, done func()) {
	bar := c.progress(file.Size, "bytes")
	return &watchedReader{ctx: ctx, r: file.Reader(0), bar: bar}, bar.done
}

type watchedReader struct {
	ctx context.Context
	r   io.Reader
	bar *bar
	n   int64
}

func (w *watchedReader) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := w.r.Read(p)
	w.n += int64(n)
	w.bar.set(w.n, "")
	return n, err
}

// faultyError is the error of a command that worked, but found faults in its files.
type faultyError struct{ faults int }

func (e *faultyError) Error() string {
	return english.Plural(e.faults, "fault", "") + " in what was read"
}

// faults counts faults of files and prints each as a line.
type faults struct {
	out io.Writer
	n   int
}

func (f *faults) of(name string) func(warc.Fault) {
	return func(fault warc.Fault) {
		f.n++
		fmt.Fprintf(f.out, "%s: offset %d: %s\n", name, fault.Offset, printable(fault.Why))
	}
}

func (f *faults) err() error {
	if f.n == 0 {
		return nil
	}
	return &faultyError{f.n}
}

func (c *cli) warcCheck() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE...",
		Short: "Check WARC, ARC and WACZ files: a line for each fault",
		Long: `Check WARC, ARC and WACZ files: their structure, the fields that every record must have, and digests. Each fault is a line
on standard output with the offset of the record or gzip member; with any, the exit status is 1.`,
		Example: `  odarchive warc check crawl.warc.gz
  odarchive warc check *.warc.gz collection.wacz`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			found := &faults{out: c.stdout}
			for _, name := range args {
				err := c.inWARC(cmd.Context(), name, func(o *wacz.Opened) error {
					wrong, err := o.Check(cmd.Context())
					if err != nil {
						return err
					}
					for _, why := range wrong {
						found.n++
						fmt.Fprintf(c.stdout, "%s: %s\n", name, printable(why))
					}
					for _, file := range o.Files {
						in, done := c.readWARC(cmd.Context(), file)
						r, err := audit.Check(in, found.of(file.Name))
						if _, ofPackage := errors.AsType[*wacz.DamagedError](err); ofPackage {
							done()
							found.of(file.Name)(warc.Fault{Why: err.Error()})
							continue
						}
						done()
						if err != nil {
							return fmt.Errorf("%s: %w", file.Name, err)
						}
						switch {
						case r.Faults == 0 && r.Records == 0:
							fmt.Fprintf(c.stdout, "%s: empty; there are no records\n", file.Name)
						case r.Faults == 0:
							fmt.Fprintf(c.stdout, "%s: sound; %s, %s compared\n", file.Name, english.Plural(r.Records, "record", ""), english.Plural(r.Digests, "digest", ""))
						}
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
			return found.err()
		},
	}
}

func (c *cli) warcIndex() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "index FILE...",
		Short: "Write a capture index of WARC, ARC and WACZ files (CDXJ, CDX-11)",
		Long: `Write a capture index in the format CDXJ to standard output: a sorted line for each response, revisit and resource record.
--format cdx11 writes the format with eleven fields that older tools read. A damaged file is read on at its next record; each fault is a line on standard error, and the exit status is 1 then.

The index of FILE beside it, named FILE.cdxj, makes 'warc filter' read only what it selects.`,
		Example: `  odarchive warc index crawl.warc.gz > crawl.warc.gz.cdxj
  odarchive warc index *.warc.gz > all.cdxj
  odarchive warc index crawl.warc.gz --format cdx11 > crawl.cdx`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			eleven := format == "cdx11"
			if !eleven && format != "cdxj" {
				return usagef("--format %q: expected cdxj or cdx11", format)
			}
			found := &faults{out: c.stderr}
			sorter := &cdxj.Sorter{}
			defer sorter.Close()
			err := c.eachWARC(cmd.Context(), args, func(_ *wacz.Opened, file wacz.File) error {
				in, done := c.readWARC(cmd.Context(), file)
				defer done()
				unlisted, err := cdxj.Make(filepath.Base(file.Name), in, func(one cdxj.Capture) error {
					if eleven {
						return sorter.Add(one.CDX11())
					}
					return sorter.Add(one.Line())
				}, found.of(file.Name))
				if err != nil {
					return fmt.Errorf("%s: %w", file.Name, err)
				}
				if eleven {
					return nil
				}
				return sorter.Add(cdxj.Meta{File: filepath.Base(file.Name), Size: file.Size, Unlisted: unlisted}.Line())
			})
			if err != nil {
				return err
			}
			if eleven {
				if _, err := fmt.Fprintln(c.stdout, cdxj.CDX11Header); err != nil {
					return err
				}
			}
			if _, err := sorter.WriteTo(c.stdout); err != nil {
				return err
			}
			return found.err()
		},
	}
	cmd.Flags().StringVar(&format, "format", "cdxj", "cdxj or cdx11")
	return cmd
}

func (c *cli) warcCat() *cobra.Command {
	var offset int64
	cmd := &cobra.Command{
		Use:   "cat FILE...",
		Short: "Write records as they are in the file, without compression",
		Long: `Write the records of WARC, ARC and WACZ files as they are, without compression; with --offset only the header
and the content of the one that begins there, as 'warc index' and 'warc check' name it.`,
		Example: `  odarchive warc cat crawl.warc.gz | less
  odarchive warc cat crawl.warc.gz --offset 104857`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			one := cmd.Flags().Changed("offset")
			if offset < 0 || one && len(args) > 1 {
				return usagef("--offset takes the place of a record in one file")
			}
			found := &faults{out: c.stderr}
			out := bufio.NewWriterSize(c.stdout, 256<<10)
			err := c.eachWARC(cmd.Context(), args, func(_ *wacz.Opened, file wacz.File) error {
				if one && offset >= file.Size {
					return fmt.Errorf("%s has %d bytes", file.Name, file.Size)
				}
				in, done := c.readWARC(cmd.Context(), wacz.File{Name: file.Name, ReaderAt: file, Size: file.Size})
				defer done()
				if one {
					in = file.Reader(offset)
				}
				return catRecords(in, out, file.Name, offset, one, found)
			})
			if err := errors.Join(err, out.Flush()); err != nil {
				return err
			}
			return found.err()
		},
	}
	cmd.Flags().Int64Var(&offset, "offset", 0, "write only the record that begins here")
	return cmd
}

// catRecords writes the records of a file, or only the first one. offset is where the reader starts in the file.
func catRecords(in io.Reader, out io.Writer, name string, offset int64, one bool, found *faults) error {
	r := warc.NewReader(in, warc.Limits{})
	report := found.of(name)
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if f, ok := errors.AsType[*warc.Fault](err); ok {
			if one {
				return fmt.Errorf("%s: offset %d: %s", name, offset+f.Offset, f.Why)
			}
			report(*f)
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if one {
			_, err = io.Copy(out, io.MultiReader(bytes.NewReader(rec.Head), rec.Block))
		} else {
			_, err = io.Copy(out, rawRecord(rec))
		}
		if err != nil {
			if _, ok := errors.AsType[*warc.Fault](err); !ok {
				return err
			}
		}
		if f, ok := errors.AsType[*warc.Fault](r.Finish()); ok {
			f.Offset += offset
			report(*f)
		}
		if one {
			return nil
		}
	}
}

// rawRecord returns a record as it is in its file.
func rawRecord(rec *warc.Record) io.Reader {
	end := "\r\n\r\n"
	if strings.HasPrefix(rec.Version, "ARC") {
		end = "\n"
	}
	return io.MultiReader(strings.NewReader(string(rec.Head)), rec.Block, strings.NewReader(end))
}
