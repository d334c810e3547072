package main

import (
	"fmt"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/backup"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) backup() *cobra.Command {
	var out, since, server string
	cmd := &cobra.Command{
		Use:   "backup -o FILE",
		Short: "Write a backup, full or incremental",
		Long: `Write the whole archive to one file, or with --since what is new since an earlier backup. Checksums cover every byte of
the file, and it gets its name only when it is complete. If a server holds the archive, or with --endpoint, the command asks
that server, which continues to serve and crawl. A damaged pack that cannot be repaired is copied as it is and named: exit
status 1.`,
		Example: `  odarchive backup -o monday.odab
  odarchive backup -o tuesday.odab --since monday.odab
  odarchive backup -o now.odab --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return usagef("backup needs -o FILE")
			}
			bar := c.progress(-1, "bytes")
			defer bar.done()
			var written int64
			progress := func(n int64) { written += n; bar.set(written, "backup") }
			if c.server == "" {
				c.server = server
			}
			if r := c.remote(cmd.Context()); r != nil {
				info, err := r.Backup(cmd.Context(), out, since, progress)
				if err != nil {
					return err
				}
				return c.printBackup(out, info)
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				if err := n.NoteFile(cmd.Context(), store.BackupCopy, out); err != nil { // what is withdrawn meanwhile names it, too
					return err
				}
				info, err := backup.ToFile(cmd.Context(), n.BackupSource(), out, since, progress)
				if err != nil {
					return err
				}
				if err := n.NoteFile(cmd.Context(), store.BackupCopy, out); err != nil {
					return err
				}
				return c.printBackup(out, info)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "", "file to write; it must not exist")
	f.StringVar(&since, "since", "", "earlier backup; write only what is new since then")
	f.StringVar(&server, "server", "", "same as --endpoint")
	c.readOnlyFlag(cmd)
	c.remoteFlags(cmd)
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

func (c *cli) printBackup(name string, info backup.Info) error {
	fresh := 0
	for _, p := range info.Packs {
		if p.Contains {
			fresh++
		}
	}
	err := c.print(info, "%s: state of %s, %s, %d of them in this file", name, info.Time.UTC().Format("2006-01-02 15:04:05"), english.Plural(len(info.Packs), "pack", ""), fresh)
	if err == nil && len(info.Damaged) > 0 {
		err = fmt.Errorf("%s is written, but %s already damaged: run 'odarchive check --repair'", name, packsWere(info.Damaged))
	}
	return err
}

// packsWere returns the beginning of a sentence about packs.
func packsWere(names []string) string {
	if len(names) == 1 {
		return "pack " + names[0] + " was"
	}
	return "packs " + strings.Join(names, ", ") + " were"
}

func (c *cli) restore() *cobra.Command {
	var withdrawals string
	cmd := &cobra.Command{
		Use:   "restore FILE...",
		Short: "Restore an archive from backups",
		Long: `Create the data directory from a full backup and the incremental ones after it, in order. The directory must be empty or not
exist. A backup has what was withdrawn after it was made: --withdrawals takes that away again.`,
		Example: `  odarchive restore monday.odab --data restored
  odarchive restore monday.odab tuesday.odab --data restored
  odarchive restore monday.odab --data restored --withdrawals withdrawals.jsonl`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			bar := c.progress(-1, "bytes")
			defer bar.done()
			var read int64
			info, err := backup.Restore(cmd.Context(), c.cfg.Data, args, func(n int64) { read += n; bar.set(read, "restore") })
			if err != nil {
				return err
			}
			if len(info.Damaged) > 0 {
				fmt.Fprintf(c.stderr, "odarchive: warning: %s already damaged when the backup was made: run 'odarchive check --repair'\n", packsWere(info.Damaged))
			}
			if withdrawals != "" {
				if err := c.withdrawAgain(cmd.Context(), withdrawals); err != nil {
					return err
				}
			}
			return c.print(info, "%s: the archive as of %s", c.cfg.Data, info.Time.UTC().Format("2006-01-02 15:04:05"))
		},
	}
	cmd.Flags().StringVar(&withdrawals, "withdrawals", "", "list of what was withdrawn, as 'odarchive withdrawals --json' prints it; the restored archive forgets it, too")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}
