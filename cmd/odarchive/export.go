package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/ocfl"
	"odarchive/crawler/exchange/preserve"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// export returns the commands that write what libraries keep.
func (c *cli) export() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write versions in the packages that libraries keep: OCFL, BagIt, RO-Crate",
		Example: `  odarchive export ocfl -o root
  odarchive export bagit -o bag.zip
  odarchive export rocrate 'SELECT ?v { ?f <http://purl.org/dc/terms/hasVersion> ?v }' -o crate.zip`,
		Args: noCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.exportOCFL(), c.exportBagIt(), c.exportCrate())
	return cmd
}

func (c *cli) exportOCFL() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "ocfl [QUERY] -o DIR",
		Short: "Write files with all their versions to an OCFL storage root, or add what is new",
		Long: `Write the files that a SELECT query names in any column, each with all its versions, to an OCFL 1.1 storage root; without
a query, all files. A file is an object, whose id is its URL; version n is vN+1. Beside the bytes, each version has its
record (odarchive/version.json) and its events as PREMIS 3.0 (odarchive/premis.xml).

If the root exists, only what is new is written. An object changes at once, so that the root is valid at every moment; if the
command is stopped, the same command continues. OCFL objects never change, with one exception: an object of which a version
was withdrawn is replaced by one without these bytes, whatever the query; the version keeps its number and says why. A file
of which a version cannot be read is a line on standard error, and stays as it is in the root: exit status 1.`,
		Example: `  odarchive export ocfl -o root
  odarchive export ocfl 'SELECT ?f { ?f <http://purl.org/dc/terms/hasVersion> ?v FILTER CONTAINS(STR(?f), "trees") }' -o trees
  odarchive export ocfl -o root --endpoint http://localhost:8080/ --token "$SECRET"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runExport(cmd, args, exporting{out: out, whole: true, copy: store.OCFLCopy},
				func() (*exportEnd, error) { return c.ocflEnd(out) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "folder of the storage root; made if it does not exist")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable result")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{right: access.Read, ends: func(ctx context.Context, args []string) (*clientEnd, error) {
		if err := needsOutput("ocfl", out); err != nil {
			return nil, err
		}
		return c.clientOfExport(ctx, args, func() (*exportEnd, error) { return c.ocflEnd(out) })
	}})
}

func needsOutput(what, out string) error {
	if out == "" || out == "-" {
		return usagef("export %s needs -o with a name", what)
	}
	return nil
}

// ocflEnd returns the end of an export that writes a storage root.
func (c *cli) ocflEnd(out string) (*exportEnd, error) {
	root, err := ocfl.Create(out)
	if err != nil {
		return nil, err
	}
	return &exportEnd{
		open:    func(h preserve.Hello) (preserve.Receiver, error) { root.Agent = h.Agent; return root, nil },
		known:   root.EachHeld,
		abandon: root.Abandon,
		close: func() error {
			if err := root.Close(); err != nil {
				return err
			}
			w := root.Written
			line := fmt.Sprintf("%s: %s written, %s new, %d bytes", out, english.Plural(w.Objects, "object", ""),
				english.Plural(w.Versions, "version", ""), w.Bytes)
			if w.Rewritten > 0 {
				line += "; " + english.Plural(w.Rewritten, "object", "") + " rewritten without withdrawn bytes"
			}
			return c.print(w, "%s", line)
		},
	}, nil
}

// exportEnd is where an export is written: on the client's side, if a server reads the archive.
type exportEnd struct {
	open  func(preserve.Hello) (preserve.Receiver, error)
	known func(ctx context.Context, f func(url string, h preserve.Held) error) error // what is there already; may be nil
	// after the last version: completes it and prints the result
	close   func() error
	abandon func() error // after an error: leaves what is complete
}

// receive writes a stream of versions, and completes what was written, or abandons it.
func (e *exportEnd) receive(ctx context.Context, in io.Reader, found *faultLines) error {
	if err := preserve.Receive(ctx, in, e.open, found.add); err != nil {
		return errors.Join(err, e.abandon())
	}
	return e.close()
}

// faultLines prints faults, each on a line, and counts them.
type faultLines struct{ faults }

func (f *faultLines) add(err error) {
	f.n++
	fmt.Fprintln(f.out, printable(strings.Join(strings.Fields(err.Error()), " ")))
}

// exporting says what an export writes.
type exporting struct {
	out   string // file or folder
	whole bool   // all versions of each file that the query names
	copy  string // kind of the copy that is noted; "" if the export has no bytes
}

// clientCopy is the name of copies that were sent to clients. There is one note for all of a kind, since anybody may be
// allowed to export.
const clientCopy = "sent to a client"

// note notes that the export makes a copy, before its first version and after its last one, so that a withdrawal at any
// moment names it.
func (e exporting) note(ctx context.Context, n *app.Node, forClient bool) error {
	switch {
	case e.copy == "":
		return nil
	case e.out == "-" && !forClient:
		return n.NoteCopy(ctx, e.copy, "written to standard output")
	case forClient:
		return n.NoteCopy(ctx, e.copy, clientCopy)
	}
	return n.NoteFile(ctx, e.copy, e.out)
}

// noted runs f and notes the copy that it makes.
func (e exporting) noted(ctx context.Context, n *app.Node, forClient bool, f func() error) error {
	if err := e.note(ctx, n, forClient); err != nil {
		return err
	}
	return errors.Join(f(), e.note(context.WithoutCancel(ctx), n, forClient))
}

// runExport runs an export where the archive is. If this process runs it for a client, the client writes what it sends.
func (c *cli) runExport(cmd *cobra.Command, args []string, e exporting, open func() (*exportEnd, error)) error {
	ctx := cmd.Context()
	if err := needsOutput(cmd.Name(), e.out); err != nil {
		return err
	}
	query := ""
	if len(args) > 0 {
		var err error
		if query, err = c.text("export "+cmd.Name(), args, ""); err != nil {
			return err
		}
	}
	found := &faultLines{faults{out: c.stderr}}
	bar := c.progress(-1, "files")
	defer bar.done()
	p := faces.Preserving{Query: query, Whole: e.whole, Bad: found.add, Progress: func(done, all int) {
		if all > 0 {
			bar.of(int64(all), nil)
		}
		bar.set(int64(done), "")
	}}
	if c.call != nil {
		return errors.Join(c.copying(ctx, func(n *app.Node) error {
			if e.whole {
				in, err := c.call.Open(knownInput)
				if err != nil {
					return err
				}
				held, err := readHeld(in)
				if err != nil {
					return err
				}
				p.Held = held.of
			}
			return e.noted(ctx, n, true, func() error { return send(ctx, n, p, c.call.File()) })
		}), found.err())
	}
	return errors.Join(c.copying(ctx, func(n *app.Node) error {
		end, err := open()
		if err != nil {
			return err
		}
		if end.known != nil {
			held := heldFiles{}
			if err := end.known(ctx, held.put); err != nil {
				return errors.Join(err, end.abandon())
			}
			p.Held = held.of
		}
		return e.noted(ctx, n, false, func() error { return sendTo(ctx, n, p, end, found) })
	}), found.err())
}

// sendTo sends a selection of the archive to an end in this process.
func sendTo(ctx context.Context, n *app.Node, p faces.Preserving, end *exportEnd, found *faultLines) error {
	in, pipe := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := send(ctx, n, p, pipe)
		pipe.CloseWithError(err)
		sent <- err
	}()
	err := end.receive(ctx, in, found)
	in.CloseWithError(errReceiver)
	return firstCause(<-sent, err)
}

// errReceiver is the error of sending to a receiver that has failed.
var errReceiver = errors.New("the receiver has stopped")

// firstCause returns the error that came first of the two ends of a pipe.
func firstCause(sent, received error) error {
	if received == nil || errors.Is(sent, errReceiver) {
		if errors.Is(sent, errReceiver) {
			return received
		}
		return sent
	}
	if sent != nil {
		return sent
	}
	return received
}

// send sends a selection of the archive as a stream.
func send(ctx context.Context, n *app.Node, p faces.Preserving, w io.Writer) error {
	wire, err := preserve.NewWire(w, n.Hello(p.Query))
	if err != nil {
		return err
	}
	if err := n.Preserve(ctx, p, wire); err != nil {
		return err
	}
	return wire.Close()
}
