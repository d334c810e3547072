package sparql

import (
	"context"
	"errors"
	"time"

	"odarchive/triplestore/sparql/exec"
)

// Errors a caller may want to decide on. A text that is no query or update gives a *syntax.Error instead.
var (
	ErrTimeout     = exec.ErrTimeout // wrapped in an *exec.LimitError, as ErrMemory and ErrRows are
	ErrMemory      = exec.ErrMemory
	ErrRows        = exec.ErrRows
	ErrTooLarge    = errors.New("over the size limit")
	ErrForbidden   = errors.New("not allowed")
	ErrRemote      = errors.New("another server failed") // SERVICE or LOAD, not silent
	ErrNoEndpoint  = exec.ErrNoEndpoint
	ErrGraphExists = errors.New("the graph exists already")
	ErrNoGraph     = errors.New("there is no such graph")
	// ErrUsing: the protocol's using-graph-uri together with USING or WITH in the request.
	ErrUsing = errors.New("the dataset is given twice: by the protocol and by USING or WITH in the update")
)

func timeLimit(d time.Duration) error {
	return &exec.LimitError{Limit: exec.ErrTimeout, Value: int64(d)}
}

func memoryLimit(bytes int64) error {
	return &exec.LimitError{Limit: exec.ErrMemory, Value: bytes}
}

func rowLimit(rows int64) error {
	return &exec.LimitError{Limit: exec.ErrRows, Value: rows}
}

// cause says why work under ctx ended: its deadline is our limit, another end is the caller's doing.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return context.Cause(ctx)
	}
	return err
}
