package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/transparency"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

// transparencyLog returns the command of the transparency log.
func (c *cli) transparencyLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Sign, show, publish, witness and audit the transparency log",
		Long: `Each version is a leaf of the archive's transparency log: an append-only Merkle tree over URL, number, time, bytes and HTTP
head of all versions. A checkpoint is the size and the root hash of the tree, signed with a key that you keep. Whoever has a
checkpoint can prove which files the archive held ('odarchive prove', 'odarchive verify'), and finds out if the archive ever
changes or drops one of them ('odarchive verify --checkpoint OLD --against URL').

Begin with 'odarchive log key new'. A server then signs daily. The key is not encrypted, since a server signs by itself; only
its owner can read the file, and no backup contains it. Beside it is the last checkpoint that it has signed: whatever
happens to the archive, the key never signs two different histories. An archive that was restored from an older backup and
has signed since begins a new log, with a new key in another file and another --origin.

The log is served at /log/ as C2SP tlog-tiles has it, and can be exported as static files.`,
		Example: `  odarchive log key new
  odarchive log sign -o checkpoint.txt
  odarchive log show --json
  odarchive log publish /srv/www/log
  odarchive log witness new witness.example/w1 > witness.key
  odarchive log audit https://archive.example.org/ --since checkpoint.txt`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.logShow(), c.logSign(), c.logTimestamp(), c.logPublish(), c.logKey(), c.logWitness(), c.logAudit())
	return cmd
}

// logState is what `log show` prints.
type logState struct {
	Versions int64      `json:"versions"`
	Signed   int64      `json:"signed"` // size of the latest checkpoint, 0 if there is none
	At       *time.Time `json:"at,omitempty"`
	Origin   string     `json:"origin,omitempty"`
	Root     string     `json:"root,omitempty"`
	Keys     []string   `json:"keys"`
	Note     string     `json:"checkpoint,omitempty"`
}

func (c *cli) logShow() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show",
		Short:   "Print the size of the log, its latest checkpoint and its keys",
		Example: "  odarchive log show\n  odarchive log show --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				s, err := stateOf(n)
				if err != nil {
					return err
				}
				signed := "none is signed yet"
				if s.Signed > 0 {
					signed = fmt.Sprintf("%d of them in the checkpoint of %s\n\n%s", s.Signed, s.At.Format("2006-01-02 15:04:05 UTC"),
						strings.TrimSuffix(s.Note, "\n"))
				}
				return c.print(s, "%d versions in the log; %s", s.Versions, signed)
			})
		},
	}
	c.cfg.LogKeyFlag(cmd.Flags())
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return cmd
}

func stateOf(n *app.Node) (s logState, err error) {
	if s.Versions, err = n.Leaves(); err != nil {
		return s, err
	}
	if s.Keys, err = n.LogKeys(); err != nil {
		return s, err
	}
	last, signed, err := n.Checkpoint()
	if err != nil || !signed {
		return s, err
	}
	origin, tree, err := transparency.ParseNote(last.Note)
	s.Signed, s.At, s.Origin, s.Root, s.Note = tree.N, &last.Signed, origin, tree.Hash.String(), string(last.Note)
	return s, err
}

func (c *cli) logSign() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "sign",
		Short: "Sign the log as it is now, and print the checkpoint",
		Long: `Sign the log as it is now, and print the checkpoint. Keep checkpoints elsewhere, or give them to others: they are what the
archive cannot take back. With --log-witness URL#KEY witnesses are asked to cosign it, and with --tsa an authority to stamp
it. If a server holds the archive, or with --endpoint, that server signs with its key, and asks whom its settings name.

Exit status: 0 signed, 1 not signed: there is no key, or the log does not continue what the key has signed before.`,
		Example: `  odarchive log sign -o checkpoint.txt
  odarchive log sign --endpoint http://localhost:8080/ --token "$SECRET"`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.with(cmd.Context(), store.Options{}, func(n *app.Node) error {
				signed, err := signAndAsk(cmd.Context(), n)
				if len(signed.Note) == 0 {
					return err
				}
				return errors.Join(c.writeBytes(out, signed.Note), err)
			})
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "-", "file to write, - for standard output")
	c.cfg.LogKeyFlag(cmd.Flags())
	c.cfg.VouchFlags(cmd.Flags())
	c.cfg.FetchFlags(cmd.Flags())
	return c.beside(cmd, besideOptions{right: access.Admin})
}

func (c *cli) logPublish() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "publish DIR",
		Short: "Write the signed log as static files",
		Long: `Write the log, up to its latest checkpoint, as files that any web server can publish: checkpoint, and the tiles and entries
below tile/ (C2SP tlog-tiles). A later call adds what is new. The checkpoint is written last.`,
		Example: "  odarchive log publish /srv/www/log\n  odarchive verify --checkpoint yesterday.txt --against /srv/www/log",
		Args:    exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				last, written, err := transparency.Export(cmd.Context(), n.DB, args[0])
				if err != nil {
					return err
				}
				return c.print(map[string]any{"versions": last.Size, "files": written}, "%s: %d versions, %d new files", args[0], last.Size,
					written)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return cmd
}

func (c *cli) logKey() *cobra.Command {
	var origin string
	cmd := &cobra.Command{
		Use:   "key",
		Short: "Make, show, rotate or retire the key of the log",
		Long: `The key signs checkpoints. 'new' makes one and prints its public part: publish that, and keep a copy of the file where the
archive is not. 'rotate' makes a new key; the former one signs beside it, so that those who trust it learn of the new one,
until 'retire' drops it.`,
		Example: `  odarchive log key new --base https://archive.example.org/
  odarchive log key show
  odarchive log key rotate
  odarchive log key retire`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, sub := range []struct {
		name, short string
		run         func(file string) (*transparency.Key, error)
	}{
		{"new", "Make the key", func(file string) (*transparency.Key, error) {
			if origin == "" {
				origin = transparency.Origin(c.cfg.Base)
			}
			return transparency.NewKey(file, origin)
		}},
		{"show", "Print the public keys, the present one first", transparency.ReadKey},
		{"rotate", "Make a new key; the former ones sign beside it", transparency.RotateKey},
		{"retire", "Drop the former keys", transparency.RetireKeys},
	} {
		one := &cobra.Command{
			Use: sub.name, Short: sub.short, Args: exactly(), Example: "  odarchive log key " + sub.name,
			RunE: func(*cobra.Command, []string) error {
				k, err := sub.run(c.cfg.LogKey())
				if err != nil {
					return err
				}
				return c.print(map[string]any{"origin": k.Origin, "keys": k.Public, "file": c.cfg.LogKey()}, "%s",
					strings.Join(k.Public, "\n"))
			},
		}
		if sub.name == "new" {
			one.Flags().StringVar(&origin, "origin", "",
				"name of the log, the first line of its checkpoints (default the address of --base without its scheme, and /log)")
		}
		c.cfg.LogKeyFlag(one.Flags())
		one.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
		cmd.AddCommand(one)
	}
	return cmd
}

// writeBytes writes to standard output or to a file.
func (c *cli) writeBytes(name string, b []byte) error {
	return c.writeTo(name, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// explained adds to an error what to do about it.
func explained(ctx context.Context, err error) error {
	if errors.Is(err, transparency.ErrForked) && ctx.Err() == nil {
		return fmt.Errorf("%w. Keep both checkpoints: together they prove it", err)
	}
	return err
}
