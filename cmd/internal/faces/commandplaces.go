package faces

import (
	"errors"
	"net/http"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

// commandPlaces are the commands that may run at a time: those of the archive's own user, of holders of tokens, and of
// anybody, each with a share for one client, so that none takes the places of others.
type commandPlaces struct{ own, holders, anybody *access.Gate }

func newCommandPlaces() commandPlaces {
	gate := func(places, perClient int) *access.Gate {
		return access.NewGate(access.Limits{Places: places, PerClient: perClient, Queue: -1, Wait: retryCommands})
	}
	return commandPlaces{own: gate(32, 32), holders: gate(32, 8), anybody: gate(16, 4)}
}

// enter takes a place for a request before any of its body is read. longest is how long the line of its order may be.
func (p commandPlaces) enter(r *http.Request) (leave func(), longest int, err error) {
	caller, _ := access.Of(r.Context())
	gate, longest := p.anybody, maxAnybodyOrder
	switch {
	case caller.Name == access.Local().Name:
		gate, longest = p.own, maxOrder
	case caller.Known():
		gate, longest = p.holders, maxOrder
	}
	leave, err = gate.Enter(r.Context(), access.ClientOf(r.Context()))
	if full, ok := errors.AsType[*access.Full](err); ok {
		refused := &problem.Error{Status: http.StatusServiceUnavailable, Title: "Too many commands are running", RetryAfter: retryCommands}
		if full.Own {
			refused.Detail = "this client has as many commands running as one client may have"
		}
		return nil, 0, refused
	}
	return leave, longest, err
}
