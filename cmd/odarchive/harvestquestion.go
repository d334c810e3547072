package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/sparqlapi/operate/access"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"
)

// harvestQuestions returns the commands about datasets that portals have suddenly ceased to list.
func (c *cli) harvestQuestions() []*cobra.Command {
	list := &cobra.Command{
		Use:     "questions",
		Short:   "List the portals that suddenly list much less, and wait for an answer",
		Example: "  odarchive harvest questions\n  odarchive harvest questions --json",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				all, err := n.Ledger.Questions(cmd.Context())
				if err != nil {
					return err
				}
				return c.printQuestions(all)
			})
		},
	}
	c.readOnlyFlag(list)
	list.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return []*cobra.Command{
		c.beside(list, besideOptions{}),
		c.harvestAnswer("withdraw PORTAL", ledger.Withdraw, "Withdraw the datasets that a portal has suddenly ceased to list",
			"what a portal lists no longer is marked as withdrawn, as after any harvest; nothing is deleted.", "withdrawn"),
		c.harvestAnswer("keep PORTAL", ledger.Keep, "Keep the datasets that a portal has suddenly ceased to list",
			"they stay listed, and later harvests do not ask about them again. 'harvest withdraw' withdraws them after all.",
			"kept as listed"),
	}
}

func (c *cli) harvestAnswer(use string, answer ledger.Answer, short, long, done string) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Long: `Answer the question that a harvest asks if a portal suddenly lists more than a third fewer datasets:
` + long + `

Exit status: 0 done, 1 nothing is asked about the portal, 2 wrong usage.`,
		Example: "  odarchive harvest " + string(answer) + " https://data.example.org/",
		Args:    exactly("PORTAL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.with(cmd.Context(), store.Options{}, func(n *app.Node) error {
				q, err := n.AnswerQuestion(cmd.Context(), args[0], answer)
				if err != nil {
					return err
				}
				count := q.Waiting
				if answer == ledger.Withdraw {
					count += q.Refused
				}
				return c.print(map[string]any{"portal": q.Portal, "answer": answer, "datasets": count}, "%s: %s %s", printable(q.Portal),
					english.Plural(count, "dataset is", "datasets are"), done)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return c.beside(cmd, besideOptions{right: access.Crawl})
}

// printQuestions prints what is asked, and what to type.
func (c *cli) printQuestions(all []ledger.Question) error {
	if c.json {
		return c.print(map[string]any{"questions": all}, "")
	}
	for _, q := range all {
		if q.Waiting > 0 {
			if _, err := fmt.Fprintf(c.stdout, "%s lists %d of its %d datasets no longer, since %s (%s)\n  %s\n", printable(q.Portal),
				q.Waiting, q.Listed, q.Asked.Format(time.DateTime), printable(q.Source), printable(whatToType(q.Portal))); err != nil {
				return err
			}
		}
		if q.Refused > 0 {
			if _, err := fmt.Fprintf(c.stdout, "%s: %s listed here by an answer, though the portal lists them no longer\n",
				printable(q.Portal), english.Plural(q.Refused, "dataset is", "datasets are")); err != nil {
				return err
			}
		}
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(c.stdout, "no portal waits for an answer")
		return err
	}
	return nil
}

func whatToType(portal string) string {
	return fmt.Sprintf("to withdraw them: odarchive harvest withdraw %s; to keep them: odarchive harvest keep %[1]s", shellWord(portal))
}

// shellWord returns an argument as a shell takes it.
func shellWord(arg string) string {
	if strings.ContainsFunc(arg, func(r rune) bool {
		return !strings.ContainsRune("/:._-~%@+,=", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// asked returns the error of a harvest that asks before it withdraws, nil if it does not.
func asked(r harvest.Report) error {
	if r.Waiting.N() == 0 {
		return nil
	}
	var all []string
	for _, portal := range r.Asks {
		all = append(all, whatToType(portal))
	}
	return fmt.Errorf("%s not withdrawn, since they are more than a third of what the portal listed (%s)",
		english.Plural(r.Waiting.N(), "dataset that is no longer listed was", "datasets that are no longer listed were"),
		strings.Join(all, "; "))
}

// errorOfHarvest returns the error of a harvest, among them that it asks something.
func errorOfHarvest(ctx context.Context, r harvest.Report, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		return errors.Join(err, asked(r))
	}
	return unsettled(r)
}

// unsettled returns the error of a harvest that ended well, but asks something or got fewer datasets than its source
// counts.
func unsettled(r harvest.Report) error {
	if r.Missing == 0 {
		return asked(r)
	}
	return errors.Join(asked(r),
		fmt.Errorf("harvest %s: not read completely: it did not return %s that it counts", r.Source,
			english.Plural(r.Missing, "dataset", "")))
}
