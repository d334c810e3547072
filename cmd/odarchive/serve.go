package main

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"odarchive/cmd/internal/app"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

func (c *cli) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the archive over HTTP and crawl in the background",
		Long: `Serve pages, SPARQL, downloads and the REST API, and crawl what falls due. SIGTERM lets requests under way finish
and returns leases, then exits 0. Without --token nothing can be added or changed over HTTP. Commands ask the
server that holds their archive, through a socket in its directory. With --read-only, or where the directory cannot be
written to, it serves what is there, and neither crawls nor writes.`,
		Example: `  odarchive serve
  odarchive serve --listen 0.0.0.0:8080 --base https://archive.example.org/ --token "$SECRET" --contact ops@example.org
  odarchive serve --no-crawl
  odarchive serve --read-only --listen 127.0.0.1:8081`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := app.Listen(c.cfg.Serve.Listen)
			if err != nil {
				return err
			}
			defer l.Close()
			if !cmd.Flags().Changed("base") && c.cfg.Base == "http://localhost:8080/" {
				c.cfg.Base = localBase(l)
			}
			opts := app.Options{Create: true, Reads: app.IfUnwritable}
			if c.reads {
				opts = app.Options{Reads: app.AlwaysReadOnly}
			}
			return c.with(cmd.Context(), opts, func(n *app.Node) error {
				fmt.Fprintf(c.stderr, "ODArchive is ready at %s (listening on %s)\n", n.Mint.Base, l.Addr())
				return c.serveNode(cmd.Context(), n, l, !c.cfg.Serve.NoCrawl && n.Beside == "")
			})
		},
	}
	f := cmd.Flags()
	c.cfg.ServeFlags(f)
	f.BoolVar(&c.cfg.Serve.NoCrawl, "no-crawl", false, "serve only")
	c.cfg.FetchFlags(f)
	c.readOnlyFlag(cmd)
	return cmd
}

// localBase is the address people on this machine reach the listener at.
func localBase(l net.Listener) string {
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String() + "/"
	}
	return "http://localhost:" + port + "/"
}

// serveNode serves and crawls until ctx ends; both stop in order, and the first failure stops the other.
func (c *cli) serveNode(ctx context.Context, n *app.Node, l net.Listener, crawl bool) error {
	var handler http.Handler
	handler, err := n.Handler()
	if err != nil {
		return err
	}
	listeners := []net.Listener{l}
	if n.Beside == "" {
		local, err := n.ListenSocket()
		if err != nil {
			c.log.Warn("commands cannot ask this server without a token", "error", err)
		} else {
			defer local.Close()
			listeners = append(listeners, local)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return app.Serve(ctx, c.log, handler, listeners...) })
	group.Go(func() error {
		if err := n.Archive.Load(ctx); err != nil && ctx.Err() == nil {
			return err // the first search would only meet it later
		}
		return nil
	})
	group.Go(func() error { return n.ScrubInBackground(ctx) })
	if crawl {
		group.Go(func() error { return n.CrawlInBackground(ctx) })
		group.Go(func() error { return n.MeasureInBackground(ctx) })
	} else if n.Beside == "" {
		group.Go(func() error { n.Pipeline.KeepJoined(ctx); return nil }) // what an earlier crawl has left
	}
	return group.Wait()
}
