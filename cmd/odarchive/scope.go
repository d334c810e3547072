package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/scope"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// scopeFlags are the flags of the commands below scope.
type scopeFlags struct {
	file  string
	why   string
	limit int
	typ   string
	size  string
	area  string
}

func (c *cli) scope() *cobra.Command {
	o := &scopeFlags{}
	cmd := &cobra.Command{
		Use:   "scope list|refused|allow|deny|remove|test [RULE|URL]...",
		Short: "Say what may be fetched: hosts, domains, patterns, media types, sizes",
		Long: `Say what may be fetched. A rule is one or more conditions, of which all must hold:

  host:data.example.org   the host, with the port if it is not the usual one; a word without a colon is a host
  domain:example.org      the host or one below it
  pattern:REGEXP          a regular expression (RE2) that matches the URL
  type:image/*,text/html  the media type, as a portal or server declares it, or as it is found
  size:>100MiB            the size of the file; also size:<1KiB
  for:crawl,harvest       only for these: crawl (visits), campaign (links), harvest (requests to portals), keep

"deny pattern:REGEXP for:keep" is for what must never become a version, wherever it comes from: it is not visited, redirects to it
are not followed, and imports refuse it. The setting never-keep lists such rules, without "for:keep".

A URL that a rule denies is not fetched. If there are rules that allow, nothing else is fetched. A file whose type or size shows
during the visit that it is out of scope is not archived; its visit says why. Redirects are held to the scope, too. Files that
are archived already stay; they are not visited any more.

  allow, deny   add rules; they hold at once, also in a running server, and for whatever fetches from then on
  remove        removes rules, as "deny host:data.example.org" or "allow type:text/*"
  list          lists the rules: those of the settings (--scope-allow, --scope-deny, --never-keep) and the others
  refused       lists what the rules refused: how often, and the latest URLs
  test          says whether URLs may be fetched; exit status 1 if one may not`,
		Example: `  odarchive admin scope deny calendar.example.org --why "endless"
  odarchive admin scope deny 'domain:example.org type:video/*'
  odarchive admin scope allow domain:gv.at domain:europa.eu
  odarchive admin scope deny --file hosts.txt
  odarchive admin scope remove 'deny host:calendar.example.org'
  odarchive admin scope test https://data.gv.at/x.csv --type text/csv`,
		Args: func(_ *cobra.Command, args []string) error { return o.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return c.runScope(cmd.Context(), o, args[0], args[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.file, "file", "", "allow, deny, remove: file with further rules, one a line, - for standard input")
	f.StringVar(&o.why, "why", "", "allow, deny: reason, for people")
	o.limit = 1000
	number(f, &o.limit, "limit", 1, 100_000, "list: how many rules besides those of the settings")
	f.StringVar(&o.typ, "type", "", "test: media type of the file")
	f.StringVar(&o.size, "size", "", "test: size of the file, as 10MiB")
	f.StringVar(&o.area, "for", "crawl", "test: crawl, campaign, harvest or keep")
	f.StringArrayVar(&c.cfg.Fetch.ScopeAllow, "scope-allow", nil, "rule of the settings (repeatable)")
	f.StringArrayVar(&c.cfg.Fetch.ScopeDeny, "scope-deny", nil, "rule of the settings (repeatable)")
	f.StringArrayVar(&c.cfg.Fetch.NeverKeep, "never-keep", nil, "rule of the settings (repeatable)")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{inputs: func([]string) []string { return named(o.file) }, rightOf: func(args []string) access.Right {
		if changesScope(args[0]) {
			return access.Crawl
		}
		return 0
	}})
}

func (o *scopeFlags) check(args []string) error {
	what := ""
	if len(args) > 0 {
		what = args[0]
	}
	rest := max(len(args)-1, 0)
	switch what {
	case "list", "refused":
		if rest > 0 {
			return usagef("scope %s takes no argument", what)
		}
	case "allow", "deny", "remove":
		if rest == 0 && o.file == "" {
			return usagef("scope %s needs at least one rule", what)
		}
		if _, err := parseScopeRules(what, args[1:]); err != nil {
			return usageError{err}
		}
	case "test":
		if rest == 0 {
			return usagef("scope test needs at least one URL")
		}
		if _, err := o.question(""); err != nil {
			return err
		}
	default:
		known := []string{"list", "refused", "allow", "deny", "remove", "test"}
		return usagef("scope needs one of: %s%s", strings.Join(known, ", "), catalog.Hint(what, known))
	}
	return nil
}

func (o *scopeFlags) question(url string) (scope.Question, error) {
	q, err := scope.ParseQuestion(url, o.area, o.typ, o.size)
	if err != nil {
		return q, usageError{err}
	}
	return q, nil
}

// parseScopeRules parses rules. Those to be removed begin with their action.
func parseScopeRules(what string, texts []string) (rules []*scope.Rule, err error) {
	for _, text := range texts {
		r, err := scope.ParseChange(what, text)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func (c *cli) runScope(ctx context.Context, o *scopeFlags, what string, args []string) error {
	if changesScope(what) {
		return c.with(ctx, store.Options{Create: what != "remove"}, func(n *app.Node) error {
			return c.changeScope(o, what, args, func(texts []string) (int, error) {
				rules, err := parseScopeRules(what, texts)
				if err != nil {
					return 0, err
				}
				return n.Scope.Change(ctx, what != "remove", o.why, rules...)
			})
		})
	}
	return c.reading(ctx, func(n *app.Node) error {
		switch what {
		case "list":
			list, next, err := n.Scope.List("", o.limit)
			if err != nil {
				return err
			}
			return c.printRules(list, next)
		case "refused":
			return c.printRefusals(n.Scope.Refusals())
		}
		return c.testScope(n, o, args)
	})
}

// changesScope reports whether a command below scope changes rules.
func changesScope(what string) bool { return what == "allow" || what == "deny" || what == "remove" }

// testScope prints whether URLs may be fetched. The error says that one may not.
func (c *cli) testScope(n *app.Node, o *scopeFlags, urls []string) error {
	out := 0
	for _, url := range urls {
		q, err := o.question(url)
		if err != nil {
			return err
		}
		why := n.Scope.Test(q)
		if err := c.print(map[string]any{"url": url, "inScope": why == "", "why": why}, "%s: %s", printable(url),
			cmp.Or(why, "in scope")); err != nil {
			return err
		}
		if why != "" {
			out++
		}
	}
	if out > 0 {
		return fmt.Errorf("%s out of scope", english.Plural(out, "URL is", "URLs are"))
	}
	return nil
}

// changeScope changes rules in parts, and prints how many.
func (c *cli) changeScope(o *scopeFlags, what string, args []string, change func([]string) (int, error)) error {
	total := 0
	part := func(texts []string) error {
		n, err := change(slices.Clone(texts))
		total += n
		return err
	}
	var err error
	if len(args) > 0 {
		err = part(args)
	}
	if err == nil && o.file != "" {
		err = c.eachLine(o.file, orderPart, part)
	}
	done := map[string]string{"allow": "added", "deny": "added", "remove": "removed"}[what]
	if err != nil && total > 0 {
		err = fmt.Errorf("%w; before that, %s %s", err, english.Plural(total, "rule", ""), done)
	}
	if errors.Is(err, scope.ErrBad) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	return c.print(map[string]int{"rules": total}, "%s %s", english.Plural(total, "rule", ""), done)
}

func (c *cli) printRules(list []scope.Listed, next string) error {
	if c.json {
		if list == nil {
			list = []scope.Listed{} // [] in JSON
		}
		return c.print(map[string]any{"rules": list, "after": next}, "")
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, r := range list {
		of := "of the settings"
		if !r.Settings {
			of = r.At.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", r.Action, printable(r.Rule), of, printable(r.Why))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	switch {
	case len(list) == 0:
		return c.print(nil, "no rules: everything is in scope")
	case next != "":
		return c.print(nil, "and more: see --limit")
	}
	return nil
}

func (c *cli) printRefusals(list []scope.Refusal) error {
	if c.json {
		return c.print(list, "")
	}
	for _, r := range list {
		fmt.Fprintf(c.stdout, "%s: %s, at last %s\n", printable(r.Rule), humanize.Comma(r.Count), r.Latest.Format(time.RFC3339))
		for _, url := range r.URLs {
			fmt.Fprintf(c.stdout, "  %s\n", printable(url))
		}
	}
	if len(list) == 0 {
		return c.print(nil, "nothing was refused")
	}
	return nil
}
