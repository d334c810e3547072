package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"odarchive/cmd/internal/config"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cli is what every command works with.
type cli struct {
	cfg    config.Config
	file   string // --config
	json   bool
	reads  bool   // --read-only
	server string // --endpoint: address of a running server
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger
}

// usageError marks what the person at the keyboard can mend by typing something else: exit status 2.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes one command line and gives its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := &cli{cfg: config.Defaults(), stdin: stdin, stdout: stdout, stderr: stderr}
	root := c.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "odarchive: %s\nRun '%s -h' for examples.\n", sentence(err), strings.TrimSpace("odarchive "+commandName(root, args)))
		return 2
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "odarchive: stopped; nothing that was acknowledged is lost")
		return 1
	}
	fmt.Fprintf(stderr, "odarchive: %s\n", sentence(err))
	return 1
}

// sentence keeps an error on one line.
func sentence(err error) string { return printable(strings.Join(strings.Fields(err.Error()), " ")) }

func commandName(root *cobra.Command, args []string) string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd == root {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "odarchive",
		Short: "Archive open data: every version of every file, described as linked data",
		Long: `ODArchive takes the lists of open-data portals, crawls the files politely, keeps every changed version, and
describes all of it as linked data that one SPARQL query finds and downloads.`,
		Example: `  odarchive demo                                    see everything at work on a sample web
  odarchive add https://example.org/data.csv        register a file
  odarchive crawl --once                            fetch what is due
  odarchive query 'SELECT * { ?s ?p ?o } LIMIT 5'   ask
  odarchive serve                                   serve pages, SPARQL and downloads`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.configure(cmd) },
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no command %q", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = readBuild().Version // adds --version
	root.SetVersionTemplate(readBuild().String())
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	c.cfg.GlobalFlags(root.PersistentFlags())
	root.PersistentFlags().StringVar(&c.file, "config", "", "TOML file with settings, named as the flags are")
	root.AddCommand(c.commands()...)
	return root
}

// configure fills what was not given on the command line, checks it, and starts the log.
func (c *cli) configure(cmd *cobra.Command) error {
	root := cmd.Root()
	known := func(name string) bool { return hasFlag(root, name) }
	if err := config.Load(cmd.Flags(), c.file, known); err != nil {
		return usageError{err}
	}
	if err := c.cfg.Check(); err != nil {
		return usageError{err}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.cfg.LogLevel)); err != nil {
		return usagef("--log-level %q: expected debug, info, warn or error", c.cfg.LogLevel)
	}
	c.logTo(level)
	return nil
}

// logTo starts the log; commands whose output is for people set it to warnings.
func (c *cli) logTo(level slog.Level) {
	options := &slog.HandlerOptions{Level: level}
	if c.cfg.LogFormat == "json" {
		c.log = slog.New(slog.NewJSONHandler(c.stderr, options))
	} else {
		c.log = slog.New(slog.NewTextHandler(c.stderr, options))
	}
	slog.SetDefault(c.log) // for what libraries write to the standard logger
}

// hasFlag tells whether the program has a setting of that name anywhere: one file may serve all commands.
func hasFlag(root *cobra.Command, name string) bool {
	found := root.PersistentFlags().Lookup(name) != nil
	for _, sub := range root.Commands() {
		sub.LocalFlags().VisitAll(func(f *pflag.Flag) { found = found || f.Name == name })
	}
	return found
}

// exactly and atLeast check the number of arguments and name what is missing.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usagef("%s takes %s, got %s", cmd.Name(), cmp.Or(strings.Join(names, " and "), "no argument"), english.Plural(len(args), "argument", ""))
		}
		return nil
	}
}

func atLeast(n int, name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return usagef("%s needs at least one %s", cmd.Name(), name)
		}
		return nil
	}
}
