package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/backup"
	"odarchive/sparqlapi/operate/access"
	"odarchive/triplestore/kv"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

func (c *cli) backup() *cobra.Command {
	var out, since, list, verify string
	var attach, detach bool
	cmd := &cobra.Command{
		Use:   "backup -o FILE",
		Short: "Write a backup, full or incremental",
		Long: `Write the whole archive to one file, or with --since what is new since an earlier backup. Checksums cover every byte of
the file, and it gets its name only when it is complete. If a server holds the archive, or with --endpoint, the command asks
that server, which continues to serve and crawl. A damaged pack that cannot be repaired is copied as it is and named: exit
status 1.

With --list and --verify, the command looks at the continuous backup that a server makes ('odarchive serve --backup-to'): which moments
can be restored from it, and whether everything that a restore needs is there and matches its checksums.

A directory remembers the continuous backup that it writes. Before anything is written to the directory, the backup is asked whether
another one has replaced it; then it gets what commands commit. A directory that was copied or moved to another disk cannot tell
whether it is the original, and accepts no changes until you say so: --attach if it still writes this backup, --detach if it
does not.`,
		Example: `  odarchive backup -o monday.odab
  odarchive backup -o tuesday.odab --since monday.odab
  odarchive backup -o now.odab --endpoint http://localhost:8080/ --token "$SECRET"
  odarchive backup --list 's3://backups/archive?endpoint=https://s3.example.org'
  odarchive backup --verify file:///var/backups/archive
  odarchive backup --detach --data copy`,
		Args: func(cmd *cobra.Command, args []string) error {
			if attach && detach {
				return usagef("--attach and --detach are opposites")
			}
			if (out == "" || out == "-") && list == "" && verify == "" && !attach && !detach {
				return usagef("backup needs -o FILE, which gets its name when it is complete; standard output cannot")
			}
			return exactly()(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case list != "":
				return c.listMoments(cmd.Context(), list)
			case verify != "":
				return c.verifyVault(cmd.Context(), verify)
			case attach:
				return c.attachBackup()
			case detach:
				return c.detachBackup(cmd.Context())
			}
			bar := c.progress(-1, "bytes")
			defer bar.done()
			written := int64(0)
			progress := func(n int64) { written += n; bar.set(written, "backup") }
			return c.copying(cmd.Context(), func(n *app.Node) error {
				if c.call != nil {
					return c.sendBackup(cmd.Context(), n, out, since, progress)
				}
				if err := n.NoteFile(cmd.Context(), store.BackupCopy, out); err != nil { // what is withdrawn meanwhile names it, too
					return err
				}
				if st, err := n.Content.Stats(); err == nil && since == "" {
					bar.of(st.Bytes+n.DB.Size(), nil)
				}
				src := n.BackupSource()
				src.Rest = func(bytes int64) { bar.of(written+bytes, nil) }
				info, err := backup.ToFile(cmd.Context(), src, out, since, progress)
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
	f.StringVar(&list, "list", "", "URL of a continuous backup; print which moments can be restored")
	f.StringVar(&verify, "verify", "", "URL of a continuous backup; read and verify all of it")
	f.BoolVar(&attach, "attach", false, "this directory was moved: it goes on with the continuous backup that it wrote last")
	f.BoolVar(&detach, "detach", false, "this directory forgets its continuous backup, and whether it was replaced")
	f.StringVar(&c.server, "server", "", "same as --endpoint")
	c.readOnlyFlag(cmd)
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Admin, alone: func() bool { return list != "" || verify != "" || attach || detach },
		ends: func(context.Context, []string) (*clientEnd, error) { return receiveBackup(out, since) }})
}

// sendBackup sends a backup to the client for whom this process runs the command. since names an input that describes
// the client's earlier backup; "" if there is none.
func (c *cli) sendBackup(ctx context.Context, n *app.Node, out, since string, progress backup.Progress) error {
	var earlier *backup.Info
	if since != "" {
		text, err := c.readInput(since, maxDescription)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &earlier); err != nil {
			return fmt.Errorf("description of the earlier backup: %w", err)
		}
	}
	info, err := n.Backup(ctx, c.call.File(), earlier, progress)
	if err != nil {
		return err
	}
	return c.printBackup(out, info)
}

// maxDescription bounds the description of a backup, in bytes. It names all packs.
const maxDescription = 64 << 20

// receiveBackup returns the client's end of a backup: a new file, and the description of an earlier one.
func receiveBackup(out, since string) (*clientEnd, error) {
	inputs := named(since)
	var description []byte
	if since != "" {
		earlier, err := backup.Inspect(since)
		if err == nil {
			description, err = json.Marshal(earlier)
		}
		if err != nil {
			return nil, err
		}
	}
	file, err := backup.Create(out)
	if err != nil {
		return nil, err
	}
	return &clientEnd{inputs: inputs, file: file, end: file.End, open: func(string) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(description)), nil
	}}, nil
}

// attachment is the result of attachBackup and detachBackup. JSON names are stable.
type attachment struct {
	To string `json:"backup"` // the backup's URL
}

// alone returns an error if there is no archive in --data, or a process uses it.
func (c *cli) alone() error {
	if store.BaseOf(c.cfg.Data) == "" {
		return fmt.Errorf("no archive in %s", c.cfg.Data)
	}
	if err := kv.Held(c.cfg.Data); err != nil {
		return fmt.Errorf("stop what uses the archive first: %w", err)
	}
	return nil
}

func (c *cli) attachBackup() error {
	if err := c.alone(); err != nil {
		return err
	}
	to, err := store.Attach(c.cfg.Data)
	if err != nil {
		return err
	}
	return c.print(attachment{to}, "%s goes on with the continuous backup %s", c.cfg.Data, to)
}

func (c *cli) detachBackup(ctx context.Context) error {
	if err := c.alone(); err != nil {
		return err
	}
	if err := store.Leave(ctx, c.cfg, c.log, config.NoBackup); err != nil && !errors.Is(err, store.ErrReplaced) {
		fmt.Fprintf(c.stderr, "odarchive: warning: %s\n", sentence(err))
	}
	to, err := store.Detach(c.cfg.Data)
	if err != nil {
		return err
	}
	if to == "" {
		return c.print(attachment{}, "%s has no continuous backup", c.cfg.Data)
	}
	return c.print(attachment{to}, "%s has no continuous backup any more; %s keeps what it has", c.cfg.Data, to)
}

func (c *cli) printBackup(name string, info backup.Info) error {
	fresh := 0
	for _, p := range info.Packs {
		if p.Contains {
			fresh++
		}
	}
	err := c.summary(info, "%s: state of %s, %s, %d of them in this file", name, info.Time.UTC().Format("2006-01-02 15:04:05"),
		english.Plural(len(info.Packs), "pack", ""), fresh)
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
	var withdrawals, at string
	var incomplete bool
	cmd := &cobra.Command{
		Use:   "restore FILE... | URL",
		Short: "Restore an archive from backups",
		Long: `Create the data directory from a full backup and the incremental ones after it, in order, or from a continuous backup in a bucket
('odarchive serve --backup-to'), as it was after the last commit that is not later than --at. The directory must be empty or not
exist. A restore from a bucket that was interrupted continues with the packs that it has. A backup still contains what was
withdrawn after it was made: --withdrawals withdraws it again.

The archive that is restored from a bucket has a history of its own. To go on with it in the same bucket, start it with 'odarchive
serve --promote'. The key of the transparency log is in no backup: copy the directory transparency beside it.`,
		Example: `  odarchive restore monday.odab --data restored
  odarchive restore monday.odab tuesday.odab --data restored
  odarchive restore monday.odab --data restored --withdrawals withdrawals.jsonl
  odarchive restore 's3://backups/archive?endpoint=https://s3.example.org' --data restored
  odarchive restore file:///var/backups/archive --at 2026-11-24T16:30:00Z --data restored`,
		Args: atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.Contains(args[0], "://") {
				if len(args) > 1 {
					return usagef("restore needs one URL, or files")
				}
				return c.restoreVault(cmd.Context(), args[0], at, withdrawals, incomplete)
			}
			if at != "" || incomplete {
				return usagef("--at and --incomplete need the URL of a continuous backup")
			}
			bar := c.progress(sizeOfAll(args), "bytes")
			defer bar.done()
			var read int64
			info, err := backup.Restore(cmd.Context(), c.cfg.Data, args, func(n int64) { read += n; bar.set(read, "restore") })
			if err != nil {
				return err
			}
			if len(info.Damaged) > 0 {
				fmt.Fprintf(c.stderr, "odarchive: warning: %s already damaged when the backup was made: run 'odarchive check --repair'\n",
					packsWere(info.Damaged))
			}
			if withdrawals != "" {
				if err := c.withdrawAgain(cmd.Context(), withdrawals); err != nil {
					return err
				}
			}
			return c.summary(info, "%s: the archive as of %s", c.cfg.Data, info.Time.UTC().Format("2006-01-02 15:04:05"))
		},
	}
	cmd.Flags().StringVar(&at, "at", "", "moment (RFC 3339) as of which the archive is restored from a bucket (default the last one)")
	cmd.Flags().BoolVar(&incomplete, "incomplete", false,
		"restore from a bucket also if objects are missing with what was acknowledged: what they had is lost")
	cmd.Flags().StringVar(&withdrawals, "withdrawals", "",
		"list of what was withdrawn, as 'odarchive admin withdrawals --json' prints it; the restored archive forgets it, too")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}
