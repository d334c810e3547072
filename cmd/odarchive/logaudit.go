package main

import (
	"fmt"
	"strings"

	"odarchive/crawler/archive/transparency"
	"odarchive/triplestore/disk"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) logAudit() *cobra.Command {
	var keys, since []string
	var out string
	cmd := &cobra.Command{
		Use:   "audit URL|DIR",
		Short: "Read all of an archive's log, and compute its tree anew",
		Long: `Read every entry and tile of the log of an archive on the web, of the directory of an archive, or of an exported log, compute
its tree anew, and compare it with the log's checkpoint, and with the checkpoints of --since, which you kept or got from others.
Leaves that were changed, dropped or added in between are found. 'odarchive verify --against' compares two checkpoints only.
The command needs no archive of its own and little memory; it reads about 110 bytes for each version.

Exit status: 0 nothing was found, 1 faults were found, or the audit could not be completed.`,
		Example: `  odarchive log audit https://archive.example.org/
  odarchive log audit https://archive.example.org/ --since yesterday.txt --key archive.example.org/log+1a2b3c4d+AQ… -o today.txt
  odarchive log audit /srv/www/log --json`,
		Args: exactly("URL or DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts := transparency.AuditOptions{}
			var err error
			if opts.Keys, err = c.trustedKeys(keys); err != nil {
				return err
			}
			for _, name := range since {
				note, err := disk.ReadFile(disk.OS{}, name, maxKeyText)
				if err != nil {
					return err
				}
				opts.Since = append(opts.Since, note)
			}
			return c.withLog(cmd.Context(), args[0], func(files transparency.Files) error {
				var b *bar
				opts.Progress = func(done, all int64) {
					if b == nil {
						b = c.progress(all, "reading the log")
					}
					b.set(done, "")
				}
				a, err := transparency.Audit(cmd.Context(), files, opts)
				if b != nil {
					b.done()
				}
				if err != nil {
					return err
				}
				return c.printAudited(a, args[0], out)
			})
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&since, "since", nil, "file with an earlier checkpoint, which the log must continue (repeatable)")
	f.StringArrayVar(&keys, "key", nil, "key of the log, or a file with it (repeatable)")
	f.StringVarP(&out, "output", "o", "", "file for the checkpoint, if nothing was found: keep it for the next --since")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

func (c *cli) printAudited(a transparency.Audited, where, out string) error {
	var lines []string
	for _, fault := range a.Faults {
		lines = append(lines, printable(fault))
	}
	signed := "signed with a key that you trust"
	if !a.Signed {
		signed = "its signature was not checked, since there is no --key"
	}
	lines = append(lines, fmt.Sprintf("%s: %s, %s, %s; %s", printable(a.Log), english.Plural(int(a.Versions), "version", ""),
		english.Plural(len(a.Compared), "earlier checkpoint continued", "earlier checkpoints continued"),
		english.Plural(a.AllFaults, "fault", ""), signed))
	if err := c.print(a, "%s", strings.Join(lines, "\n")); err != nil {
		return err
	}
	if a.AllFaults > 0 {
		return fmt.Errorf("the log of %s is not what it says: keep its checkpoint and yours", printable(where))
	}
	if out == "" {
		return nil
	}
	return c.writeBytes(out, a.Note)
}
