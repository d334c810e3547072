package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/vault"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"

	"github.com/spf13/cobra"
)

func (c *cli) promote() *cobra.Command {
	var asItIs bool
	cmd := &cobra.Command{
		Use:   "promote",
		Short: "Turn a follower into the writer of the archive",
		Long: `Turn the directory of a follower ('odarchive serve --follow') into one that accepts changes. The command copies what the
directory lacks from the backup at --backup-to, and replaces the writer of that backup: the old writer accepts no more changes,
still answers queries, and cannot be started with this backup again. If the backup does not have all that the directory lacks,
the command fails and the old writer continues. Start the new writer with 'odarchive serve' and the same --backup-to.

If a server follows in the directory, and was started with --backup-to, the command tells that server to do all this, and waits
until it is done.

An archive that was restored from the backup is no follower: start it with 'odarchive serve --promote'.`,
		Example: `  odarchive promote --data follower --backup-to 's3://backups/archive?endpoint=https://s3.example.org'`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !c.cfg.Backup.On() {
				return usagef("promote needs --backup-to")
			}
			if !kv.IsReplica(c.cfg.Data) {
				if store.BaseOf(c.cfg.Data) != "" {
					switch is := store.AskWriter(cmd.Context(), c.cfg, c.log, c.cfg.Backup.To); is.Who {
					case vault.ThisOne:
						return c.print(promoted{}, "%s is that of the writer already", c.cfg.Data)
					case vault.NobodyKnows:
						return fmt.Errorf("%s can be written already: %w ('odarchive serve --promote')", c.cfg.Data, is.Err)
					case vault.AnotherOne, vault.Nobody, vault.NoVault, vault.CannotAsk: // the next sentence is so in any case
					}
				}
				return fmt.Errorf(
					"%s is not the directory of a follower, which 'odarchive serve --follow' makes; an archive that was restored is "+
						"started with 'odarchive serve --promote'", c.cfg.Data)
			}
			is := store.AskWriter(cmd.Context(), c.cfg, c.log, c.cfg.Backup.To)
			o, err := c.replaces(is, asItIs)
			if err != nil {
				return err
			}
			if is.Left != "" {
				fmt.Fprintf(c.stderr,
					"odarchive: warning: the writer left this backup on %s for another one or none (%s): what it committed since is only "+
						"there, and in what followed it\n", is.At.UTC().Format(time.RFC3339), is.Left)
			}
			done, err := c.promoteDirectory(cmd.Context(), replacing{instead: o.Epoch, asItIs: asItIs})
			if errors.Is(err, kv.ErrLocked) && kv.IsReplica(c.cfg.Data) { // by a server that follows
				if err := c.orderPromotion(cmd.Context(), o); err != nil {
					return err
				}
				return c.print(promoted{Server: true}, "the server of %s is the writer now", c.cfg.Data)
			}
			if err != nil {
				return err
			}
			if done.Anew != "" {
				return c.print(promoted{Promoted: &done},
					"%s can be written: write set %d, epoch %d; it lacked %d write sets of which the backup knows, and got %d of them; "+
						"the backup begins anew (%s); start it with 'odarchive serve' and the settings of the writer",
					c.cfg.Data, done.Number, done.Epoch, done.Fetched+done.Lost, done.Fetched, done.Anew)
			}
			return c.print(promoted{Promoted: &done},
				"%s can be written: write set %d, %d of them from the backup, epoch %d; start it with 'odarchive serve' and the settings "+
					"of the writer", c.cfg.Data, done.Number, done.Fetched, done.Epoch)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&asItIs, "as-it-is", false,
		"also if the backup cannot tell what the follower lacks, or a part of that is damaged: the backup begins anew with what it has "+
			"and what is sound before that, and what only the backup or another directory has is lost for the archive")
	f.StringVar(&c.cfg.Backup.To, "backup-to", c.cfg.Backup.To, "bucket of the continuous backup")
	f.StringVar(&c.cfg.Backup.Advertise, "advertise", c.cfg.Backup.Advertise,
		"address at which others reach the new writer (default --base, or that of the archive)")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// promoted is the result of promote. JSON names are stable.
type promoted struct {
	*vault.Promoted      // nil if the directory is that of the writer already, or its server has done it
	Server          bool `json:"server"` // the server of the directory is the writer
}

// replacing limits which writer a promotion replaces, and says with what. The zero value replaces any, with all that
// the backup has.
type replacing struct {
	instead uint64 // epoch of the writer, if not 0
	silent  string // sign of the writer that has been silent, if not ""
	asItIs  bool
	stands  func() error // says whether it is still wanted; nil if it is
	server  bool         // readers of this process wait for the end of it
}

// promoteDirectory makes the directory of a follower one that can be written.
func (c *cli) promoteDirectory(ctx context.Context, what replacing) (done vault.Promoted, err error) {
	o := bucket.Options{Logger: c.log}
	if what.server {
		o.Attempts, o.Stall = 2, 10*time.Second
	}
	b, err := bucket.Open(ctx, c.cfg.Backup.To, o)
	if err != nil {
		return done, usagef("--backup-to: %v", err)
	}
	if err := kv.Held(c.cfg.Data); err != nil { // by a server that follows: it does all this when it is ordered to
		return done, err
	}
	if err := c.sameArchive(ctx); err != nil { // also with --as-it-is, which no mistyped address may need
		return done, err
	}
	holder, err := store.OwnIdentity(c.cfg.Data)
	if err != nil {
		return done, err
	}
	bar := c.progress(-1, "bytes")
	defer bar.done()
	var read int64
	me := vault.Candidate{Holder: holder, URL: cmp.Or(c.cfg.Backup.Advertise, c.cfg.Base), Lease: store.BackupLease, Silent: what.silent,
		Instead: what.instead, Stands: what.stands,
		Epoch: store.LastEpoch(c.cfg.Data, c.cfg.Backup.To)}
	if err := store.NoteWriter(c.cfg.Data, c.cfg.Backup, 0, ""); err != nil { // before the directory can be written
		return done, err
	}
	done, err = vault.Promote(ctx, b, c.cfg.Data, me,
		vault.PromoteOptions{AsItIs: what.asItIs, Log: c.log,
			Progress: func(step string, n int64) { read += n; bar.set(read, "promote "+step) }})
	if err != nil {
		return done, vault.WithAsItIs(err)
	}
	if err := store.NoteWriter(c.cfg.Data, c.cfg.Backup, done.Epoch, done.Vault); err != nil { // the start of the server notes it, too
		c.log.Warn("the epoch could not be noted in the directory", "error", err)
	}
	return done, nil
}
