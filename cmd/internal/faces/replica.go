package faces

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"

	"odarchive/cmd/internal/listen"
	"odarchive/crawler/copies/vault"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/replicate"
	"odarchive/ui"
)

// Replica says that the faces are those of a state of a replica.
type Replica struct {
	Writer  string                                             // its address
	State   func() string                                      // how far the replica is
	Collect func(gauge func(name, help string, value float64)) // sends the figures of /metrics
	Before  *Faces                                             // of the state before; nil for the first one
}

// inherit takes over from the faces of an earlier state what has to outlive it: counters, limits and sessions.
func (a *Faces) inherit() {
	if a.Replica == nil || a.Replica.Before == nil {
		return
	}
	b := a.Replica.Before
	a.places, a.tokens, a.guard, a.seen = b.places, b.tokens, b.guard, b.seen
}

// pagesBefore returns the pages of the state before, nil for none.
func (a *Faces) pagesBefore() *ui.UI {
	if a.Replica == nil || a.Replica.Before == nil {
		return nil
	}
	return a.Replica.Before.shown
}

// refuseWrite is the answer to requests that a replica cannot carry out.
func (a *Faces) refuseWrite(*http.Request) error {
	return &problem.Error{Status: http.StatusForbidden, Title: "This is a replica",
		Detail: "nothing can be changed here: send it to " + a.Replica.Writer, Fields: map[string]any{"writer": a.Replica.Writer}}
}

// replicator returns the API for replicas, nil if this archive cannot have any.
func (a *Faces) replicator() *replicate.API {
	if a.store.DB.ReadOnly() || a.store.DB.Lineage() == "" {
		return nil
	}
	a.ships = replicate.New(a.store.DB, a.store.Content, func() (id replicate.Identity, err error) {
		description, err := os.ReadFile(filepath.Join(a.store.Config.Data, "odarchive.json"))
		if err != nil {
			return id, fmt.Errorf("description of the archive: %w", err)
		}
		if info, ok := debug.ReadBuildInfo(); ok {
			id.Program = info.Main.Version
		}
		return replicate.Identity{Program: id.Program, Base: a.store.Mint.Base, Description: string(description)}, nil
	})
	a.ships.Lets = func(number uint64) bool {
		k := a.store.BackupKeeper()
		return k == nil || k.Lets(number)
	}
	a.ships.Stopped = func() error {
		if k := a.store.BackupKeeper(); k != nil && k.State().Fenced {
			return fmt.Errorf("%w: replicas get nothing more from this server", vault.ErrFenced)
		}
		return nil
	}
	return a.ships
}

// ListenSocket opens the socket of a data directory, as Faces.ListenSocket does.
func ListenSocket(dir string) (*Socket, error) {
	l, err := listen.Unix(filepath.Join(dir, socketFile), 0o600)
	if err != nil {
		return nil, err
	}
	return &socket{l}, nil
}

// Socket is the socket of a data directory.
type Socket = socket
