package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/triplestore/kv"

	"github.com/spf13/cobra"
)

func (c *cli) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the archive over HTTP and crawl in the background",
		Long: `Serve pages, SPARQL, downloads and the REST API, and crawl what is due. On SIGTERM the server finishes the current
requests, returns its leases, and exits with status 0. If a load balancer asks /readyz, the server says there first that it is
not ready, and goes on answering for --shutdown-delay. Without --token or a [[token]] table ('odarchive admin token -h') nothing can
be changed over HTTP. Other commands reach the server through a socket in the archive's directory, and do there what they do
alone; with --endpoint and --token they reach it from elsewhere. crawl, rebase, restore and warc import --cdx need the
directory for themselves. With --dump-every, it writes all triples to files at their times, which /dumps lists. With --read-only,
or if the directory is not writable, the server neither crawls nor writes. With --follow, the server is a read replica: it copies the archive at that address, follows it, and answers everything that only
reads; writes answer 403. If the transparency log has a key ('odarchive log -h'), it is signed daily.

On SIGHUP the server reads its settings again, and the secrets file, and says in the log what has changed. It follows --log-level,
--trust-proxy, --host-delay and the other settings of hosts, their proxy and their [[host]] tables, the [[token]] tables, --hours, --bandwidth,
--workers, --scope-allow, --scope-deny, --never-keep, --retention-at and the [[retention]] tables; others change at the next start, and a faulty file changes nothing. It also opens
--log-file again.`,
		Example: `  odarchive serve
  odarchive serve --listen 0.0.0.0:8080 --base https://archive.example.org/ --token "$SECRET" --contact ops@example.org
  odarchive serve --no-crawl
  odarchive serve --backup-to 's3://backups/archive?endpoint=https://s3.example.org'
  odarchive serve --dump-every 24h --dump-kind nq.gz --dump-kind hdt
  odarchive serve --query-memory 1GiB --total-memory 4GiB --total-temp 20GiB
  odarchive serve --read-only --listen 127.0.0.1:8081
  odarchive serve --follow https://archive.example.org/ --token "$SECRET" --data replica --listen 127.0.0.1:8081
  odarchive serve --listen :443 --tls-cert cert.pem --tls-key key.pem --base https://archive.example.org/
  odarchive serve --listen unix:/run/odarchive/web.sock --trust-proxy unix --base https://example.org/archive/`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.checkWorkers(); err != nil { // also of a follower, which may need them when it becomes the writer
				return err
			}
			e, err := c.openEdge(cmd.Flags()) // before the directory is touched
			if err != nil {
				return err
			}
			defer e.close()                     // Serve has closed it, unless it was not reached
			hangups, stop := listenForHangups() // first, since without it a hangup ends the process
			defer stop()
			if c.cfg.Follow.Writer != "" || kv.IsReplica(c.cfg.Data) && !c.reads {
				return c.serveFollower(cmd, e, hangups)
			}
			return c.serveDirectory(cmd, e, hangups, false)
		},
	}
	mainFlags(cmd, "listen", "token", "token-file", "closed", "no-crawl", "read-only", "contact", "tls-cert", "tls-key", "trust-proxy",
		"backup-to", "dump-every", "follow", "warc")
	f := cmd.Flags()
	c.cfg.ServeFlags(f)
	f.BoolVar(&c.cfg.Serve.NoCrawl, "no-crawl", false, "serve without crawling")
	c.cfg.FetchFlags(f)
	c.cfg.WARCFlag(f)
	c.cfg.HookFlags(f)
	c.cfg.EvidenceFlags(f)
	c.cfg.RetentionFlags(f)
	c.cfg.DumpFlags(f)
	c.cfg.MachinesFlags(f)
	c.readOnlyFlag(cmd)
	return cmd
}

// serveDirectory serves the archive's directory, which is no replica's, until ctx ends. promoted says that this process
// has followed in it before.
func (c *cli) serveDirectory(cmd *cobra.Command, e *edge, hangups <-chan os.Signal, promoted bool) error {
	values := valuesOf(cmd.Flags())
	if !promoted && !cmd.Flags().Changed("base") && isLocal(c.cfg.Base) {
		c.cfg.Base = cmp.Or(e.base(), c.cfg.Base)
	}
	opening, opened := context.WithCancel(cmd.Context())
	defer opened()
	go e.notify.Opening(opening) // ends with opened
	opts := store.Options{Create: true, Reads: store.IfUnwritable}
	if c.reads {
		opts = store.Options{Reads: store.AlwaysReadOnly}
	}
	err := c.with(cmd.Context(), opts, func(n *app.Node) error {
		if err := n.BeginBackup(cmd.Context(), cmp.Or(c.cfg.Backup.Advertise, n.Mint.Base)); err != nil {
			return err
		}
		stop, err := c.serveSample(cmd.Context(), n) // with the commands that run in the server, too
		if err != nil {
			return err
		}
		opened()
		ready := func() {
			fmt.Fprintf(c.stderr, "ODArchive is ready at %s (listening on %s)\n", n.Mint.Base, e.places())
		}
		reloads := c.newReloader(n, e, values)
		crawl := !c.cfg.Serve.NoCrawl && n.ReadOnlyReason == ""
		err = c.serveNode(cmd.Context(), n, e, ready, func(ctx context.Context) { reloads.run(ctx, hangups) }, crawl)
		return errors.Join(err, stop())
	})
	if errors.Is(err, context.Canceled) && cmd.Context().Err() != nil {
		return c.stoppedEarly()
	}
	return err
}

// stoppedEarly says that the server was stopped before it answered. That is no error: whoever stops a server cannot
// know how far it is.
func (c *cli) stoppedEarly() error {
	fmt.Fprintln(c.stderr, "odarchive: stopped before the server was ready")
	return nil
}

// listenForHangups returns a channel that gets each SIGHUP, at least the first of those that nobody has taken yet,
// until stop is called.
func listenForHangups() (hangups <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}

// serveNode serves and crawls until ctx ends or the server fails. It calls ready when clients and commands can ask the
// server. reload, if not nil, runs beside it. Failures of background jobs are shown, and the jobs are retried.
func (c *cli) serveNode(ctx context.Context, n *app.Node, e *edge, ready func(), reload func(context.Context), crawl bool) error {
	var handler http.Handler
	n.Commands = c.served(n)
	handler, err := n.Handler()
	if err != nil {
		return err
	}
	listeners := slices.Clone(e.listeners)
	if n.ReadOnlyReason == "" {
		local, err := n.ListenSocket()
		if err != nil {
			c.log.Warn("commands cannot ask this server without a token", "err", err)
		} else {
			defer local.Close()
			listeners = append(listeners, local)
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var background sync.WaitGroup
	background.Go(func() { c.watch(ctx, e) })
	if reload != nil {
		background.Go(func() { reload(ctx) })
	}
	requests, noRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer noRequests()
	background.Go(func() { n.Background(ctx, requests, crawl) })
	ready() // requests wait in the listeners' queues from now on, commands in that of the socket
	e.notify.Ready("ready at " + n.Mint.Base)
	defer context.AfterFunc(ctx, e.notify.Stopping)()
	err = faces.Serve(ctx, c.log, handler, c.cfg.Serve.ShutdownDelay, listeners...)
	stop()
	noRequests()
	background.Wait()
	return err
}
