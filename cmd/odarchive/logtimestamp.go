package main

import (
	"context"
	"crypto/x509"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/archive/transparency"
	"odarchive/crawler/exchange/timestamp"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
)

func (c *cli) logTimestamp() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timestamp",
		Short: "Let a time-stamping authority stamp the latest checkpoint",
		Long: `Send the digest of the latest checkpoint to a time-stamping authority (RFC 3161), and keep its answer with the checkpoint if it
holds: signature, digest, nonce, time, and a certificate that leads to one of --tsa-roots. Proofs then contain it, and
'odarchive verify --tsa-roots' checks it. So the authority, too, says that the archive held the files when it signed. 'odarchive
serve --tsa URL' does this daily. The stamp is over the text of the checkpoint before its signatures: with that in a file,
'openssl ts -verify -data TEXT -in checkpoint.tsr -CAfile ROOTS' checks what /log/checkpoint.tsr serves.

Exit status: 0 stamped, 1 not stamped.`,
		Example: `  odarchive log timestamp --tsa https://tsa.example.org/tsr
  odarchive log timestamp --tsa https://tsa.example.org/tsr --tsa-roots tsa-root.pem`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.cfg.Evidence.TSA == "" {
				return usagef("log timestamp needs --tsa")
			}
			roots, err := c.tsaRoots(cmd.Flags().Changed("tsa-roots"))
			if err != nil {
				return usageError{err}
			}
			return c.with(cmd.Context(), store.Options{}, func(n *app.Node) error {
				last, err := latestCheckpoint(n)
				if err != nil {
					return err
				}
				s, err := n.TimeStamp(cmd.Context(), last, c.cfg.Evidence.TSA, roots)
				if err != nil {
					return err
				}
				return c.print(s, "%d versions, stamped %s by %s", last.Size, s.Time.Format("2006-01-02 15:04:05 UTC"),
					printable(s.Authority))
			})
		},
	}
	f := cmd.Flags()
	c.cfg.TSAFlags(f)
	c.cfg.FetchFlags(f)
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Admin, settings: []string{"tsa", "tsa-roots"}, inputs: func([]string) []string {
		if !f.Changed("tsa-roots") {
			return nil
		}
		return []string{c.cfg.Evidence.TSARoots}
	}})
}

// tsaRoots returns the certificates of the authorities that are trusted: of the file that the command line names, which
// may be a client's, or of the settings.
func (c *cli) tsaRoots(named bool) (*x509.CertPool, error) {
	if !named {
		return c.cfg.TSATrusted()
	}
	text, err := c.readInput(c.cfg.Evidence.TSARoots, maxRoots)
	if err != nil {
		return nil, err
	}
	return timestamp.Roots(text)
}

// maxRoots bounds a file with certificates, in bytes.
const maxRoots = 4 << 20

// latestCheckpoint returns the latest checkpoint, or an error if there is none.
func latestCheckpoint(n *app.Node) (c transparency.Checkpoint, err error) {
	err = transparency.View(n.DB, func(t transparency.Txn) error { c, err = t.CheckpointFor(nil); return err })
	return c, err
}

// signAndAsk signs the log, and asks those whom the settings name to vouch for it. It returns the checkpoint even if
// they do not.
func signAndAsk(ctx context.Context, n *app.Node) (c transparency.Checkpoint, err error) {
	if c, err = n.SignLog(ctx); err != nil {
		return c, err
	}
	if err = n.Vouch(ctx); err != nil {
		return c, err
	}
	return latestCheckpoint(n)
}
