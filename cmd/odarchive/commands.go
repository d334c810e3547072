package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"

	"github.com/spf13/cobra"
)

// commands of the program, in the order help shows them.
func (c *cli) commands() []*cobra.Command {
	return []*cobra.Command{
		c.serve(), c.demo(), c.add(), c.harvest(), c.crawl(), c.schedule(), c.requeue(), c.drop(),
		c.query(), c.update(), c.zip(), c.get(), c.diff(), c.load(), c.dump(),
		c.check(), c.compact(), c.backup(), c.restore(), c.stats(), c.quality(), c.detect(), c.profile(), c.version(),
	}
}

// open opens the archive in --data. Commands that only read do not make one.
func (c *cli) open(ctx context.Context, opts store.Options) (*app.Node, error) {
	node, err := app.Open(ctx, c.cfg, c.log, opts)
	if err != nil {
		return nil, err
	}
	return node, nil
}

// with opens the archive, runs f and closes it; the first error counts.
func (c *cli) with(ctx context.Context, opts store.Options, f func(*app.Node) error) error {
	node, err := c.open(ctx, opts)
	if err != nil {
		return err
	}
	err = f(node)
	if closeErr := node.Close(); err == nil {
		err = closeErr
	}
	return err
}

// reading opens the archive as with does, for a command that only reads: without writing anything where --read-only says
// so, the directory cannot be written to, or another process holds it; then it says so.
func (c *cli) reading(ctx context.Context, f func(*app.Node) error) error {
	opts := store.Options{Reads: store.IfHeld}
	if c.reads {
		opts.Reads = store.AlwaysReadOnly
	}
	return c.with(ctx, opts, func(n *app.Node) error {
		if n.ReadOnlyReason != "" && !c.reads {
			fmt.Fprintln(c.stderr, "odarchive:", n.ReadOnlyReason)
		}
		return f(n)
	})
}

// readOnlyFlag binds --read-only.
func (c *cli) readOnlyFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.reads, "read-only", false, "write nothing to the archive's directory")
}

// remote is the process to ask instead of opening the directory: the server of --endpoint, or the one that holds the
// directory, at its socket. nil if there is none.
func (c *cli) remote(ctx context.Context) *faces.Remote {
	if c.server != "" {
		return faces.NewRemote(c.server, c.cfg.Serve.Token)
	}
	if c.reads {
		return nil
	}
	return faces.HolderOf(ctx, c.cfg.Data)
}

// remoteFlags binds what names a server.
func (c *cli) remoteFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.server, "endpoint", "", "address of a running odarchive to ask; without it the one that holds --data is asked, if there is one")
	cmd.Flags().StringVar(&c.cfg.Serve.Token, "token", c.cfg.Serve.Token, "the server's token")
}

// print writes one result: JSON for programs, a line for people.
func (c *cli) print(value any, format string, args ...any) error {
	if c.json {
		e := json.NewEncoder(c.stdout)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return err
}

// clock is the archive's clock: the system's, or one that was set with --at and runs on from there.
func clock(at string) (func() time.Time, error) {
	if at == "" {
		return time.Now, nil
	}
	start, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, usagef("--at %q is no time such as 2026-11-21T06:00:00Z", at)
	}
	began := time.Now()
	return func() time.Time { return start.Add(time.Since(began)) }, nil
}
