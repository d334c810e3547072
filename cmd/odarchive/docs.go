package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"odarchive/ui/docs"

	"github.com/spf13/cobra"
)

// topic is a page of the documentation in a list. JSON names are stable.
type topic struct {
	Topic string `json:"topic"` // what `odarchive docs` takes
	Group string `json:"group,omitempty"`
	Title string `json:"title"`
	About string `json:"about,omitempty"` // first paragraph, or what a search found
}

func (c *cli) docs() *cobra.Command {
	var query string
	cmd := &cobra.Command{
		Use:   "docs [TOPIC]",
		Short: "Read the documentation",
		Long: `List the pages of the documentation, or print one as Markdown. TOPIC is the path of a page, or its last part. A server
has the same pages at /docs/.`,
		Example: `  odarchive docs
  odarchive docs tutorial | less
  odarchive docs disk-full
  odarchive docs --search 'robots.txt delay'`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("docs takes one topic, got %d", len(args))
			case len(args) == 1 && query != "":
				return usagef("docs takes a topic or --search, not both")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			library, err := docs.New()
			switch {
			case err != nil:
				return err
			case query != "":
				return c.searchDocs(library, query)
			case len(args) == 1:
				return c.printTopic(library, args[0])
			}
			return c.listTopics(library)
		},
	}
	cmd.Flags().StringVar(&query, "search", "", "list the sections that contain these words")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}

func (c *cli) printTopic(library *docs.Library, word string) error {
	p := library.Topic(word)
	switch {
	case p == nil:
		return fmt.Errorf("the documentation has no page %q%s; 'odarchive docs' lists all, and --search finds words", word,
			library.Hint(word))
	case c.json:
		return json.NewEncoder(c.stdout).Encode(struct {
			topic
			Text string `json:"text"`
		}{topic{p.Path, p.Group, p.Title, p.About}, p.Source})
	}
	_, err := io.WriteString(c.stdout, p.Source)
	return err
}

func (c *cli) listTopics(library *docs.Library) error {
	var list []topic
	for _, p := range library.Pages()[1:] {
		list = append(list, topic{p.Path, p.Group, p.Title, p.About})
	}
	if c.json {
		return json.NewEncoder(c.stdout).Encode(list)
	}
	w := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	group := ""
	for _, t := range list {
		if t.Group == "" {
			break // documents beside the code, which pages link to
		}
		if t.Group != group {
			group = t.Group
			fmt.Fprintf(w, "\n%s\n", group)
		}
		if strings.Count(t.Topic, "/") < 2 {
			fmt.Fprintf(w, "  %s\t%s\n", t.Topic, t.Title)
		}
	}
	return w.Flush()
}

func (c *cli) searchDocs(library *docs.Library, query string) error {
	hits := library.Search(query)
	if len(hits) == 0 {
		return fmt.Errorf("no section contains every word of %q", query)
	}
	list := []topic{}
	for _, h := range hits {
		list = append(list, topic{h.Page.Path, h.Page.Group, h.Section.Title, h.Excerpt})
	}
	if c.json {
		return json.NewEncoder(c.stdout).Encode(list)
	}
	for _, t := range list {
		if _, err := fmt.Fprintf(c.stdout, "%s: %s\n    %s\n", t.Topic, t.Title, t.About); err != nil {
			return err
		}
	}
	return nil
}
