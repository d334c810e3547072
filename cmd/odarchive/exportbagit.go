package main

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/bagit"
	"odarchive/crawler/exchange/preserve"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) exportBagIt() *cobra.Command {
	var out, organization, identifier string
	var sha512, holey bool
	cmd := &cobra.Command{
		Use:   "bagit [QUERY] -o DIR|FILE.zip",
		Short: "Write the versions that a query selects as a bag",
		Long: `Write the versions that a SELECT query returns in any column as a bag (BagIt, RFC 8493), a folder or a zip; without a query,
all versions. odarchive/versions.jsonl, a tag file, describes them: where and when they were fetched, with which head. The
bag has its name when it is complete. Versions whose bytes cannot be read are left out, each with a line on standard error:
exit status 1.

--holey leaves the bytes out: fetch.txt has the IRIs of the versions, from which BagIt programs fetch them.`,
		Example: `  odarchive export bagit -o everything
  odarchive export bagit 'SELECT ?v { <https://example.org/data.csv> <http://purl.org/dc/terms/hasVersion> ?v }' -o data.zip
  odarchive export bagit -o bag --sha512 --organization "City Archive"
  odarchive export bagit -o list.zip --holey`,
		RunE: func(cmd *cobra.Command, args []string) error {
			e := exporting{out: out, copy: store.BagCopy}
			if holey {
				e.copy = ""
			}
			return c.runExport(cmd, args, e, func() (*exportEnd, error) {
				return c.bagEnd(out, bagit.Options{SHA512: sha512, Holey: holey, Organization: organization, Identifier: identifier})
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "folder, or file that ends in .zip; it must not exist")
	f.BoolVar(&sha512, "sha512", false, "also list the SHA-512 of each file")
	f.BoolVar(&holey, "holey", false, "leave the bytes out and say where to fetch them")
	f.StringVar(&organization, "organization", "", "the Source-Organization of the bag")
	f.StringVar(&identifier, "identifier", "", "the External-Identifier of the bag; by default the address of the selection")
	f.BoolVar(&c.json, "json", false, "machine-readable result")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{ends: func(ctx context.Context, args []string) (*clientEnd, error) {
		if err := needsOutput("bagit", out); err != nil {
			return nil, err
		}
		return c.clientOfExport(ctx, args, func() (*exportEnd, error) {
			return c.bagEnd(out, bagit.Options{SHA512: sha512, Holey: holey, Organization: organization, Identifier: identifier})
		})
	}})
}

// bagEnd returns the end of an export that writes a bag.
func (c *cli) bagEnd(out string, o bagit.Options) (*exportEnd, error) {
	o.Date, o.Agent, o.Temp = time.Now(), "ODArchive "+readBuild().Version, filepath.Dir(filepath.Clean(out))
	var bag *bagit.Bag
	return &exportEnd{
		open: func(h preserve.Hello) (preserve.Receiver, error) {
			if o.Identifier == "" {
				o.Identifier = h.Identifier
			}
			o.Description = h.Title
			var err error
			bag, err = bagit.Create(out, o)
			return bag, err
		},
		abandon: func() error {
			if bag == nil {
				return nil
			}
			return bag.Abandon()
		},
		close: func() error {
			if err := bag.Close(); err != nil {
				return err
			}
			return c.print(bag.Written, "%s: %s, %d bytes", out, english.Plural(bag.Written.Versions, "version", ""), bag.Written.Bytes)
		},
	}, nil
}

func (c *cli) exportCrate() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "rocrate [QUERY] -o FILE.zip",
		Short: "Write the versions that a query selects as an RO-Crate",
		Long: `Write the versions that a SELECT query returns in any column as an RO-Crate 1.2 in a zip; without a query, all versions. It
is the zip of 'odarchive zip', each of which is a crate.`,
		Example: `  odarchive export rocrate -o crate.zip
  odarchive export rocrate 'SELECT ?v { <https://example.org/data.csv> <http://purl.org/dc/terms/hasVersion> ?v }' -o data.zip`,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := everyVersion
			if len(args) > 0 {
				var err error
				if text, err = c.text("export rocrate", args, ""); err != nil {
					return err
				}
			}
			if !strings.HasSuffix(strings.ToLower(out), ".zip") {
				return usagef("export rocrate needs -o FILE.zip")
			}
			return c.copying(cmd.Context(), func(n *app.Node) error { return c.writeZip(cmd.Context(), n, text, store.CrateCopy, out) })
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write, .zip")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{inputs: dashes})
}
