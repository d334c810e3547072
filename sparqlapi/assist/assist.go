// Package assist is the archive for assistants: a server of the Model Context Protocol, with tools to search, to list
// and compare versions, to read rows of tables, to describe things and to query triples. All of it only reads.
//
// Handler serves it over HTTP (streamable HTTP, without sessions). Each answer is bounded to a size that an assistant
// can read; what is left out is said, with what to ask for instead. Calls have few places, which clients share, and end
// with the client's request.
package assist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Archive is what the tools read.
type Archive interface {
	data.RowsArchive
	Search(ctx context.Context, s catalog.Search) (catalog.Found, error)
	Resource(ctx context.Context, urlOrID string) (catalog.Resource, error)
	Versions(ctx context.Context, urlOrID string) ([]catalog.Version, error)
	Latest(ctx context.Context, urlOrID string) (catalog.Version, error)
	Compare(ctx context.Context, from, to catalog.Version, o diff.Options) (*diff.Report, error)
	Excerpt(ctx context.Context, v catalog.Version, max int64) ([]byte, error)
}

// Options of New. All but Log and Release are required.
type Options struct {
	Archive Archive
	Rows    *data.RowsAPI
	// Query runs a query as one of a client without a token, and returns at most a number of rows or statements, and of
	// bytes.
	Query func(ctx context.Context, text string, rows, bytes int) (Result, error)
	// Describe returns the statements about an IRI, and those that point to it, at most max of each.
	Describe func(ctx context.Context, iri string, max int) (out, in []term.Quad, err error)
	// MediaType returns the media type that an extension, or a media type, means; "" if it is unknown.
	MediaType func(name string) string
	Mint      ns.Mint
	Errors    problem.Table // the program's sentinels
	Release   string        // version of the program
	Log       *slog.Logger
}

// Limits of calls.
const (
	callTime   = 30 * time.Second
	maxAnswer  = 96 << 10 // bytes of an answer as JSON; a last resort, since tools have limits of their own
	maxText    = 24 << 10 // bytes of a text in an answer, and of rows
	maxCell    = 1000     // characters of a cell
	maxColumns = 200
)

// Server has the tools and resources. It has no state but the places of running calls.
type Server struct {
	o      Options
	places *access.Gate
	mcp    *mcp.Server
}

// New returns a Server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, places: access.NewGate(access.Limits{Places: 8, PerClient: 2, Queue: 64, PerQueue: 8, Wait: 10 * time.Second})}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "odarchive", Title: "ODArchive, an archive of open data", Version: o.Release,
		WebsiteURL: o.Mint.Base},
		&mcp.ServerOptions{Instructions: s.instructions(),
			Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Resources: &mcp.ResourceCapabilities{}}})
	s.mcp.AddReceivingMiddleware(noStreams)
	s.addTools()
	s.addResources()
	return s
}

// noStreams refuses to keep requests open for news: tools and resources do not change while the server runs.
func noStreams(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if method == "subscriptions/listen" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "nothing here changes: there is nothing to listen to"}
		}
		return next(ctx, method, r)
	}
}

// add adds a tool that only reads the archive. The assistant gets the errors of h, so that it can correct its call.
func add[In, Out any](s *Server, name, title, description string, h func(context.Context, In) (Out, error)) {
	no := false
	tool := &mcp.Tool{Name: name, Title: title, Description: description,
		Annotations: &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}}
	mcp.AddTool(s.mcp, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		out, err := call(ctx, s, name, func(ctx context.Context) (Out, error) { return h(ctx, in) })
		return nil, out, err
	})
}

// call runs f within the limits. Its error is for the client: nothing of the server's files and hosts is in it.
func call[Out any](ctx context.Context, s *Server, name string, f func(context.Context) (Out, error)) (out Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.o.Log.ErrorContext(ctx, "panic in a tool", "tool", name, "panic", v, "stack", string(debug.Stack()))
			//lint:ignore ST1005 it is a sentence for people
			err = errors.New(problem.InternalDetail)
		}
	}()
	ctx, cancel := withRequest(ctx)
	defer cancel()
	leave, err := s.places.Enter(ctx, access.ClientOf(ctx))
	if err != nil {
		return out, s.told(ctx, name, err)
	}
	defer leave()
	if out, err = f(ctx); err != nil {
		return out, s.told(ctx, name, err)
	}
	if body, err := json.Marshal(out); err != nil || len(body) > maxAnswer {
		var nothing Out
		return nothing, fmt.Errorf("the answer is larger than %d KiB; ask for less of it, with a smaller limit or a condition",
			maxAnswer>>10)
	}
	return out, nil
}

// told returns an error in the words of the HTTP interface.
func (s *Server) told(ctx context.Context, name string, err error) error {
	if full, ok := errors.AsType[*access.Full](err); ok {
		if full.Own {
			return errors.New("you have as many calls running and waiting as one client may have; wait for one of them to end")
		}
		return errors.New("the archive is busy; try again in a few seconds")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the call took longer than %s; ask for less", callTime)
	}
	e := s.o.Errors.Find(err)
	if e.Status >= 500 && e.Status != 503 {
		s.o.Log.ErrorContext(ctx, "a tool failed", "tool", name, "err", err)
	}
	if e.Detail == "" {
		return errors.New(e.Title)
	}
	return fmt.Errorf("%s: %s", e.Title, e.Detail)
}
