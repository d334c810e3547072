package access

import (
	"context"
	"errors"
	"net/http"

	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// ErrNoName is returned if no token has a name.
var ErrNoName = errors.New("no token has this name")

// Keeper lists and revokes tokens.
type Keeper interface {
	ListTokens(ctx context.Context) ([]Listed, error)
	// RevokeToken makes the tokens with a name invalid for ever, and returns all. The error is ErrNoName if there is
	// none.
	RevokeToken(ctx context.Context, name string) ([]Listed, error)
}

// API holds the handlers about tokens. The router checks the right.
type API struct{ Keeper Keeper }

// List answers GET /tokens: names, rights and ends of all tokens.
func (a *API) List(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Keeper.ListTokens(r.Context())
	if err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]any{"tokens": list})
}

// Revoke answers DELETE /tokens/{name}.
func (a *API) Revoke(w http.ResponseWriter, r *http.Request) error {
	list, err := a.Keeper.RevokeToken(r.Context(), target.Value(r, "name"))
	if errors.Is(err, ErrNoName) {
		return problem.Wrap(http.StatusNotFound, "No such token", err)
	}
	if err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]any{"tokens": list})
}
