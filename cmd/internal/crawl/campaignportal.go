package crawl

import (
	"context"
	"fmt"
	"path"
	"strings"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/triplestore/rdfio"
)

// readPortal adds the RDF files of a CKAN portal to the campaign.
func (c *Crawl) readPortal(ctx context.Context, t campaign.Task) (string, error) {
	keeper := &filesOnly{c: c, task: t}
	h := ckan.New(portalapi.Source{URL: t.Address, HTTP: c.scopedClient(t.Campaign)})
	report, err := harvest.Run(ctx, "campaign "+t.Campaign+" "+t.Address, h, keeper,
		harvest.Options{Clock: c.store.Clock, Kind: t.Kind, Address: t.Address})
	return fmt.Sprintf("%d data sets, %d files of RDF, %d of them new", report.Datasets.N(), keeper.files, keeper.added), err
}

// filesOnly is a harvest.Keeper that adds RDF files to a campaign and ignores everything else.
type filesOnly struct {
	c            *Crawl
	task         campaign.Task
	files, added int
}

func (k *filesOnly) Begin(context.Context, harvest.Report, bool) (string, error) { return "", nil }

func (k *filesOnly) Open(context.Context, harvest.Report, string, bool, bool) error { return nil }

func (k *filesOnly) Listed(context.Context, harvest.Report, string) (int, error) { return 0, nil }

func (k *filesOnly) Lacking(context.Context, harvest.Report, string, []string) (catalog.Figure, error) {
	return catalog.Figure{}, nil
}

func (k *filesOnly) Keep(ctx context.Context, step harvest.Step) (int, error) {
	var list []catalog.Seed
	for _, s := range step.Seeds {
		if s, err := crawler.CleanSeed(s); err == nil && mayBeRDF(s) {
			list = append(list, s)
		}
	}
	k.files += len(list)
	added, err := k.c.Campaigns.AddFiles(ctx, k.task, list)
	k.added += added
	return added, err
}

func (k *filesOnly) Commit(context.Context, harvest.Report, string, harvest.Ending) (harvest.Changes, error) {
	return harvest.Changes{}, nil
}

func (k *filesOnly) End(context.Context, harvest.Report, bool, string) error { return nil }

// mayBeRDF reports whether a file is RDF, or an archive that may contain RDF, by its declared format or by its name.
func mayBeRDF(s catalog.Seed) bool {
	link, _, _ := strings.Cut(s.URL, "?")
	for _, name := range []string{s.Format, s.MediaType} {
		if _, ok := rdfio.ByName(name); ok && name != "" {
			return true
		}
		switch strings.ToLower(strings.TrimPrefix(name, ".")) {
		case "zip", "gz", "gzip", "bz2", "xz", "tar", "tar.gz", "tgz", "7z", "zst", "application/zip", "application/gzip",
			"application/x-gzip", "application/x-tar":
			return true
		}
		if strings.Contains(strings.ToLower(name), "rdf") {
			return true
		}
	}
	_, ok := rdfio.ByExtension(path.Base(link))
	return ok
}
