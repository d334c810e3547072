package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"

	"github.com/spf13/cobra"
)

// open opens the archive in --data.
func (c *cli) open(ctx context.Context, opts store.Options) (*app.Node, error) {
	node, err := app.Open(ctx, c.cfg, c.log, opts)
	if err != nil {
		return nil, err
	}
	return node, nil
}

// with opens the archive, unless this process runs the command for a client, runs f, closes the archive, and returns
// the first error.
func (c *cli) with(ctx context.Context, opts store.Options, f func(*app.Node) error) error {
	if c.call != nil { // the server has opened it
		return f(c.call.node)
	}
	node, err := c.open(ctx, opts)
	if err != nil {
		return err
	}
	err = func() error {
		if opts.Reads > store.NeverReadOnly {
			return f(node)
		}
		end, err := node.RunBackup(ctx) // of the settings, or of the directory: what a command commits is copied, too
		if err != nil {
			return err
		}
		stop, err := c.serveSample(ctx, node)
		if err != nil {
			return errors.Join(err, end())
		}
		return errors.Join(f(node), stop(), end())
	}()
	if closeErr := node.Close(); err == nil {
		err = closeErr
	}
	return err
}

// reading opens the archive for a command that only reads, and runs f. It writes nothing if --read-only is set, if the
// directory is not writable, or if another process holds it; in the last two cases it prints the reason.
func (c *cli) reading(ctx context.Context, f func(*app.Node) error) error {
	return c.readingAs(ctx, store.Options{Reads: store.IfHeld}, f)
}

// copying is reading for a command that notes in the archive where it writes copies, if it may.
func (c *cli) copying(ctx context.Context, f func(*app.Node) error) error {
	return c.readingAs(ctx, store.Options{Reads: store.IfHeld, Notes: true}, f)
}

func (c *cli) readingAs(ctx context.Context, opts store.Options, f func(*app.Node) error) error {
	if c.reads {
		opts.Reads = store.AlwaysReadOnly
	}
	return c.with(ctx, opts, func(n *app.Node) error {
		if n.ReadOnlyReason != "" && !n.ReadsOnly && !c.reads && c.call == nil {
			fmt.Fprintln(c.stderr, "odarchive:", n.ReadOnlyReason)
		}
		return f(n)
	})
}

// readOnlyFlag defines --read-only.
func (c *cli) readOnlyFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.reads, "read-only", false, "write nothing to the archive's directory")
}

// remote returns the process to ask instead of opening the directory: the server of --endpoint, or the one that holds
// the directory, at its socket. It returns nil if there is none.
func (c *cli) remote(ctx context.Context) (r *faces.Remote) {
	switch {
	case c.server != "":
		r = faces.NewRemote(c.server, c.cfg.Serve.Token)
	case !c.reads:
		r = faces.HolderOf(ctx, c.cfg.Data)
	}
	if r != nil {
		r.Slow = func() { fmt.Fprintln(c.stderr, "odarchive: waiting for the server; its log says what it waits for") }
	}
	return r
}

// remoteFlags defines the flags that name a server.
func (c *cli) remoteFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.server, "endpoint", "",
		"address of a running odarchive to ask; by default the server that holds --data, if there is one")
	c.cfg.TokenFlags(cmd.Flags(), "the server's token")
}

// print prints one result: as JSON for programs, or as a line for people.
func (c *cli) print(value any, format string, args ...any) error {
	if c.json {
		e := json.NewEncoder(c.stdout)
		e.SetIndent("", "  ")
		return e.Encode(value)
	}
	_, err := fmt.Fprintf(c.stdout, format+"\n", args...)
	return err
}

// summary prints what a command has done, unless nobody wants to know.
func (c *cli) summary(value any, format string, args ...any) error {
	if c.quiet && !c.json {
		return nil
	}
	return c.print(value, format, args...)
}

// Bounds of --at. The database counts milliseconds from 1970 on, and visits are planned years ahead: nanoseconds end in
// 2262.
var (
	firstTime = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

// clock returns the archive's clock: the system's, or one that starts at the time of --at.
func clock(at string) (func() time.Time, error) {
	if at == "" {
		return time.Now, nil
	}
	start, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return nil, usagef("--at %q is not a time such as 2026-11-21T06:00:00Z", at)
	}
	if start.Before(firstTime) || start.After(lastTime) {
		return nil, usagef("--at %q is not between the years 1970 and 2200", at)
	}
	began := time.Now()
	return func() time.Time { return start.Add(time.Since(began)) }, nil
}
