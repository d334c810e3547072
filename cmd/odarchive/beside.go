package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/faces"
	"odarchive/sparqlapi/operate/access"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// besideOptions say how a server runs a command for clients.
type besideOptions struct {
	right access.Right // that a client needs; 0 if the command only reads, and what it reads is public
	reads bool         // nothing is changed, although a right is needed: replicas run the command, and the audit does not have it
	// rightOf returns the right that a client needs for these arguments; nil if right is all.
	rightOf func(args []string) access.Right
	// inputs returns the files that the command reads, in the order in which it opens them, "-" for standard input.
	// They are sent to the server. nil means none.
	inputs func(args []string) []string
	// expand returns the arguments with lists of files, which are the client's, replaced by what they name. nil keeps
	// them.
	expand func(args []string) ([]string, error)
	// ends returns the client's end of a command that exchanges versions with the server. nil means that there is none.
	ends func(ctx context.Context, args []string) (*clientEnd, error)
	// settings are flags for settings of the server that a client may nevertheless give.
	settings []string
	// alone reports whether the flags make the command ask nobody; nil means that they never do.
	alone func() bool
}

// beside makes the server that holds the archive run a command, if there is one, or the server of --endpoint. The
// command's own function runs there, as besideCall: it must open the archive with with or reading, read files by
// openInput, and write files by writeTo.
func (c *cli) beside(cmd *cobra.Command, o besideOptions) *cobra.Command {
	if cmd.Flags().Lookup("endpoint") == nil {
		c.remoteFlags(cmd)
	}
	here := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if c.call == nil && (o.alone == nil || !o.alone()) {
			if r := c.remote(cmd.Context()); r != nil {
				return c.ask(r, cmd, args, o)
			}
		}
		return here(cmd, args)
	}
	if c.besides == nil {
		c.besides = map[*cobra.Command]besideOptions{}
	}
	c.besides[cmd] = o
	return cmd
}

// besideCall is a command that this process runs for a client.
type besideCall struct {
	*faces.Call
	node *app.Node
}

// served returns the commands that a server runs for clients, by their names with hyphens for blanks.
func (c *cli) served(n *app.Node) map[string]faces.Command {
	all := map[string]faces.Command{}
	blank := &cli{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			add(sub)
		}
		o, ok := blank.besides[cmd]
		if !ok {
			return
		}
		name := strings.Fields(shortPath(cmd))
		all[strings.Join(name, "-")] = faces.Command{Right: o.right, Reads: o.reads,
			Run: func(ctx context.Context, call *faces.Call) faces.CommandResult {
				return c.runFor(ctx, n, name, call)
			}}
	}
	add(blank.root())
	return all
}

// runFor runs a command for a client, as if its user had typed it here.
func (c *cli) runFor(ctx context.Context, n *app.Node, name []string, call *faces.Call) faces.CommandResult {
	s := &cli{cfg: c.cfg, log: c.log, stdout: call.Stdout(), stderr: call.Stderr(), call: &besideCall{call, n}}
	s.stdin = &firstRead{open: func() (io.ReadCloser, error) { return call.Open("-") }}
	cmd, _, err := s.root().Find(name)
	s.cfg = c.cfg // defining flags has set defaults
	o := s.besides[cmd]
	if err == nil {
		cmd.SetContext(ctx)
		cmd.InheritedFlags() // makes --quiet one of its flags
		err = setFlags(cmd.Flags(), call.Order.Flags, o)
	}
	if checked := s.cfg.Check(); err == nil && checked != nil {
		err = usageError{checked}
	}
	args := call.Order.Arguments
	if err == nil && cmd.Args != nil {
		err = cmd.Args(cmd, args)
	}
	if err == nil && o.alone != nil && o.alone() { // a client must not make a server ask itself, or write where it says
		err = usagef("with these flags, the command asks no server")
	}
	if err == nil && o.rightOf != nil {
		err = call.Need(o.rightOf(args))
	}
	if err == nil {
		err = cmd.RunE(cmd, args)
	}
	return resultOf(err)
}

// resultOf returns the exit status and the sentence for an error.
func resultOf(err error) faces.CommandResult {
	if err == nil {
		return faces.CommandResult{}
	}
	result := faces.CommandResult{Status: 1, Error: sentence(err)}
	if _, isUsage := errors.AsType[usageError](err); isUsage {
		result.Status = 2
	}
	return result
}

// setFlags sets the flags that a client has sent.
func setFlags(flags *pflag.FlagSet, sent map[string][]string, o besideOptions) error {
	for name, values := range sent {
		f := flags.Lookup(name)
		if f == nil || !sendable(name, o) {
			return usagef("the server has no flag --%s for this command: it is another version of odarchive than this program", name)
		}
		list, isList := f.Value.(pflag.SliceValue)
		switch {
		case isList:
			if err := list.Replace(values); err != nil {
				return usagef("--%s: %w", name, err)
			}
			f.Changed = true
		case len(values) != 1:
			return usagef("--%s takes one value", name)
		default:
			if err := flags.Set(name, values[0]); err != nil {
				return usagef("--%s: %w", name, err)
			}
		}
	}
	return nil
}

// ofServer are the flags for settings of the process that holds the archive.
func ofServer() *pflag.FlagSet {
	var c config.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.FetchFlags(f)
	c.AnswersFlag(f)
	c.WARCFlag(f)
	c.HookFlags(f)
	c.LogKeyFlag(f)
	c.VouchFlags(f)
	f.String("keep-pages", "", "")
	return f
}

// ofClient are the flags that say where the archive is. They are not sent.
func ofClient(name string) bool {
	switch name {
	case "endpoint", "server", "token", "token-file", "read-only", "config", "help":
		return true
	}
	var c config.Config
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.GlobalFlags(f)
	return f.Lookup(name) != nil
}

// sendable reports whether a client may send a flag.
func sendable(name string, o besideOptions) bool {
	for _, allowed := range o.settings {
		if name == allowed {
			return true
		}
	}
	return !ofClient(name) && ofServer().Lookup(name) == nil
}

// ask makes a server run a command.
func (c *cli) ask(r *faces.Remote, cmd *cobra.Command, args []string, o besideOptions) error {
	order := faces.CommandOrder{Arguments: args, Flags: map[string][]string{}}
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !f.Changed || ofClient(f.Name) || !c.given[f.Name] && ofServer().Lookup(f.Name) != nil: // the server has settings of its own
		case sendable(f.Name, o):
			order.Flags[f.Name] = []string{f.Value.String()}
			if list, ok := f.Value.(pflag.SliceValue); ok {
				order.Flags[f.Name] = list.GetSlice()
			}
		default:
			err = usagef("--%s is a setting of the server that holds the archive: give it to 'odarchive serve', or stop the server first",
				f.Name)
		}
	})
	if err != nil {
		return err
	}
	if o.expand != nil {
		if order.Arguments, err = o.expand(args); err != nil {
			return err
		}
	}
	if o.inputs != nil {
		order.Inputs = o.inputs(order.Arguments)
	}
	if order.Dir, err = os.Getwd(); err != nil {
		return err
	}
	name := shortPath(cmd)
	file := &laterFile{}
	if out := cmd.Flags().Lookup("output"); out != nil {
		file.name = out.Value.String()
	}
	bars := &remoteBars{cli: c}
	open := c.openInput
	var into io.Writer = file
	var client *clientEnd
	if o.ends != nil {
		if client, err = o.ends(cmd.Context(), order.Arguments); err != nil {
			return err
		}
		order.Inputs, into, file.name = client.inputs, client.file, "nothing"
		if client.open != nil {
			open = client.open
		}
	} else if file.name == "-" || file.name == "" {
		into = c.stdout
	}
	if o.right&^access.Read == 0 || o.reads {
		r.Slow = nil // what only reads may take its time
	}
	result, err := r.RunCommand(cmd.Context(), name, order,
		faces.Terminal{Stdout: c.stdout, Stderr: c.stderr, File: into, Progress: bars.set, Open: open})
	bars.done()
	if err == nil {
		err = errorOf(result)
	}
	if client != nil {
		return client.end(err)
	}
	return file.end(err)
}

// errorOf returns the error that the result of a command stands for.
func errorOf(r faces.CommandResult) error {
	switch {
	case r.Status == 0:
		return nil
	case r.Stopped:
		return context.Canceled
	case r.Status == 2:
		return usageError{errors.New(r.Error)}
	}
	return errors.New(r.Error)
}

// laterFile is a file that is created when something is written to it, and has its name only when it is complete. What
// is no file, such as /dev/null or a pipe, is written to as it is: a file in its place would be the end of it.
type laterFile struct {
	name   string
	part   *os.File
	device bool
}

// begin creates the file.
func (l *laterFile) begin() (err error) {
	if at, err := os.Stat(l.name); err == nil && !at.Mode().IsRegular() && !at.IsDir() {
		l.device = true
		l.part, err = os.OpenFile(l.name, os.O_WRONLY, 0)
		return err
	}
	l.part, err = os.Create(l.name + ".part")
	return err
}

func (l *laterFile) Write(p []byte) (int, error) {
	if l.part == nil {
		if err := l.begin(); err != nil {
			return 0, err
		}
	}
	return l.part.Write(p)
}

// end gives the file its name, or removes it if err is not nil.
func (l *laterFile) end(err error) error {
	if l.part == nil {
		return err
	}
	err = errors.Join(err, l.part.Close())
	if l.device {
		return err
	}
	if err == nil {
		err = os.Rename(l.part.Name(), l.name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(l.part.Name()))
	}
	return nil
}

// openInput opens a file that the command reads: the client's, if this process runs the command for one.
func (c *cli) openInput(name string) (io.ReadCloser, error) {
	if c.call != nil {
		return c.call.Open(name)
	}
	if name == "-" {
		return io.NopCloser(c.stdin), nil
	}
	return os.Open(name)
}

// absolute returns the absolute name of a file that the command line names.
func (c *cli) absolute(name string) (string, error) {
	if c.call != nil {
		if filepath.IsAbs(name) {
			return filepath.Clean(name), nil
		}
		return filepath.Join(c.call.Order.Dir, name), nil
	}
	return filepath.Abs(name)
}

// firstRead opens a reader when it is first read.
type firstRead struct {
	open func() (io.ReadCloser, error)
	in   io.ReadCloser
}

func (f *firstRead) Read(p []byte) (int, error) {
	if f.in == nil {
		var err error
		if f.in, err = f.open(); err != nil {
			return 0, err
		}
	}
	return f.in.Read(p)
}

// remoteBars shows the progress of a command that a server runs.
type remoteBars struct {
	cli   *cli
	shown *bar
	last  faces.CommandProgress
}

func (b *remoteBars) set(p faces.CommandProgress) {
	if b.shown == nil || p.Total != b.last.Total || p.What != b.last.What {
		b.done()
		b.shown = b.cli.progress(p.Total, p.What)
	}
	b.last = p
	b.shown.set(p.Done, p.Note)
}

func (b *remoteBars) done() {
	if b.shown != nil {
		b.shown.done()
		b.shown = nil
	}
}
