package faces

import (
	"net"
	"path/filepath"

	"odarchive/cmd/internal/listen"
)

// socketFile is the socket of the process that holds an archive. The mode of the file lets only its user in, so
// requests need no token.
const socketFile = "odarchive.sock"

// ListenSocket opens the archive's socket, and replaces one that a killed process has left. Close removes the file.
func (a *Faces) ListenSocket() (net.Listener, error) {
	l, err := listen.Unix(filepath.Join(a.store.Config.Data, socketFile), 0o600)
	if err != nil {
		return nil, err
	}
	return &socket{l}, nil
}

// socket marks the archive's own socket.
type socket struct{ net.Listener }
