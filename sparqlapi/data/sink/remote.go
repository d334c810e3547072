package sink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/sparqlapi/data"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/results"
	"odarchive/triplestore/term"
)

// RemoteSource is a Source: an archive that another process serves.
type RemoteSource struct {
	// Do sends a request for a path of the server and returns the response, also if its status is an error.
	Do func(ctx context.Context, method, path, accept string) (*http.Response, error)
}

// get sends a GET request like ask.
func (s RemoteSource) get(ctx context.Context, path, accept string) (*http.Response, error) {
	return s.ask(ctx, http.MethodGet, path, accept)
}

// ask sends a request. The response has the status 200 or 204; other statuses are errors.
func (s RemoteSource) ask(ctx context.Context, method, path, accept string) (*http.Response, error) {
	resp, err := s.Do(ctx, method, path, accept)
	if err != nil {
		return nil, temporarily("ask the archive: %w", err)
	}
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNoContent {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, failure("the archive", resp)
}

// failure returns the error of a response whose status is not one of success.
func failure(who string, resp *http.Response) error {
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // only part of a message
	err := fmt.Errorf("%s answered %s: %.500s", who, resp.Status, strings.Join(strings.Fields(strings.ToValidUTF8(string(b), "?")), " "))
	switch {
	case resp.StatusCode == http.StatusGone:
		return fmt.Errorf("%w: %w", ErrGone, err)
	case resp.StatusCode >= 500 || resp.StatusCode == http.StatusRequestTimeout || resp.StatusCode == http.StatusTooManyRequests,
		strings.Contains(err.Error(), "deadlock"): // which Virtuoso answers with the status 400
		return temporary{err}
	}
	return err
}

// positionOf returns the position in a header field of a response.
func positionOf(resp *http.Response, header string) (Position, error) {
	n, err := strconv.ParseUint(resp.Header.Get(header), 10, 64)
	if err != nil {
		return Position{}, fmt.Errorf("the archive does not say its position; is it odarchive, and as new as this one?")
	}
	return Position{resp.Header.Get(data.HeaderLog), n}, nil
}

// Position implements Source.
func (s RemoteSource) Position(ctx context.Context) (p Position, err error) {
	resp, err := s.ask(ctx, http.MethodHead, "/changes/rdf", "")
	if err != nil {
		return p, err
	}
	resp.Body.Close()
	return positionOf(resp, data.HeaderNewest)
}

// Quads implements Source.
func (s RemoteSource) Quads(ctx context.Context) (int64, error) {
	resp, err := s.get(ctx, "/api/v1/stats/basic", "")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var stats struct {
		Triples int64 `json:"tripleCount"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&stats)
	return stats.Triples, err
}

// Dump implements Source.
func (s RemoteSource) Dump(ctx context.Context, begin func(Position) error, f func(term.Quad) error) error {
	resp, err := s.get(ctx, "/rdf-graph-store", rdfio.NQuads().MediaType)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	p, err := positionOf(resp, data.HeaderPosition)
	if err == nil {
		err = begin(p)
	}
	if err != nil {
		return err
	}
	return quads(resp.Body, f)
}

// quads calls f with each quad of a body in N-Quads.
func quads(r io.Reader, f func(term.Quad) error) error {
	for q, err := range rdfio.NewReader(r, rdfio.NQuads(), rdfio.Options{RDF12: true, LongTags: true}).All() {
		if err != nil {
			return brokenOff(err)
		}
		if err := f(q); err != nil {
			return err
		}
	}
	return nil
}

// brokenOff returns the error of reading a body. It is temporary unless the body has a syntax error.
func brokenOff(err error) error {
	if _, fault := errors.AsType[*rdfio.Error](err); fault {
		return fmt.Errorf("answer of the archive: %w", err)
	}
	return temporarily("answer of the archive: %w", err)
}

// Graphs implements Source.
func (s RemoteSource) Graphs(ctx context.Context, f func(term.Key) error) error {
	resp, err := s.get(ctx, "/sparql?query="+url.QueryEscape("SELECT DISTINCT ?g { GRAPH ?g { } }"), results.JSON.MediaType())
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r, err := results.NewReader(resp.Body, results.JSON, results.Limits{})
	if err != nil {
		return brokenOff(err)
	}
	for row, err := range r.All() {
		if err != nil {
			return brokenOff(err)
		}
		if len(row) == 1 && row[0] != "" {
			if err := f(row[0]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Graph implements Source.
func (s RemoteSource) Graph(ctx context.Context, g term.Key, f func(term.Quad) error) error {
	path := "/rdf-graph-store?default"
	if g.Kind() == term.KindBlank { // the Graph Store Protocol cannot name it
		return s.Dump(ctx, func(Position) error { return nil }, func(q term.Quad) error {
			if q.G != g {
				return nil
			}
			q.G = ""
			return f(q)
		})
	}
	if g != "" {
		path = "/rdf-graph-store?graph=" + url.QueryEscape(g.Value())
	}
	resp, err := s.Do(ctx, http.MethodGet, path, rdfio.NTriples().MediaType)
	if err != nil {
		return temporarily("ask the archive: %w", err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return quads(resp.Body, f)
	case http.StatusNotFound: // the graph is empty
		return nil
	}
	return failure("the archive", resp)
}

// maxPiece is the number of changes after which a piece of a commit ends.
const maxPiece = 1000

// Changes implements Source.
func (s RemoteSource) Changes(ctx context.Context, after Position, wait time.Duration, f func(triplestore.Commit) error) (Position, error) {
	for {
		path := fmt.Sprintf("/changes/rdf?after=%d&log=%s&wait=%g", after.N, url.QueryEscape(after.Log), wait.Seconds())
		resp, err := s.get(ctx, path, rdfio.PatchMediaType)
		if err != nil {
			return after, err
		}
		if resp.StatusCode == http.StatusNoContent {
			resp.Body.Close()
			return after, nil
		}
		to, err := positionOf(resp, data.HeaderPosition)
		if err == nil {
			err = patches(resp.Body, to.N, f)
		}
		resp.Body.Close()
		if err != nil {
			return after, err
		}
		after, wait = to, 0
	}
}

// patches calls f with the transactions of a body, long ones in pieces. The last one must be complete and that of a
// position: some proxies end a body that was cut off like a complete one.
func patches(r io.Reader, last uint64, f func(triplestore.Commit) error) error {
	p := rdfio.NewPatchReader(r)
	var c triplestore.Commit
	for {
		row, err := p.Read()
		if err == io.EOF && (c.More || c.Position != last) {
			return temporarily("answer of the archive: it ends before position %d", last)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return brokenOff(err)
		}
		switch row.Kind {
		case rdfio.PatchHeader:
			if row.Name == "id" {
				_, n, _ := strings.Cut(strings.Trim(row.Text, "<>"), "#")
				if c.Position, err = strconv.ParseUint(n, 10, 64); err != nil {
					return fmt.Errorf("answer of the archive: the patch %s has no position", row.Text)
				}
			}
		case rdfio.PatchAdd:
			c.Added = append(c.Added, row.Quad)
		case rdfio.PatchDelete:
			c.Removed = append(c.Removed, row.Quad)
		case rdfio.PatchAbort:
			return fmt.Errorf("answer of the archive: a transaction that was given up")
		}
		if c.More = row.Kind != rdfio.PatchCommit; !c.More || len(c.Added)+len(c.Removed) >= maxPiece {
			if err := f(c); err != nil {
				return err
			}
			c = triplestore.Commit{Position: c.Position, More: c.More}
		}
	}
}
