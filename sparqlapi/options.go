package sparqlapi

import (
	"context"
	"log/slog"
	"net/http"

	"odarchive/sparqlapi/data"
	"odarchive/sparqlapi/describe"
	"odarchive/sparqlapi/files"
	"odarchive/sparqlapi/operate"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/replicate"
	"odarchive/sparqlapi/rest"
	"odarchive/triplestore/term"

	"github.com/go-chi/chi/v5"
)

// Versions serves the bytes of versions.
type Versions interface {
	Version(w http.ResponseWriter, r *http.Request, id string) error
	Latest(w http.ResponseWriter, r *http.Request) error // of the URL that the path ends with
}

// Members serves the files inside versions.
type Members interface {
	Member(w http.ResponseWriter, r *http.Request, versionID, path string) error
	// Listed reports whether a version is known to contain a file.
	Listed(ctx context.Context, versionID, path string) (bool, error)
}

// Zips serves zips of many versions.
type Zips interface {
	SPARQL(w http.ResponseWriter, r *http.Request) error
	Count(w http.ResponseWriter, r *http.Request) error // what the zip of a query holds
	OfType(w http.ResponseWriter, r *http.Request) error
	ByID(w http.ResponseWriter, r *http.Request) error
	WARC(w http.ResponseWriter, r *http.Request) error // what a query selects, as WARC
	WACZ(w http.ResponseWriter, r *http.Request) error // the same as WACZ
}

// Mementos serves time gates and time maps (RFC 7089).
type Mementos interface {
	TimeGate(w http.ResponseWriter, r *http.Request) error
	TimeMapLink(w http.ResponseWriter, r *http.Request) error
	TimeMapJSON(w http.ResponseWriter, r *http.Request) error
	Web(w http.ResponseWriter, r *http.Request) error // as other web archives name versions
}

// Commands runs commands of the program for clients. Run calls Guard.Check for those that need the token.
type Commands interface {
	Run(w http.ResponseWriter, r *http.Request) error
	Stop(w http.ResponseWriter, r *http.Request) error // that the client has begun
}

// Options of New. If a handler is nil, its routes are missing.
type Options struct {
	Log     *slog.Logger      // nil discards
	Errors  problem.Table     // the program's sentinels
	Guard   *Guard            // nil refuses every write
	Audit   *operate.AuditLog // of what changes the archive; nil for none
	Closed  bool              // reading needs a right, too
	Rate    Rate              // limit for one client address; the zero value means none
	Root    string            // path of the archive's base without the final '/', as in "/archive"; "" for none
	Former  []string          // former bases of the archive's IRIs: what begins with the path of one is redirected
	Proxies func() Proxies    // whose requests say in X-Forwarded-For or Forwarded where they come from; nil: nobody's
	Observe func(Event)       // is called after each request, for metrics; may be nil

	SPARQL     http.Handler // SPARQL 1.1 Protocol; calls Guard itself, because only it can recognise an update
	GraphStore http.Handler // Graph Store Protocol; all methods but GET and HEAD need access.Update
	Versions   Versions
	Members    Members
	Zips       Zips
	Mementos   Mementos
	CDX        http.Handler
	Metrics    http.Handler
	Check      http.Handler // starts a check of everything stored
	Commands   Commands     // runs commands of the program for clients; checks their tokens itself
	Figures    http.Handler // figures of the archive, for programs
	Profiles   http.Handler // of the running program, below /debug/pprof/
	Changes    *data.ChangesAPI
	ChangeLog  *data.LogHandler
	Dumps      *files.DumpsAPI
	Related    *files.RelatedAPI
	Rows       *data.RowsAPI
	Histories  *data.Histories
	Search     *data.SearchAPI
	Assistants http.Handler // Model Context Protocol
	Feeds      *describe.FeedsAPI
	LDES       *describe.StreamAPI
	Evidence   *files.EvidenceAPI
	Citations  *describe.CitationAPI
	Control    *operate.ControlAPI
	Access     *access.API // tokens
	Audits     *operate.AuditAPI
	Replicate  *replicate.API // for replicas
	// Refuse returns the answer to requests that change something, if this is a replica. It is nil otherwise.
	Refuse func(*http.Request) error
	// Ready returns the state of the archive, and an error if it is not ready. If Ready is nil, it is always ready.
	Ready func(context.Context) (state string, err error)

	REST       *rest.API
	LinkedData *describe.LinkedData
	UI         UI
}

// UI serves pages for people.
type UI interface {
	Routes(chi.Router)
	Version(w http.ResponseWriter, r *http.Request, id string) error
	Dataset(w http.ResponseWriter, r *http.Request) error // the page of /dataset?url=
	Vocabulary(w http.ResponseWriter, r *http.Request, quads []term.Quad) error
	// ErrorPage answers with a page, or returns false if the client wants none.
	ErrorPage(w http.ResponseWriter, r *http.Request, e *problem.Error) bool
}
