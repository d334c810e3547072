package faces

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/rdfprofile"
	"odarchive/crawler/inspect/unpack"
	"odarchive/crawler/web/spool"
	"odarchive/ns"
	"odarchive/sparqlapi/files"
	"odarchive/triplestore/sparql"
)

// slowQuery is how long a query runs before it is logged.
const slowQuery = 5 * time.Second

// maxDocument is the most bytes that LOAD reads of one document.
const maxDocument = 1 << 30

// opener opens what a graph name of FROM stands for: a version, or a file inside one.
type opener struct {
	archive *archive.Archive
	mint    ns.Mint
	spool   *spool.Spool
	slots   chan struct{} // bounds how many members are unpacked at the same time
}

// resolve opens a version or a member. A compressed version, or an archive with one RDF file, stands for that file. The
// bytes of versions are read as they were fetched.
func (o *opener) resolve(ctx context.Context, iri string) (sparql.Document, bool, error) {
	ref, ok := o.mint.Parse(iri)
	if !ok || ref.Kind != ns.KindVersion && ref.Kind != ns.KindMember {
		return sparql.Document{}, false, nil
	}
	v, err := o.archive.Version(ctx, ref.ID)
	if errors.Is(err, records.ErrNotFound) {
		return sparql.Document{}, false, fmt.Errorf("%w in the archive: version %s", sparql.ErrNoDocument, ref.ID)
	}
	if err != nil {
		return sparql.Document{}, false, err
	}
	path, base := ref.Path, iri
	if ref.Kind == ns.KindVersion && unpack.Known(v.Type) {
		if path, err = o.onlyRDF(ctx, v); err != nil {
			return sparql.Document{}, false, err
		}
		base = v.URL
	}
	if path != "" {
		doc, err := o.member(ctx, v, path, base)
		return doc, err == nil, err
	}
	body, err := o.archive.Open(ctx, v.ID)
	return sparql.Document{Body: body, Type: v.Type, IRI: v.URL}, err == nil, err
}

// maxNamed is how many members are named in a message.
const maxNamed = 3

// onlyRDF returns the path of the only RDF file inside a version.
func (o *opener) onlyRDF(ctx context.Context, v catalog.Version) (path string, err error) {
	in, err := o.archive.Inside(ctx, v.ID)
	if err != nil {
		return "", err
	}
	var found []string
	if in != nil {
		for _, m := range in.Members {
			if rdfprofile.Known(m.Type) {
				found = append(found, m.Path)
			}
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0:
		return "", fmt.Errorf("%w: no RDF file was found inside %s", sparql.ErrDocument, v.Type)
	}
	for i, path := range found {
		found[i] = "<" + o.mint.Member(v.ID, path) + ">"
	}
	return "", fmt.Errorf("%w: it contains %d RDF files; name one of them, such as %s", sparql.ErrDocument, len(found),
		strings.Join(found[:min(maxNamed, len(found))], ", "))
}

// member unpacks a member, because it is known to be intact only afterwards. base is the document's IRI.
func (o *opener) member(ctx context.Context, v catalog.Version, path, base string) (doc sparql.Document, err error) {
	m, err := o.archive.Member(ctx, v.ID, path)
	if errors.Is(err, archive.ErrNotFound) {
		return doc, fmt.Errorf("%w in the archive: %q inside version %s", sparql.ErrNoDocument, path, v.ID)
	}
	if err != nil {
		return doc, err
	}
	select {
	case o.slots <- struct{}{}:
		defer func() { <-o.slots }()
	case <-ctx.Done():
		return doc, context.Cause(ctx)
	}
	file := o.spool.CreatePlain()
	if err := errors.Join(o.archive.Extract(ctx, m, file), file.Finish()); err != nil {
		file.Remove() // what cannot be removed now is removed at the next start
		if why := files.WhyLost(m, err); why != "" {
			return doc, fmt.Errorf("%w: %s", sparql.ErrDocument, why)
		}
		if errors.Is(err, unpack.ErrNotFound) {
			return doc, fmt.Errorf("%w in the archive: %q inside version %s", sparql.ErrNoDocument, path, v.ID)
		}
		return doc, err
	}
	return sparql.Document{Body: &unpacked{io.NewSectionReader(file, 0, file.Size()), file}, Type: m.Type, IRI: base}, nil
}

// unpacked is a member in the spool, which Close removes.
type unpacked struct {
	io.Reader
	file *spool.File
}

func (u *unpacked) Close() error { return u.file.Remove() }

// documents returns the function that fetches documents for LOAD.
func documents(client *http.Client) sparql.Fetch {
	return func(ctx context.Context, iri string) (sparql.Document, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, iri, nil)
		if err != nil {
			return sparql.Document{}, err
		}
		r.Header.Set("Accept",
			"text/turtle, application/n-triples, application/n-quads, application/trig, application/rdf+xml;q=0.9, "+
				"application/ld+json;q=0.8, */*;q=0.1")
		resp, err := client.Do(r)
		if err != nil {
			return sparql.Document{}, err
		}
		if resp.StatusCode != http.StatusOK {
			resp.Body.Close()
			return sparql.Document{}, fmt.Errorf("the server answered %s", resp.Status)
		}
		return sparql.Document{Body: http.MaxBytesReader(nil, resp.Body, maxDocument), Type: resp.Header.Get("Content-Type"),
			IRI: resp.Request.URL.String()}, nil
	}
}
