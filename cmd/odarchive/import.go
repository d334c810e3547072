package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/bagit"
	"odarchive/crawler/exchange/ocfl"
	"odarchive/crawler/exchange/preserve"
	"odarchive/crawler/jobs"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// imports returns the commands that read what libraries keep.
func (c *cli) imports() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Archive the versions of OCFL storage roots and bags",
		Example: `  odarchive import ocfl root
  odarchive import bagit bag.zip`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		c.importFrom("ocfl", "DIR", "Archive the versions of an OCFL storage root", `Archive the versions of the objects of an OCFL 1.0 or 1.1 storage root, or of one object, dated when they were fetched. The
structure of an object and the digests of its files are checked before anything of it is archived. A faulty object is
refused, and of an object with damaged files the versions that have them; each is a line on standard error, and the exit
status is 1. The rest is archived. Importing again adds nothing, and continues an import that was stopped.

Objects that 'odarchive export ocfl' wrote become the files that they were, with the same times and, in an archive that does
not have them, the same numbers of versions. Of a version that was withdrawn, there or here, only the record is made, which says
why; its bytes are not kept from then on, unless another version of this archive has them. In objects of others, each logical path is a file: at the object's id if that is an address of the web (below
it, if there are several paths), else below --at-base in a folder named by the id. Each content that it had is a version, of
the time when the object's version was created. Imported URLs are not crawled until they are added. Symbolic links are refused.`, `  odarchive import ocfl root
  odarchive import ocfl root --data other
  odarchive import ocfl /mnt/repository --at-base https://repository.example.org/`, ocfl.Read),
		c.importFrom("bagit", "DIR|FILE.zip", "Archive the files of a bag", `Archive the payload of a bag (BagIt, RFC 8493), a folder or a zip. All digests are checked before anything is archived.
Damaged and missing files are refused, each with a line on standard error, and the exit status is 1. The rest is archived.
Importing again adds nothing, and continues an import that was stopped.

Bags that 'odarchive export bagit' wrote become the files that they were, with the same times; of versions that were withdrawn,
the record. Files of others are dated by
the Bagging-Date, and are below the External-Identifier if that is an address of the web, else below --at-base in a folder
named by the identifier or the bag. Imported URLs are not crawled until they are added. A bag with files that are still to be
fetched must be completed first.`, `  odarchive import bagit bag
  odarchive import bagit bag.zip --data other
  odarchive import bagit thesis.zip --at-base https://theses.example.org/`, bagit.Read))
	return cmd
}

// packageReader reads a package into a receiver: ocfl.Read and bagit.Read.
type packageReader func(ctx context.Context, name, base string, max int64, to preserve.Receiver, bad func(error)) error

func (c *cli) importFrom(kind, what, short, long, examples string, read packageReader) *cobra.Command {
	var base string
	cmd := &cobra.Command{
		Use: kind + " " + what, Short: short, Long: long, Example: examples, Args: exactly(what),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			found := &faultLines{faults{out: c.stderr}}
			var in io.Reader
			var sent chan error
			if c.call != nil {
				stream, err := c.call.Open(args[0])
				if err != nil {
					return err
				}
				defer stream.Close()
				in = stream
			}
			var kept *jobs.Preserved
			err := c.with(ctx, store.Options{Create: true}, func(n *app.Node) error {
				if in == nil {
					pipe, end := io.Pipe()
					in, sent = pipe, make(chan error, 1)
					go func() {
						err := sendPackage(ctx, read, args[0], base, int64(c.cfg.Fetch.MaxBody), end, found)
						end.CloseWithError(err)
						sent <- err
					}()
					defer pipe.CloseWithError(errReceiver)
				}
				bar := c.progress(c.sizeOfPackage(args[0]), "bytes")
				defer bar.done()
				kept = n.Preserved()
				counting := &countedVersions{Receiver: kept, bar: bar}
				faultsHere := &faultLines{faults{out: c.stderr}}
				err := preserve.Receive(ctx, in, func(preserve.Hello) (preserve.Receiver, error) { return counting, nil }, faultsHere.add)
				if closed := kept.Close(ctx); err == nil {
					err = closed
				}
				return errors.Join(err, faultsHere.err())
			})
			if sent != nil {
				err = firstCause(<-sent, err)
			}
			if kept == nil {
				return err
			}
			line := fmt.Sprintf("%s imported; %s unchanged, %s without bytes", english.Plural(kept.Count.Versions, "version", ""),
				english.Plural(kept.Count.Unchanged, "version", ""), english.Plural(kept.Count.Others, "version", ""))
			if n := kept.Count.Withdrawn; n > 0 {
				line += fmt.Sprintf("; %s refused: withdrawn, or of URLs that are never kept", english.Plural(n, "version", ""))
			}
			printErr := c.summary(kept.Count, "%s", line)
			return errors.Join(err, printErr, found.err())
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&base, "at-base", "", "address below which files without one are archived; by default imported/ below the archive's base")
	fl.BoolVar(&c.json, "json", false, "machine-readable output")
	c.cfg.FetchFlags(fl)
	return c.beside(cmd, besideOptions{right: access.Admin, ends: func(ctx context.Context, args []string) (*clientEnd, error) {
		found := &faultLines{faults{out: c.stderr}}
		done := make(chan struct{})
		opened := false
		return &clientEnd{inputs: args, open: func(string) (io.ReadCloser, error) {
			pipe, end := io.Pipe()
			opened = true
			go func() {
				defer close(done)
				end.CloseWithError(sendPackage(ctx, read, args[0], base, int64(c.cfg.Fetch.MaxBody), end, found))
			}()
			return pipe, nil
		}, end: func(err error) error {
			if err != nil || !opened {
				return err
			}
			<-done
			return found.err()
		}}, nil
	}})
}

// sendPackage reads a package and sends it as a stream.
func sendPackage(ctx context.Context, read packageReader, name, base string, max int64, w io.Writer, found *faultLines) error {
	wire, err := preserve.NewWire(w, preserve.Hello{})
	if err != nil {
		return err
	}
	if err := read(ctx, name, base, max, wire, found.add); err != nil {
		return err
	}
	return wire.Close()
}

// countedVersions shows how much a receiver has received.
type countedVersions struct {
	preserve.Receiver
	bar      *bar
	versions int
	n        int64 // bytes
}

// sizeOfPackage returns the bytes of a folder on this machine, -1 of what is compressed or sent.
func (c *cli) sizeOfPackage(name string) int64 {
	if info, err := os.Stat(name); c.call != nil || err != nil || !info.IsDir() {
		return -1
	}
	return sizeOfAll([]string{name})
}

func (v *countedVersions) Version(ctx context.Context, one preserve.Version, body io.Reader) error {
	v.versions++
	v.bar.set(v.n, english.Plural(v.versions, "version", ""))
	if body != nil {
		body = io.TeeReader(body, v)
	}
	return v.Receiver.Version(ctx, one, body)
}

// Write counts bytes of a version.
func (v *countedVersions) Write(p []byte) (int, error) {
	v.n += int64(len(p))
	v.bar.set(v.n, english.Plural(v.versions, "version", ""))
	return len(p), nil
}
