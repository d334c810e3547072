package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// orderFlags are the flags of commands that carry out an order about URLs.
type orderFlags struct {
	kind     string
	patterns []string
	file     string
	why      string
	score    float64
	dryRun   bool
	whole    func(context.Context) error // carries the order out for the whole crawl, without targets; nil if it needs some
}

func (o *orderFlags) targetless(args []string) bool {
	return len(args)+len(o.patterns) == 0 && o.file == ""
}

// orderCommand returns the command of an order, with the flags that all orders have.
func (c *cli) orderCommand(o *orderFlags, cmd *cobra.Command, done string) *cobra.Command {
	flags := cmd.Flags()
	if o.kind != frontier.OrderInject {
		flags.StringArrayVar(&o.patterns, "pattern", nil, "URLs that match this regular expression (RE2), too (repeatable)")
	}
	flags.StringVar(&o.file, "file", "", "file with further arguments, one a line, - for standard input")
	flags.BoolVar(&o.dryRun, "dry-run", false, "change nothing: print how many URLs there are, and the first of them")
	flags.BoolVar(&c.json, "json", false, "machine-readable output")
	cmd.Args = func(cmd *cobra.Command, args []string) error { return o.check(cmd, args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.targetless(args) {
			return o.whole(cmd.Context())
		}
		order := frontier.Order{Kind: o.kind, Why: o.why, DryRun: o.dryRun}
		if math.IsNaN(o.score) || math.IsInf(o.score, 0) {
			return usagef("--score %v: expected a number such as 2.5", o.score)
		}
		if cmd.Flags().Changed("score") || o.kind == frontier.OrderBoost {
			order.Score = &o.score
		}
		return c.order(cmd.Context(), o, order, args, done)
	}
	return c.beside(cmd, besideOptions{right: access.Crawl, inputs: func([]string) []string { return named(o.file) }})
}

// check checks that there are targets, and that one of the arguments at least is sound.
func (o *orderFlags) check(cmd *cobra.Command, args []string) error {
	all := o.withPatterns(args)
	if o.targetless(args) && o.whole != nil {
		if o.dryRun {
			return usagef("--dry-run is for URLs, hosts and patterns")
		}
		return nil
	}
	if o.targetless(args) {
		what := "URL, host or --pattern"
		if o.kind == frontier.OrderInject {
			what = "URL"
		}
		return usagef("%s needs at least one %s", cmd.Name(), what)
	}
	if good, bad := o.sound(all, 0); len(good) == 0 && len(bad) > 0 && o.file == "" {
		return usagef("%s", bad[0].Error)
	}
	return nil
}

func (o *orderFlags) withPatterns(args []string) []string {
	all := slices.Clone(args)
	for _, p := range o.patterns {
		all = append(all, "pattern:"+p)
	}
	return all
}

// sound returns the targets that are well-formed, and what is wrong with the others. first is the index of the first
// target.
func (o *orderFlags) sound(targets []string, first int) (good []string, bad []answer.Bad) {
	for i, target := range targets {
		err := frontier.CheckTarget(target)
		if o.kind == frontier.OrderInject {
			_, err = crawler.CleanSeed(catalog.Seed{URL: target})
		}
		if err != nil {
			bad = append(bad, answer.Bad{Index: first + i, Error: sentence(err)})
			continue
		}
		good = append(good, target)
	}
	return good, bad
}

func (c *cli) requeue() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderRequeue}
	cmd := &cobra.Command{
		Use:   "requeue URL|HOST...",
		Short: "Make files due now",
		Long: `Make URLs, all URLs of hosts, or those that a pattern matches, due now, even after failures. Dropped and paused URLs are
crawled again. A running crawl fetches them at once, otherwise the next one does. If a server holds the archive, or with
--endpoint, the command asks that server.`,
		Example: `  odarchive admin requeue https://example.org/data.csv
  odarchive admin requeue data.example.org
  odarchive admin requeue --pattern '\.csv$' --dry-run
  odarchive admin requeue data.example.org --endpoint http://localhost:8080/ --token "$SECRET"`,
	}
	cmd.Flags().StringVar(&o.why, "why", "", "reason, for the list of orders")
	return c.orderCommand(o, cmd, "due now")
}

func (c *cli) drop() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderDrop}
	cmd := &cobra.Command{
		Use:     "drop URL|HOST...",
		Aliases: []string{"blacklist"},
		Short:   "Remove files from the crawl; archived versions stay",
		Long: `Remove URLs, all URLs of hosts, or those that a pattern matches, from the crawl. Archived versions stay. The URLs, and new
URLs of dropped hosts, stay removed even if a source lists them again, until 'odarchive admin requeue' restores them. A pattern
concerns the URLs that are known now; 'odarchive admin scope deny' keeps out later ones, too. If a server holds the archive, or with
--endpoint, the command asks that server.`,
		Example: `  odarchive admin drop https://example.org/data.csv --why "a calendar without an end"
  odarchive admin drop data.example.org
  odarchive admin drop --pattern '^https://example\.org/calendar/' --dry-run
  odarchive admin drop data.example.org --endpoint http://localhost:8080/ --token "$SECRET"`,
	}
	cmd.Flags().StringVar(&o.why, "why", "", "reason, for people")
	return c.orderCommand(o, cmd, "dropped")
}

func (c *cli) scores() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderBoost}
	cmd := &cobra.Command{
		Use:     "score URL|HOST... --score N",
		Aliases: []string{"boost"},
		Short:   "Set how urgent files are",
		Long: `Set the score of URLs, of all URLs of hosts, or of those that a pattern matches. Of the files of a host that are due, those
with a greater score are fetched first. The score of a new file is 0; a negative one is less urgent. If a server holds the
archive, or with --endpoint, the command asks that server.`,
		Example: `  odarchive admin score https://example.org/data.csv --score 10
  odarchive admin score data.example.org --pattern '/archive/' --score -2`,
	}
	cmd.Flags().Float64Var(&o.score, "score", 1, "the score")
	cmd.Flags().StringVar(&o.why, "why", "", "reason, for the list of orders")
	return c.orderCommand(o, cmd, "changed")
}

func (c *cli) inject() *cobra.Command {
	o := &orderFlags{kind: frontier.OrderInject}
	cmd := &cobra.Command{
		Use:   "inject URL...",
		Short: "Add URLs to the crawl, with a score",
		Long: `Add URLs to the crawl, and set the score of new and known ones: of the files of a host that are due, those with a greater
score are fetched first. 'odarchive add' also takes titles, formats, portals and long lists. If a server holds the archive, or
with --endpoint, the command asks that server.`,
		Example: `  odarchive inject https://example.org/data.csv --score 5
  odarchive inject --file urls.txt --dry-run`,
	}
	cmd.Flags().Float64Var(&o.score, "score", 0, "the score; without it, that of known URLs stays")
	return c.orderCommand(o, cmd, "injected")
}

// ordered is what an order did, and which targets were left out.
type ordered struct {
	frontier.Ordered
	DryRun bool         `json:"dryRun,omitempty"`
	Bad    []answer.Bad `json:"bad,omitempty"`
}

// Targets are carried out in parts of orderPart. At most maxReported of those that are unknown or malformed are named.
const (
	orderPart   = 5000
	maxReported = 1000
)

// order carries out an order. Unknown and malformed targets are an error, after the others have been handled.
func (c *cli) order(ctx context.Context, o *orderFlags, order frontier.Order, args []string, what string) error {
	done := ordered{Ordered: frontier.Ordered{Unknown: []string{}}, DryRun: o.dryRun}
	unknown, bad, first := 0, 0, 0
	part := func(n *app.Node, targets []string) error {
		good, malformed := o.sound(targets, first)
		first += len(targets)
		bad += len(malformed)
		done.Bad = append(done.Bad, malformed[:min(len(malformed), maxReported-len(done.Bad))]...)
		if len(good) == 0 {
			return nil
		}
		order.Targets = good
		did, err := n.Intake.Order(ctx, order)
		done.URLs += did.URLs
		unknown += len(did.Unknown)
		done.Unknown = append(done.Unknown, did.Unknown[:min(len(did.Unknown), maxReported-len(done.Unknown))]...)
		done.First = append(done.First, did.First[:min(len(did.First), frontier.MaxFirst-len(done.First))]...)
		return err
	}
	err := c.with(ctx, store.Options{Create: o.kind == frontier.OrderInject && !o.dryRun}, func(n *app.Node) error {
		return c.eachPart(o, args, func(targets []string) error { return part(n, targets) })
	})
	if err != nil {
		if done.URLs > 0 {
			err = fmt.Errorf("%w; before that, %s %s", err, english.Plural(done.URLs, "URL", ""), what)
		}
		return err
	}
	if err := c.printOrdered(done, what); err != nil {
		return err
	}
	var left []error
	for _, one := range done.Bad {
		left = append(left, errors.New(one.Error))
	}
	if more := bad - len(done.Bad); more > 0 {
		left = append(left, fmt.Errorf("and %d more that are malformed", more))
	}
	if len(done.Unknown) > 0 {
		more := ""
		if n := unknown - len(done.Unknown); n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		left = append(left, fmt.Errorf("nothing is known of %s%s", strings.Join(done.Unknown, ", "), more))
	}
	return errors.Join(left...)
}

func (c *cli) printOrdered(done ordered, what string) error {
	if !done.DryRun || c.json {
		return c.summary(done, "%s %s", english.Plural(done.URLs, "URL", ""), what)
	}
	if err := c.print(nil, "%s would be %s", english.Plural(done.URLs, "URL", ""), what); err != nil {
		return err
	}
	for _, url := range done.First {
		if err := c.print(nil, "  %s", printable(url)); err != nil {
			return err
		}
	}
	if more := done.URLs - len(done.First); more > 0 {
		return c.print(nil, "  and %s more", humanize.Comma(int64(more)))
	}
	return nil
}

// orders returns the command that lists orders.
func (c *cli) orders() *cobra.Command {
	limit := 20
	cmd := &cobra.Command{
		Use:   "orders",
		Short: "List the latest orders of operators, and what they changed",
		Long: `List the latest orders: what was injected, requeued, dropped, boosted, paused and resumed, when, and how many URLs changed. An
order that was not carried out to its end says so. The last thousand are kept.`,
		Example: `  odarchive admin orders
  odarchive admin orders --limit 100 --json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				notes, err := n.Intake.Orders(limit)
				if err != nil {
					return err
				}
				return c.printNotes(notes)
			})
		},
	}
	number(cmd.Flags(), &limit, "limit", 1, 1000, "how many")
	c.readOnlyFlag(cmd)
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{})
}

func (c *cli) printNotes(notes []frontier.Note) error {
	if c.json {
		if notes == nil {
			notes = []frontier.Note{} // [] in JSON
		}
		return c.print(notes, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, n := range notes {
		what := strings.Join(n.Targets, " ")
		if n.More > 0 {
			what += fmt.Sprintf(" and %d more", n.More)
		}
		if n.Score != nil {
			what += fmt.Sprintf(" (score %v)", *n.Score)
		}
		if n.Why != "" {
			what = strings.TrimSpace(what + " (" + n.Why + ")")
		}
		if !n.Done {
			what += " – not carried out to its end"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", n.At.Format(time.RFC3339), n.Order, english.Plural(n.URLs, "URL", ""),
			printable(cmp.Or(what, "–")))
	}
	return w.Flush()
}
