package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"

	"github.com/spf13/cobra"
)

func (c *cli) warcCat() *cobra.Command {
	var offset int64
	cmd := &cobra.Command{
		Use:   "cat FILE...",
		Short: "Write records as they are in the file, without compression",
		Long: `Write the records of WARC, ARC and WACZ files unchanged, without compression. --offset selects one record by its offset, which
'warc index' and 'warc check' print; then only its header and content are written.`,
		Example: `  odarchive warc cat crawl.warc.gz | less
  odarchive warc cat crawl.warc.gz --offset 104857`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			one := cmd.Flags().Changed("offset")
			if one && len(args) > 1 {
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
	number(cmd.Flags(), &offset, "offset", 0, unbounded, "write only the record that begins here")
	return cmd
}

// catRecords writes the records that in reads to out, or only the first of them if one is set. offset is the offset of
// in in the file, for messages.
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

// rawRecord returns the bytes of a record in its file, decompressed.
func rawRecord(rec *warc.Record) io.Reader {
	end := "\r\n\r\n"
	if strings.HasPrefix(rec.Version, "ARC") {
		end = "\n"
	}
	return io.MultiReader(strings.NewReader(string(rec.Head)), rec.Block, strings.NewReader(end))
}
