package sparql

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/sparql/internal/syntax"
)

// Errors of an Engine and its Results, for errors.Is.
var (
	// ErrTimeout, ErrMemory and ErrRows are limits on running queries; each is wrapped in a *LimitError.
	ErrTimeout = exec.ErrTimeout
	ErrMemory  = exec.ErrMemory
	ErrRows    = exec.ErrRows

	ErrTemp = exec.ErrTemp // a query that does not fit into memory found no room on disk

	ErrQueryTooLarge = plan.ErrTooLarge                             // too deep, or too many variables
	ErrTooLarge      = errors.New("over the size limit")            // a document of LOAD, or an answer to SERVICE
	ErrForbidden     = errors.New("not allowed")                    // SERVICE or LOAD, by the Options
	ErrRemote        = errors.New("another server failed")          // SERVICE or LOAD, without SILENT
	ErrIncomplete    = errors.New("the answer may be incomplete")   // a strict SERVICE whose endpoint limits its answers
	ErrNoEndpoint    = exec.ErrNoEndpoint                           // SERVICE ?var, where ?var is not bound to an IRI
	ErrDocument      = errors.New("the document cannot be queried") // FROM, of a document that is not RDF or broken
	ErrNoDocument    = errors.New("there is no such document")      // FROM, of a name that only a document can have
	// ErrUnknownFunction means that a strict query calls a function that the engine does not have.
	ErrUnknownFunction = errors.New("unknown function")
	// ErrArguments means that a property function, such as arc:matches, is used with arguments that it does not take.
	ErrArguments = plan.ErrArguments

	ErrGraphExists = errors.New("the graph exists already")
	ErrNoGraph     = errors.New("there is no such graph")
	// ErrUsing means that UpdateOptions name a dataset and the request has USING or WITH.
	ErrUsing = errors.New("the dataset is given twice: by the protocol and by USING or WITH in the update")
)

// SyntaxError says where and why a text is not SPARQL. Its fields are Line and Col, counted from 1 in characters, and
// the strings Found, Expected, Problem and Hint, which may be empty.
type SyntaxError = syntax.Error

// LimitError reports the limit that ended a query. Its Limit is ErrTimeout, ErrMemory or ErrRows, its Value the limit
// in nanoseconds, bytes or rows.
type LimitError = exec.LimitError

func timeLimit(d time.Duration) error {
	return &LimitError{Limit: ErrTimeout, Value: int64(d)}
}

func memoryLimit(bytes int64) error {
	return &LimitError{Limit: ErrMemory, Value: bytes}
}

func rowLimit(rows int64) error {
	return &LimitError{Limit: ErrRows, Value: rows}
}

// cause returns why work under ctx ended: a deadline of the engine is a *LimitError, any other end is the caller's.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return context.Cause(ctx)
	}
	return err
}
