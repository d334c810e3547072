package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"odarchive/cmd/internal/app"
	"odarchive/crawler"
	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/ns"

	"github.com/spf13/cobra"
)

func (c *cli) show() *cobra.Command {
	var failed bool
	limit := 20
	cmd := &cobra.Command{
		Use:   "show URL|IRI|HOST|PORTAL",
		Short: "Show what is known of a file, host, dataset or portal, and which files fail",
		Long: `Show what is known of one thing. Of a file: its versions, why its last visit failed, and when it is visited next. Of a
host, a dataset or a portal: its files, and what fails by cause.

With --failed: the files that failed at their last visit, by cause, with what came, since when, and when they are tried
again; of one thing, or of the whole archive.`,
		Example: `  odarchive show https://example.org/data.csv
  odarchive show data.example.org
  odarchive show --failed
  odarchive show --failed https://data.example.org/ --json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 0 && !failed {
				return usagef("show takes one URL, IRI, host or portal, or --failed")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.reading(cmd.Context(), func(n *app.Node) error {
				ctx, what := cmd.Context(), thing{}
				if len(args) > 0 {
					var err error
					if what, err = findThing(ctx, n, args[0]); err != nil {
						return err
					}
				}
				if failed {
					return c.showFailed(ctx, n, what, limit)
				}
				if err := what.read(ctx, n); err != nil {
					return err
				}
				return c.printThing(what)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&failed, "failed", false, "list the files that failed at their last visit, by cause")
	number(f, &limit, "limit", 0, unbounded, "with --failed: files of each cause to list, 0 for all")
	f.BoolVar(&c.json, "json", false, "machine-readable output")
	c.readOnlyFlag(cmd)
	return c.beside(cmd, besideOptions{})
}

// thing is what an argument of show stands for. JSON names are stable.
type thing struct {
	Kind   string    `json:"kind"` // file, host, dataset, portal
	Name   string    `json:"name"` // URL, host or IRI
	Title  string    `json:"title,omitempty"`
	File   *file     `json:"file,omitempty"`
	Host   *hostSeen `json:"host,omitempty"`
	Portal string    `json:"portal,omitempty"` // of a dataset

	Datasets  int       `json:"datasets,omitempty"` // of a portal
	Resources int       `json:"files"`
	Former    int       `json:"former_files,omitempty"` // that a portal listed before
	Versions  int       `json:"versions"`
	Bytes     int64     `json:"bytes"`
	Withdrawn time.Time `json:"withdrawn,omitzero"` // of a dataset that its portal lists no longer
	Files     []file    `json:"listed,omitempty"`   // of a dataset
	Failed    []byCause `json:"failed"`             // files that failed at their last visit

	only string   // the id of the version that was asked for; "" for all
	urls []string // of a dataset
}

// hostSeen is the state of the crawl of a host.
type hostSeen = crawler.HostStatus

// search returns the search for the files of a thing.
func (t thing) search() catalog.Search {
	switch t.Kind {
	case "host":
		return catalog.Search{Host: t.Name}
	case "dataset":
		return catalog.Search{Dataset: t.Name}
	case "portal":
		return catalog.Search{Portal: t.Name}
	}
	return catalog.Search{}
}

// findThing finds what a name stands for: a file in any spelling of its URL, or a version, a dataset, a portal, a host.
// Where a scheme is missing, a host is looked for first.
func findThing(ctx context.Context, n *app.Node, name string) (thing, error) {
	name = strings.TrimSpace(name)
	if ref, ok := n.Mint.Parse(name); ok && ref.Kind == ns.KindVersion {
		id, _, _ := strings.Cut(ref.ID, "_")
		t, known, err := findFile(ctx, n, id)
		t.only = ref.ID
		if known || err != nil {
			return t, err
		}
	}
	names := []string{name, name + "/", strings.TrimSuffix(name, "/")}
	if !strings.Contains(name, "://") {
		if t, known, err := findHost(n, name); known || err != nil {
			return t, err
		}
		for _, scheme := range []string{"https://", "http://"} {
			names = append(names, scheme+name, scheme+name+"/")
		}
	}
	for _, spelling := range names {
		for _, find := range []func(context.Context, *app.Node, string) (thing, bool, error){findFile, findDataset, findPortal} {
			if t, known, err := find(ctx, n, spelling); known || err != nil {
				return t, err
			}
		}
	}
	if u, err := address.Parse(name); err == nil && u.Path == "/" && u.Query == "" {
		if t, known, err := findHost(n, u.Group()); known || err != nil {
			return t, err
		}
	}
	return thing{}, fmt.Errorf("nothing is known of %s; 'odarchive search WORDS' finds files by words, 'odarchive add URL' registers one",
		printable(name))
}

// orUnknown returns whether something is known, by the error of who was asked.
func orUnknown(err error) (known bool, _ error) {
	if errors.Is(err, archive.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func findFile(ctx context.Context, n *app.Node, name string) (thing, bool, error) {
	r, err := n.Archive.Resource(ctx, name)
	known, err := orUnknown(err)
	return thing{Kind: "file", Name: r.URL, Title: r.Title}, known, err
}

func findDataset(ctx context.Context, n *app.Node, name string) (thing, bool, error) {
	d, err := n.Archive.Dataset(ctx, name)
	known, err := orUnknown(err)
	return thing{Kind: "dataset", Name: d.IRI, Title: d.Title, Portal: d.Portal, Withdrawn: d.Withdrawn, Resources: len(d.URLs),
		urls: d.URLs}, known, err
}

func findPortal(ctx context.Context, n *app.Node, name string) (thing, bool, error) {
	all, err := n.Archive.Portals(ctx)
	for _, p := range all {
		if p.IRI == name {
			return thing{Kind: "portal", Name: p.IRI, Title: p.Title, Datasets: p.Datasets, Resources: p.Resources, Former: p.Former,
				Versions: p.Versions, Bytes: p.Bytes}, true, nil
		}
	}
	return thing{}, false, err
}

func findHost(n *app.Node, name string) (thing, bool, error) {
	h, known, err := n.Pipeline.Host(address.HostGroup(name))
	return thing{Kind: "host", Name: h.Host, Host: &h, Resources: h.URLs, Versions: h.Versions, Bytes: h.Bytes}, known, err
}

// maxFilesShown is how many files of a dataset are listed.
const maxFilesShown = 50

// read reads what show prints of a thing.
func (t *thing) read(ctx context.Context, n *app.Node) error {
	if t.Kind == "file" {
		f, err := readFile(ctx, n, t.Name)
		if err != nil {
			return err
		}
		t.File, t.Resources, t.Versions, t.Bytes = &f, 1, f.Versions, f.Size
		if f.Cause != "" {
			t.Failed = []byCause{{f.Cause, 1}}
		}
		return f.listVersions(ctx, n, t.only)
	}
	for i, link := range t.urls { // all of them are counted
		r, err := n.Archive.Resource(ctx, link)
		if err != nil {
			return err
		}
		t.Versions, t.Bytes = t.Versions+r.Versions, t.Bytes+r.Size
		if i < maxFilesShown {
			f, err := fileOf(ctx, n, r)
			if err != nil {
				return err
			}
			t.Files = append(t.Files, f)
		}
	}
	counts := map[string]int{}
	err := eachFailed(ctx, n, *t, func(_ catalog.Resource, cause string) error { counts[cause]++; return nil })
	t.Failed = countsOf(counts)
	return err
}

// file is what is known of a file. JSON names are stable.
type file struct {
	URL      string    `json:"url"`
	Title    string    `json:"title,omitempty"`
	Type     string    `json:"type,omitempty"`
	Size     int64     `json:"size,omitempty"`
	Portals  []string  `json:"portals,omitempty"`
	Datasets []string  `json:"datasets,omitempty"`
	Added    time.Time `json:"added,omitzero"`
	Delisted time.Time `json:"delisted,omitzero"`
	Versions int       `json:"versions"`
	Changed  time.Time `json:"changed,omitzero"` // the latest version

	Visits    int             `json:"visits"`
	LastVisit time.Time       `json:"lastVisit,omitzero"`
	Outcome   catalog.Outcome `json:"outcome,omitempty"`
	Cause     string          `json:"cause,omitempty"` // of the failure of the last visit
	Status    int             `json:"status,omitempty"`
	Why       string          `json:"why,omitempty"`
	Since     time.Time       `json:"since,omitzero"` // the first of the visits that have failed
	Failures  int             `json:"failures,omitempty"`

	Next    time.Time `json:"next,omitzero"`
	Because string    `json:"because,omitempty"` // of the next visit, or that there is none
	Waits   string    `json:"waits,omitempty"`   // why, and until when, its host must not be asked
	History []version `json:"history,omitempty"`

	resource catalog.Resource
	due      bool // now
}

type version struct {
	N    int       `json:"n"`
	IRI  string    `json:"iri"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
	Size int64     `json:"size"`
	Note string    `json:"note,omitempty"`
}

// readFile reads what is known of a file, without its versions.
func readFile(ctx context.Context, n *app.Node, link string) (file, error) {
	r, err := n.Archive.Resource(ctx, link)
	if err != nil {
		return file{URL: link}, err
	}
	return fileOf(ctx, n, r)
}

// failedVisits is how many visits are read at once to find the first of those that failed.
const failedVisits = 50

func fileOf(ctx context.Context, n *app.Node, r catalog.Resource) (file, error) {
	f := file{URL: r.URL, Title: r.Title, Type: r.MediaType, Size: r.Size, Portals: r.Portals, Datasets: r.Datasets, Added: r.Added,
		Delisted: r.Delisted(), Versions: r.Versions, Changed: r.Changed,
		Visits: r.Visits, LastVisit: r.LastVisit, Outcome: r.Outcome, Why: r.Why, resource: r}
	if catalog.Cause(r.Outcome, r.ErrorClass, 0, r.Why) != "" {
		q := catalog.ActivityQuery{URL: r.URL, Limit: failedVisits}
		for more := true; more; q.Before = f.Since {
			visits, err := n.Archive.Activities(ctx, q)
			if err != nil {
				return f, err
			}
			more = len(visits) == failedVisits
			for _, v := range visits { // newest first
				if catalog.Cause(v.Outcome, v.ErrorClass, v.Status, v.Why) == "" {
					more = false
					break
				}
				if f.Failures == 0 {
					f.Status = v.Status
				}
				f.Since = v.Start
				f.Failures += max(1, v.Visits)
			}
		}
		f.Cause = catalog.Cause(r.Outcome, r.ErrorClass, f.Status, r.Why)
	}
	u, err := n.Frontier.Get(r.URL)
	switch {
	case errors.Is(err, frontier.ErrUnknown):
		f.Because = "not visited: it was imported, not registered"
	case err != nil:
		return f, err
	default:
		if f.Because = notVisited(n, u); f.Because != "" {
			break
		}
		f.Next, f.Because, f.due = u.Due, u.Why, !u.Due.After(n.Clock())
		wait, waits, err := n.Pipeline.WaitOf(r.URL)
		if err != nil {
			return f, err
		}
		if waits && wait.Until.After(n.Clock()) {
			f.Waits = wait.String()
		}
	}
	return f, nil
}

// listVersions reads the versions of a file, or one of them.
func (f *file) listVersions(ctx context.Context, n *app.Node, only string) error {
	all, err := n.Archive.Versions(ctx, f.URL)
	for _, v := range all {
		if only != "" && v.ID != only {
			continue
		}
		note := ""
		switch {
		case v.Withdrawn != nil:
			note = "withdrawn"
		case v.ErrorPage != "":
			note = "an error page"
		case v.Truncated != "":
			note = "truncated"
		}
		f.History = append(f.History, version{v.N, n.Mint.Version(v.ID), v.At, v.Type, v.Size, note})
	}
	return err
}
