package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/exchange/timestamp"
	"odarchive/triplestore/disk"

	"github.com/spf13/cobra"
)

func (c *cli) prove() *cobra.Command {
	var out, checkpoint string
	version := -1
	cmd := &cobra.Command{
		Use:   "prove VERSION-IRI|URL",
		Short: "Write the proof that the archive held a version",
		Long: `Write the proof (C2SP tlog-proof) that a version is in the archive's transparency log, as its latest checkpoint has it. With
--checkpoint, the proof is for that one, which somebody kept. 'odarchive verify PROOF FILE' checks it without the archive. The
version may also be named by its id, {ID}_{N}, or by the URL of the file: then it is the latest, or that of --version. The server
that holds the archive is asked, or that of --endpoint. The proof of a version that was withdrawn shows its digest, not its address.`,
		Example: `  odarchive prove http://localhost:8080/api/v1/get/file/id/0123456789abcdef01234567_0 -o trees.tlog-proof
  odarchive prove https://example.org/data.csv --version 0 -o data.tlog-proof
  odarchive prove 0123456789abcdef01234567_0 --checkpoint yesterday.txt -o trees.tlog-proof
  odarchive verify trees.tlog-proof trees.csv`,
		Args: exactly("VERSION-IRI or URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var old []byte
			if checkpoint != "" {
				var err error
				if old, err = c.readInput(checkpoint, maxKeyText); err != nil {
					return err
				}
			}
			return c.reading(cmd.Context(), func(n *app.Node) error {
				id, isID := n.Archive.VersionID(args[0])
				if !isID || version >= 0 {
					v, err := wanted(cmd.Context(), n, args[0], version, time.Time{})
					if err != nil {
						return err
					}
					id = v.ID
				}
				keys, err := n.LogKeys()
				if err != nil {
					return err
				}
				p, err := n.Archive.Prove(id, old, keys)
				if err != nil {
					return explained(cmd.Context(), err)
				}
				text, err := p.Format()
				if err != nil {
					return err
				}
				return c.writeBytes(out, text)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "output", "o", "-", "file to write, - for standard output")
	f.StringVar(&checkpoint, "checkpoint", "", "file with the checkpoint that the proof is for (default the latest)")
	number(f, &version, "version", 0, unbounded, "with URL: number of the version, 0 for the first; the latest by default")
	c.cfg.LogKeyFlag(f)
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{inputs: func([]string) []string {
		if checkpoint == "" {
			return nil
		}
		return []string{checkpoint}
	}})
}

// readInput reads a file that the command line names, at most max bytes.
func (c *cli) readInput(name string, max int64) ([]byte, error) {
	in, err := c.openInput(name)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(in, max+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	if int64(len(b)) > max {
		return nil, fmt.Errorf("%s has more than %d bytes", name, max)
	}
	return b, nil
}

func (c *cli) verify() *cobra.Command {
	var keys []string
	var checkpoint, against, roots string
	cmd := &cobra.Command{
		Use:   "verify [PROOF FILE]",
		Short: "Check a proof, or that an archive's log continues an old checkpoint",
		Long: `Check that PROOF proves that an archive held FILE. Only the proof and the file are read; neither an archive nor the network is
needed.
Without --key or --checkpoint the proof is checked with the key that it names itself: compare that key, which is printed,
with the one that the archive publishes. With --key, a trusted key must have signed; it may also be that of a witness.
With --checkpoint FILE the proof must be for that checkpoint, which you kept or got from others. With --tsa-roots the proof must
have a time stamp of an authority that you trust; without, the authority's certificate is not checked.

With --checkpoint OLD --against URL|DIR there is no proof: the command checks that the archive's log still begins with
everything that was in the old checkpoint. URL is an archive, DIR the directory of an archive or of an exported log.

Exit status: 0 it holds, 1 it does not hold or could not be checked, 2 wrong usage.`,
		Example: `  odarchive verify trees.tlog-proof trees.csv
  odarchive verify trees.tlog-proof trees.csv --key archive.example.org/log+1a2b3c4d+AQ…
  odarchive verify trees.tlog-proof trees.csv --checkpoint yesterday.txt --json
  odarchive verify trees.tlog-proof trees.csv --tsa-roots tsa-root.pem
  odarchive verify --checkpoint yesterday.txt --against https://archive.example.org/`,
		Args: func(_ *cobra.Command, args []string) error {
			if against == "" && len(args) != 2 {
				return usagef("verify needs PROOF and FILE, or --checkpoint and --against")
			}
			if against != "" && (len(args) != 0 || checkpoint == "") {
				return usagef("verify --against needs --checkpoint, and no PROOF")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trusted := transparency.Trusted{}
			var err error
			if trusted.Keys, err = c.trustedKeys(keys); err != nil {
				return err
			}
			if checkpoint != "" {
				if trusted.Checkpoint, err = disk.ReadFile(disk.OS{}, checkpoint, maxKeyText); err != nil {
					return err
				}
			}
			if roots != "" {
				text, err := disk.ReadFile(disk.OS{}, roots, maxRoots)
				if err != nil {
					return err
				}
				if trusted.Roots, err = timestamp.Roots(text); err != nil {
					return usageError{fmt.Errorf("--tsa-roots %s: %w", roots, err)}
				}
			}
			if against != "" {
				return c.verifyLog(cmd.Context(), against, trusted)
			}
			return c.verifyProof(args[0], args[1], trusted)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&keys, "key", nil, "key of the log or of a witness, or a file with it (repeatable)")
	f.StringVar(&checkpoint, "checkpoint", "", "file with a checkpoint that you trust")
	f.StringVar(&against, "against", "", "archive, or directory of an archive or an exported log, to compare the checkpoint with")
	f.StringVar(&roots, "tsa-roots", "",
		"file (PEM) with certificates of time-stamping authorities: the proof must have a time stamp that leads to one")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

// verifyProof checks the proof in one file about the bytes in another.
func (c *cli) verifyProof(proof, file string, trusted transparency.Trusted) error {
	text, err := disk.ReadFile(disk.OS{}, proof, transparency.MaxProof)
	if err != nil {
		return err
	}
	p, err := transparency.ParseProof(text)
	if err != nil {
		return fmt.Errorf("%s: %w", proof, err)
	}
	sum, err := digestOf(file)
	if err != nil {
		return err
	}
	v, err := p.Verify(sum, trusted)
	if err != nil {
		return fmt.Errorf("%s: %w", proof, err)
	}
	what := "a file whose address is not shown"
	if v.URL != "" {
		what = printable(v.URL)
	}
	when := v.At.Format("2006-01-02 15:04:05 UTC")
	switch {
	case v.Others:
		when += ", according to the archive that it came from"
	case v.Recorded:
		when += ", according to a record that was older than the log"
	}
	trust := "signed with a key that you trust"
	switch v.Trust {
	case transparency.TrustCheckpoint:
		trust = "the checkpoint that you trust"
	case transparency.TrustNone:
		trust = "signed with a key that only the proof names: " + printable(strings.Join(p.Subject.Keys, " ")) +
			"; compare it with the archive's, or give --key"
	}
	var seen []string
	for _, w := range v.Witnesses {
		seen = append(seen, fmt.Sprintf("\nwitness: %s at %s", printable(w.Name), w.At.Format("2006-01-02 15:04:05 UTC")))
	}
	if s := v.TimeStamp; s != nil {
		trusted := "; its certificate was not checked: give --tsa-roots"
		if s.Trusted {
			trusted = ", an authority that you trust"
		}
		seen = append(seen, fmt.Sprintf("\ntime stamp: %s by %s%s", s.Time.Format("2006-01-02 15:04:05 UTC"), printable(s.Authority),
			trusted))
	}
	return c.print(v, "%s is version %d of %s, archived %s\nlog: %s, leaf %d of %d, %s%s", file, v.N, what, when, printable(v.Log), v.Index,
		v.Size, trust, strings.Join(seen, ""))
}

func digestOf(file string) (sum [32]byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return sum, err
	}
	return [32]byte(h.Sum(nil)), nil
}

// verifyLog checks that a log continues a checkpoint.
func (c *cli) verifyLog(ctx context.Context, against string, trusted transparency.Trusted) error {
	origin, before, err := transparency.ParseNote(trusted.Checkpoint)
	if err != nil {
		return err
	}
	return c.withLog(ctx, against, func(files transparency.Files) error {
		signed, err := files(ctx, transparency.CheckpointFile)
		if err != nil {
			return err
		}
		now, tree, err := transparency.ParseNote(signed)
		if err == nil && len(trusted.Keys) > 0 {
			now, tree, err = transparency.OpenNote(signed, trusted.Keys)
		}
		if err == nil && now != origin {
			err = fmt.Errorf("the checkpoint is of the log %s, and %s has %s", origin, against, now)
		}
		if err == nil {
			err = transparency.Consistent(ctx, before, tree, files)
		}
		if err != nil {
			return explained(ctx, err)
		}
		return c.print(map[string]any{"log": now, "before": before.N, "now": tree.N, "consistent": true},
			"%s: the %d versions of the checkpoint are the first of %d", printable(now), before.N, tree.N)
	})
}

// withLog calls f with the files of a log: of an archive on the web or in a directory, or of an exported log.
func (c *cli) withLog(ctx context.Context, where string, f func(transparency.Files) error) error {
	if strings.Contains(where, "://") {
		files, err := transparency.OfWeb(&http.Client{Timeout: requestTime}, where)
		if err != nil {
			return usageError{err}
		}
		return f(files)
	}
	if _, err := os.Stat(filepath.Join(where, "odarchive.json")); err != nil {
		return f(transparency.OfDirectory(where))
	}
	c.cfg.Data = where
	return c.reading(ctx, func(n *app.Node) error { return f(transparency.OfArchive(n.DB)) })
}
