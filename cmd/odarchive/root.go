package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cli is the state that all commands share.
type cli struct {
	cfg     config.Config
	file    string // --config
	json    bool
	reads   bool // --read-only
	quiet   bool
	allHelp bool   // -h --all
	server  string // --endpoint: address of a running server
	stdin   io.Reader
	stdout  io.Writer
	stderr  io.Writer
	log     *slog.Logger

	taken   []string                         // addresses that were given without a scheme, as they are taken
	fetches bool                             // the command has the settings of everything that fetches
	parsed  func()                           // ends onlyOnce: from then on settings may set flags
	given   map[string]bool                  // the flags of the command line, without those that settings have set
	besides map[*cobra.Command]besideOptions // the commands that a server runs for clients
	screen  *screen                          // nil if stderr is not a terminal
	tty     *tty                             // nil if stdout is not a terminal
	call    *besideCall                      // the client for whom this process runs the command; nil if it is its own

	args    []string // of the program
	level   slog.LevelVar
	logFile *logFile // nil for stderr
}

func newCLI(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli {
	c := &cli{cfg: config.Defaults(), args: args, stdin: stdin, stdout: stdout, stderr: stderr, screen: screenOf(stderr)}
	if c.screen != nil {
		c.stderr = c.screen.over(stderr)
	}
	if screenOf(stdout) != nil {
		c.tty = &tty{to: stdout}
		if c.screen != nil {
			c.tty.to = c.screen.over(stdout)
		}
		c.stdout = c.tty
	}
	return c
}

// run executes a command line and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := newCLI(args, stdin, stdout, stderr)
	args, c.allHelp = withoutAll(args)
	root := c.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	c.parsed = onlyOnce(root, args)
	err := advised(root.ExecuteContext(ctx))
	if closed := c.logFile.close(); err == nil {
		err = closed
	}
	_, isUsage := errors.AsType[usageError](err)
	switch {
	case err == nil:
		return 0
	case isUsage:
		name, what := commandName(root, args), "examples"
		if name == "" {
			what = "all commands"
		}
		fmt.Fprintf(stderr, "odarchive: %s\nRun '%s -h' for %s.\n", sentence(err), strings.TrimSpace("odarchive "+name), what)
		return 2
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "odarchive: stopped; finished work is kept")
		return 1
	}
	fmt.Fprintf(stderr, "odarchive: %s\n", sentence(err))
	return 1
}

// sentence returns an error's text on one line. The texts of joined errors, which are lines, are parted by semicolons.
func sentence(err error) string {
	text := ""
	for line := range strings.Lines(err.Error()) {
		line = strings.Join(strings.Fields(line), " ")
		switch {
		case line == "":
		case text == "":
			text = line
		case strings.HasSuffix(text, ":") || strings.HasSuffix(text, ";"):
			text += " " + line
		default:
			text = strings.TrimSuffix(text, ".") + "; " + line
		}
	}
	return printable(text)
}

func commandName(root *cobra.Command, args []string) string {
	cmd, _, err := root.Find(args)
	if err != nil || cmd == root || cmd.Name() == "help" {
		return ""
	}
	return strings.TrimPrefix(cmd.CommandPath(), root.Name()+" ")
}

func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "odarchive",
		Short: "Archive open data: every version of every file, described as linked data",
		Long: `ODArchive harvests the catalogs of open-data portals, crawls the files politely, keeps every version, and describes
all of it as linked data. One SPARQL query finds files and downloads them. 'odarchive docs' has a tutorial, guides and
a reference.`,
		Example: `  odarchive demo                                    show everything at work on a sample web
  odarchive add https://example.org/data.csv        register a file
  odarchive crawl --once                            fetch what is due
  odarchive query 'SELECT * { ?s ?p ?o } LIMIT 5'   run a query
  odarchive serve                                   serve pages, SPARQL and downloads`,
		SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.configure(cmd) },
		Args:              noCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.Version = readBuild().Version // adds --version
	root.SetVersionTemplate(readBuild().String())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(c.help())
	root.SetHelpCommandGroupID("Run")
	c.cfg.GlobalFlags(root.PersistentFlags())
	root.PersistentFlags().StringVar(&c.file, "config", "", "TOML file with settings, named like the flags")
	root.PersistentFlags().BoolVarP(&c.quiet, "quiet", "q", false,
		"print no progress, notices or summaries: only what was asked for, and errors")
	groups := c.groups()
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.name, Title: g.name})
		root.AddCommand(g.all()...)
	}
	root.AddCommand(append(c.formerNames(), topics())...)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { c.printHelp(cmd, groups) })
	c.takeAddresses(root)
	return root
}

// configure sets what the command line does not, checks it, and starts the log.
func (c *cli) configure(cmd *cobra.Command) error {
	if c.parsed != nil {
		c.parsed()
	}
	if isForShells(cmd) {
		return nil // also where the settings are faulty
	}
	if err := c.readSettings(cmd); err != nil {
		return err
	}
	if out := cmd.Flags().Lookup("output"); c.tty != nil && out != nil && out.Changed && out.Value.String() == "-" {
		c.tty.raw = true
	}
	if c.cfg.LogFile != "" {
		var err error
		if c.logFile, err = openLog(c.cfg.LogFile); err != nil {
			return err
		}
	}
	c.logFor(cmd)
	for _, link := range c.taken {
		fmt.Fprintf(c.stderr, "odarchive: no scheme is given; taken as %s\n", printable(link))
	}
	for _, sentence := range config.Misspelt(os.Environ(), settings(cmd.Root())) {
		c.log.Warn(sentence)
	}
	return nil
}

// readSettings sets what the command line does not, and checks it.
func (c *cli) readSettings(cmd *cobra.Command) error {
	if c.file == "" {
		c.file = os.Getenv("ODARCHIVE_CONFIG")
	}
	c.fetches = cmd.Flags().Lookup("allow-net") != nil
	c.given = map[string]bool{}
	cmd.Flags().Visit(func(f *pflag.Flag) { c.given[f.Name] = true })
	known := settings(cmd.Root())
	file, err := config.ReadFile(c.file)
	if err != nil {
		return usageError{err}
	}
	if err := config.Load(cmd.Flags(), file, known); err != nil {
		return usageError{err}
	}
	if !cmd.Flags().Changed("base") { // whoever writes to an archive, its IRIs stay below one base
		c.cfg.Base = cmp.Or(store.BaseOf(c.cfg.Data), c.cfg.Base)
	}
	if cmd.Flags().Lookup("secrets-file") != nil { // the rules of hosts may name its sections
		if c.cfg.Fetch.Hosts, err = config.HostRules(file); err != nil {
			return usageError{err}
		}
	}
	if c.cfg.Fetch.Harvests, err = config.HarvestPlans(file); err != nil {
		return usageError{err}
	}
	if c.cfg.Retention.Rules, err = config.RetentionRules(file); err != nil {
		return usageError{err}
	}
	for _, p := range c.cfg.Fetch.Harvests {
		if !crawl.KnowsHarvest(p.Kind) {
			return usagef("config file %s: %w", c.file, unknownKind(p.Kind))
		}
	}
	if cmd.Flags().Lookup("token") != nil {
		if c.cfg.Serve.Tokens, err = config.Tokens(file); err != nil {
			return usageError{err}
		}
	}
	if f := cmd.Flags().Lookup("endpoint"); f != nil && f.Changed {
		if err := f.Value.Set(c.withScheme(f.Value.String())); err != nil {
			return err
		}
	}
	if err := c.cfg.Check(); err != nil {
		return usageError{err}
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.cfg.LogLevel)); err != nil {
		return usagef("--log-level %q: expected debug, info, warn or error", c.cfg.LogLevel)
	}
	c.level.Set(level)
	return nil
}

// logFor starts the log of a command. On a terminal, commands other than services tell people of warnings in sentences;
// the log is for files, services and programs. With --quiet, only errors are logged on stderr, and nothing else is
// written there.
func (c *cli) logFor(cmd *cobra.Command) {
	chosen := cmd.Flags().Changed("log-level") || c.logFile != nil
	spoken := c.screen != nil && !chosen && !isService(cmd)
	switch {
	case chosen:
	case c.quiet:
		c.level.Set(slog.LevelError)
	case spoken, cmd.Name() == "demo":
		c.level.Set(slog.LevelWarn)
	}
	c.logTo(spoken)
	if c.quiet {
		c.stderr = io.Discard
	}
}

// logTo starts the log: in sentences for people, or in the format of the settings.
func (c *cli) logTo(people bool) {
	var to io.Writer = c.stderr
	if c.logFile != nil {
		to = c.logFile
	}
	options := &slog.HandlerOptions{Level: &c.level}
	switch {
	case people:
		c.log = slog.New(sentences{out: to, level: &c.level})
	case c.cfg.LogFormat == "json":
		c.log = slog.New(sparqlapi.LogHandler(slog.NewJSONHandler(to, options)))
	default:
		c.log = slog.New(sparqlapi.LogHandler(slog.NewTextHandler(to, options)))
	}
	slog.SetDefault(c.log) // for libraries that write to the standard logger
}

// exactly and atLeast check the number of arguments, and name what is expected.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != len(names) {
			return usagef("%s takes %s, got %s", cmd.Name(), cmp.Or(strings.Join(names, " and "), "no argument"),
				english.Plural(len(args), "argument", ""))
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
