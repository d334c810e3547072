package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/catalog"
	"odarchive/ns"

	"github.com/spf13/cobra"
)

func (c *cli) get() *cobra.Command {
	version := -1
	var at, out string
	cmd := &cobra.Command{
		Use:   "get URL|VERSION-IRI|MEMBER-IRI",
		Short: "Write one version of a file, or one file inside it",
		Example: `  odarchive get https://example.org/data.csv -o latest.csv
  odarchive get https://example.org/data.csv --version 0 -o first.csv
  odarchive get https://example.org/data.csv --at 2026-01-01T00:00:00Z > then.csv
  odarchive get http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_0/member/data/trees.csv`,
		Args: exactly("URL, VERSION-IRI or MEMBER-IRI"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var when time.Time
			if at != "" {
				var err error
				if when, err = time.Parse(time.RFC3339, at); err != nil {
					return usagef("--at %q is not a time such as 2026-01-01T00:00:00Z", at)
				}
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				write, err := chosen(cmd.Context(), n, args[0], version, when)
				if err != nil {
					return err
				}
				return c.writeTo(out, write)
			})
		},
	}
	f := cmd.Flags()
	number(f, &version, "version", 0, unbounded, "number of the version, 0 for the first; the latest by default")
	f.StringVar(&at, "at", "", "the version that was current at this time")
	f.StringVarP(&out, "output", "o", "-", "file to write, - for standard output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

// chosen returns a function that writes the bytes the arguments name: of a version, or of a member of one.
func chosen(ctx context.Context, n *app.Node, name string, version int, at time.Time) (func(io.Writer) error, error) {
	if ref, ok := n.Mint.Parse(name); ok && ref.Kind == ns.KindMember {
		if version >= 0 || !at.IsZero() {
			return nil, notOfAFile(name)
		}
		m, err := n.Archive.Member(ctx, ref.ID, ref.Path)
		return func(w io.Writer) error { return n.Archive.Extract(ctx, m, w) }, err
	}
	v, err := wanted(ctx, n, name, version, at)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		body, err := n.Archive.Open(ctx, v.ID)
		if err != nil {
			return err
		}
		_, err = io.Copy(w, body)
		return errors.Join(err, body.Close())
	}, nil
}

// notOfAFile is the error for a version, or a file inside one, of which the arguments choose a version.
func notOfAFile(name string) error {
	return usagef("%s is of one version: --version and --at choose a version of a file, by the URL of the file", printable(name))
}

// wanted returns the version that the arguments name.
func wanted(ctx context.Context, n *app.Node, name string, version int, at time.Time) (catalog.Version, error) {
	if _, ok := n.Archive.VersionID(name); ok {
		if version >= 0 || !at.IsZero() {
			return catalog.Version{}, notOfAFile(name)
		}
		return n.Archive.Latest(ctx, name)
	}
	switch {
	case version >= 0:
		r, err := n.Archive.Resource(ctx, name)
		if err != nil {
			return catalog.Version{}, err
		}
		return n.Archive.Version(ctx, ns.VersionID(r.ID, version))
	case !at.IsZero():
		v, err := n.Archive.At(ctx, name, at)
		if err == nil && v.At.After(at) { // At returns the nearest version, like Memento
			err = fmt.Errorf("there was no version of %s at %s; the first is of %s", name, at.UTC().Format(time.RFC3339),
				v.At.UTC().Format(time.RFC3339))
		}
		return v, err
	}
	return n.Archive.Latest(ctx, name)
}

// writeTo writes to standard output, or to a file that has its name only when it is complete: on the client's side, if
// this process runs the command for one.
func (c *cli) writeTo(name string, write func(io.Writer) error) error {
	if c.call != nil {
		return write(c.call.File())
	}
	if name == "-" || name == "" {
		return write(c.stdout)
	}
	file := laterFile{name: name}
	if err := file.begin(); err != nil {
		return err
	}
	return file.end(write(&file))
}
