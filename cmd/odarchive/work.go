package main

import (
	"errors"
	"fmt"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"

	"github.com/spf13/cobra"
)

func (c *cli) work() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "work --join NATS-URL",
		Short: "Fetch and examine files for an archive that runs elsewhere",
		Long: `Make visits for an archive that is served by 'odarchive serve --nats …', on this machine or another one. The archive
says what to visit and how: the URLs, what robots.txt files say, the delays, the scope, the User-Agent and the limits. This
process fetches, recognises and profiles the files, compresses them, and sends them to the archive. It keeps nothing that
matters: it can be killed at any time, and its URLs are visited again. While the archive or the NATS server is away, it waits.

Its own settings are those of this machine's network: --allow-net, --allow-private-hosts, --resolver, --proxy, --bandwidth,
and how many hosts it visits at a time (--workers). With --bytes, the bucket of the archive's own --bytes, large files go
through that bucket rather than over NATS; if it cannot be used, they go over NATS. On SIGTERM it finishes its visits, or returns them, and exits with
status 0. Temporary files are in TMPDIR; what a killed process left there is removed at the next start.`,
		Example: `  odarchive work --join nats://archive.example.org:4222 --nats-token-file token
  odarchive work --join nats://127.0.0.1:4222 --workers 64 --listen 127.0.0.1:9090
  odarchive work --join tls://archive.example.org:4222/weather --nats-ca ca.pem --nats-nkey-file worker.seed`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.cfg.Workers.Join == "" {
				return usagef("work needs --join, the address of the archive's NATS server, as nats://HOST:4222")
			}
			if _, err := c.cfg.Workers.Credentials(); err != nil {
				return usageError{err}
			}
			err := crawl.Work(cmd.Context(), c.cfg, c.log)
			if cmd.Context().Err() != nil && (err == nil || errors.Is(err, cmd.Context().Err())) {
				return nil
			}
			return err
		},
	}
	f := cmd.Flags()
	c.cfg.JoinFlags(f)
	c.cfg.FetchFlags(f)
	return cmd
}

// checkWorkers checks the settings of workers before the directory is touched.
func (c *cli) checkWorkers() error {
	w := c.cfg.Workers
	switch w.NATS {
	case "":
		return nil
	case config.Embedded:
		if _, err := w.Server(); err != nil {
			return usageError{err}
		}
	default:
		if _, err := w.Credentials(); err != nil {
			return usageError{err}
		}
	}
	if c.reads {
		return usagef("--nats and --read-only: workers need an archive that can be written")
	}
	if c.cfg.Fetch.WARC != "" {
		fmt.Fprintln(c.stderr,
			"odarchive: with --warc this process fetches everything itself, since it writes what "+
				"was on the wire; workers get nothing to do")
	}
	return nil
}
