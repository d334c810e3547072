package answer_test

import (
	"context"
	"errors"
	"testing"

	"odarchive/sparqlapi/answer"
)

type name struct{}

func TestAWriteEndsWithTheServerAndNotWithItsClient(t *testing.T) {
	t.Parallel()
	stopping := errors.New("stopping")
	server, stop := context.WithCancelCause(t.Context())
	request, leave := context.WithCancel(context.WithValue(answer.LastingServer(server), name{}, "x"))
	ctx, release := answer.LastingClient(request)
	defer release()
	leave()
	if ctx.Err() != nil || context.Cause(ctx) != nil || ctx.Value(name{}) != "x" {
		t.Errorf("after the client: %v, %v", ctx.Err(), context.Cause(ctx))
	}
	stop(stopping)
	<-ctx.Done()
	if !errors.Is(context.Cause(ctx), stopping) {
		t.Errorf("after the server: %v", context.Cause(ctx))
	}
}
