package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi/data/sink"
	"odarchive/triplestore/term"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
)

// sinkFlags are flags of all sinks.
type sinkFlags struct {
	follow bool
	once   bool
	after  uint64
}

func (c *cli) sink() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sink",
		Short: "Keep a copy of the triples somewhere else: a SPARQL endpoint, files, HDT",
		Long: `Write all triples somewhere else, then only what changed since the last time. How far a copy is, is kept beside it, so
a sink that is stopped or killed goes on where it was. --follow keeps the copy up to date until Ctrl-C.`,
		Example: `  odarchive admin sink sparql http://localhost:3030/ds/update --follow
  odarchive admin sink files copies --once
  odarchive admin sink hdt catalog.hdt --graph http://example.org/portal`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no sink %q; expected sparql, files or hdt%s", args[0], commandHint(cmd, args[0]))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.sinkSPARQL(), c.sinkFiles(), c.sinkHDT())
	return cmd
}

func (c *cli) sinkSPARQL() *cobra.Command {
	var flags sinkFlags
	var o sink.SPARQLOptions
	var passwordFile string
	cmd := &cobra.Command{
		Use:   "sparql UPDATE-URL",
		Short: "Keep a copy of the triples in a SPARQL endpoint",
		Long: `Write all triples to a SPARQL endpoint with SPARQL Update, then only what changed. The position is kept in the endpoint,
in the graph {base}sink, and moves with the changes in one request. Blank nodes get IRIs below {base}.well-known/genid/.
{base} is that of --base: sinks of several archives in one endpoint must have different ones.
If the log of changes does not reach back, the graphs that the sink has written are emptied and written anew.

Virtuoso has no default graph to write to: give --graph.`,
		Example: `  odarchive admin sink sparql http://localhost:3030/ds/update --once
  odarchive admin sink sparql http://localhost:8890/sparql-auth --query-url http://localhost:8890/sparql \
    --user dba --password-file secret --graph http://example.org/archive --follow`,
		Args: exactly("UPDATE-URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Update, o.Base = args[0], c.cfg.Base
			if cmd.Flags().Changed("after") {
				o.After = &flags.after
			}
			o.Password = os.Getenv("ODARCHIVE_SINK_PASSWORD")
			if passwordFile != "" {
				b, err := os.ReadFile(passwordFile)
				if err != nil {
					return err
				}
				o.Password = strings.TrimRight(string(b), "\r\n")
			}
			t, err := sink.NewSPARQL(o)
			if err != nil {
				return usageError{err}
			}
			return c.runSink(cmd, t, flags, 0)
		},
	}
	c.bindSink(cmd, &flags)
	cmd.Flags().Uint64Var(&flags.after, "after", 0,
		"begin with the changes after this position of the log, instead of with everything, if no sink has written to the endpoint")
	cmd.Flags().StringVar(&o.Query, "query-url", "",
		"address that takes queries; by default that of updates, with query instead of update at its end")
	cmd.Flags().StringVar(&o.User, "user", "",
		"user, for Basic or Digest authentication; the password is in ODARCHIVE_SINK_PASSWORD or --password-file, and is a bearer token "+
			"without --user")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "file with the password of --user, or a bearer token")
	cmd.Flags().StringVar(&o.Graph, "graph", "",
		"IRI of the endpoint's graph that takes the default graph; by default the endpoint's default graph")
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "empty that graph first if it has triples that no sink wrote")
	number(cmd.Flags(), &o.BatchQuads, "batch", 1, unbounded, "triples in one update; 2000 by default")
	return cmd
}

func (c *cli) sinkFiles() *cobra.Command {
	var flags sinkFlags
	cmd := &cobra.Command{
		Use:   "files DIR",
		Short: "Keep a copy of the triples as Turtle files",
		Long: `Write each named graph as a Turtle file (gzip) into a folder, and the default graph as metadata.ttl.gz. Later, only the
files of graphs that changed are written. The first line of a file names its graph; file names are the SHA-256 of that name.`,
		Example: `  odarchive admin sink files copies
  odarchive admin sink files copies --follow`,
		Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.runSink(cmd, sink.Files{Dir: args[0]}, flags, filesEvery)
		},
	}
	c.bindSink(cmd, &flags)
	return cmd
}

func (c *cli) sinkHDT() *cobra.Command {
	var flags sinkFlags
	var graph string
	cmd := &cobra.Command{
		Use:   "hdt FILE",
		Short: "Keep a copy of one graph as an HDT file",
		Long:  `Write the default graph, or the graph of --graph, as an HDT file, and write it anew when the graph has changed.`,
		Example: `  odarchive admin sink hdt archive.hdt
  odarchive admin sink hdt portal.hdt --graph http://example.org/portal --follow`,
		Args: exactly("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t := sink.HDT{Path: args[0], Base: cmp.Or(graph, c.cfg.Base), TempDir: filepath.Dir(args[0])}
			if graph != "" {
				t.Graph = term.IRI(graph)
			}
			return c.runSink(cmd, t, flags, filesEvery)
		},
	}
	c.bindSink(cmd, &flags)
	cmd.Flags().StringVar(&graph, "graph", "", "IRI of the graph; by default the default graph")
	return cmd
}

// filesEvery is the pause between two times that whole files are written.
const filesEvery = 10 * time.Second

func (c *cli) bindSink(cmd *cobra.Command, f *sinkFlags) {
	cmd.Flags().BoolVar(&f.once, "once", false, "end when the copy is up to date (the default)")
	cmd.Flags().BoolVar(&f.follow, "follow", false, "keep the copy up to date until stopped")
	cmd.Flags().BoolVar(&c.json, "json", false, "print a line of JSON for each round that wrote something")
	c.remoteFlags(cmd)
	c.readOnlyFlag(cmd)
}

// runSink brings a copy up to date.
func (c *cli) runSink(cmd *cobra.Command, t sink.Target, f sinkFlags, every time.Duration) error {
	if f.once && f.follow {
		return usagef("--once and --follow exclude each other")
	}
	return sink.Run(cmd.Context(), t, sink.Options{
		Follow: f.follow, Every: every, Open: c.watchedSource,
		Report: c.sinkReport,
		Trouble: func(err error, wait time.Duration) {
			fmt.Fprintf(c.stderr, "odarchive: %s; again in %s\n", sentence(err), wait.Round(100*time.Millisecond))
		},
	})
}

// watchedSource is sinkSource with a bar, which begins with the first progress of a round: before, the round may only
// wait.
func (c *cli) watchedSource(ctx context.Context) (sink.Source, func() error, error) {
	s, end, err := c.sinkSource(ctx)
	if err != nil {
		return nil, nil, err
	}
	var b *bar
	told := func(p sink.Progress) {
		if b == nil {
			b = c.progress(-1, "triples")
		}
		note, rest := "", (func(time.Duration) time.Duration)(nil)
		if p.Commits > 0 && p.Total < 0 {
			note = fmt.Sprintf("change %s of %s", humanize.Comma(int64(p.Commits)), humanize.Comma(int64(p.AllCommits)))
			rest = func(elapsed time.Duration) time.Duration {
				return time.Duration(float64(elapsed) / float64(p.Commits) * float64(p.AllCommits-p.Commits))
			}
		}
		b.of(p.Total, rest)
		b.set(p.Quads, note)
	}
	return sink.Watched(s, told), func() error {
		if b != nil {
			b.done()
		}
		return end()
	}, nil
}

// sinkSource returns the server of --endpoint or the one that holds the directory, or else opens the directory.
func (c *cli) sinkSource(ctx context.Context) (sink.Source, func() error, error) {
	if remote := c.remote(ctx); remote != nil {
		return sink.RemoteSource{Do: remote.Send}, func() error { return nil }, nil
	}
	opts := store.Options{Reads: store.IfHeld}
	if c.reads {
		opts.Reads = store.AlwaysReadOnly
	}
	n, err := app.Open(ctx, c.cfg, c.log, opts)
	if err != nil {
		return nil, nil, err
	}
	return sink.StoreSource{Store: n.Triples, Log: n.DB.Lineage()}, n.Close, nil
}

// sinkReport prints what a round did.
func (c *cli) sinkReport(r sink.Round) {
	if c.json {
		line, _ := json.Marshal(struct { // of numbers and flags only
			Position uint64 `json:"position"`
			sink.Round
		}{r.Position.N, r})
		fmt.Fprintf(c.stdout, "%s\n", line)
		return
	}
	what := "changes"
	if r.Begun {
		what = "everything"
	}
	fmt.Fprintf(c.stdout, "%s written: %d added, %d removed; the copy is at position %d\n", what, r.Added, r.Removed, r.Position.N)
}
