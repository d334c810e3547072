package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/listen"
	"odarchive/crawler/archive/transparency"

	"github.com/spf13/cobra"
)

func (c *cli) witnessServe() *cobra.Command {
	var keys []string
	var secret, state, address string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Cosign the checkpoints that logs send (C2SP tlog-witness)",
		Long: `Answer POST /add-checkpoint: a log whose key is one of --key sends a checkpoint with the proof that it contains the one before,
and gets a cosignature. Archives ask if their --log-witness is URL#KEY with your key. What was cosigned last is kept in a file for each log
below --state, and is durable before an answer is sent: do not restore that directory from a backup, and do not use the
key elsewhere with another one. 'odarchive log witness URL --state' takes the same directory.

Put a server with TLS in front of it, or listen on a unix socket.`,
		Example: `  odarchive log witness serve --key archive.example.org/log+1a2b3c4d+AQ… --witness-key witness.key --state seen --listen 127.0.0.1:8090
  odarchive log witness serve --key keys.txt --witness-key witness.key --state seen --listen unix:/run/witness.sock`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.serveWitness(cmd.Context(), keys, secret, state, address)
		},
	}
	f := cmd.Flags()
	witnessFlags(cmd, &keys, &secret, &state)
	f.StringVar(&address, "listen", "127.0.0.1:8090", "address to listen on: HOST:PORT or unix:PATH")
	return cmd
}

// witnessFlags adds the flags of commands that cosign.
func witnessFlags(cmd *cobra.Command, keys *[]string, secret, state *string) {
	f := cmd.Flags()
	f.StringArrayVar(keys, "key", nil, "key of another archive's log, or a file with it (repeatable)")
	f.StringVar(secret, "witness-key", "", "file with your key")
	f.StringVar(state, "state", "",
		"file, or directory with a file for each log, with the checkpoint that was seen last; made by the first run")
}

func (c *cli) serveWitness(ctx context.Context, keys []string, secret, state, address string) error {
	if len(keys) == 0 || secret == "" || state == "" {
		return usagef("log witness serve needs --key, --witness-key and --state")
	}
	trusted, err := c.trustedKeys(keys)
	if err != nil {
		return err
	}
	by, err := readCosigner(secret)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return err
	}
	listeners, err := listen.Open(address, 0o660)
	if err != nil {
		return usageError{err}
	}
	fmt.Fprintf(c.stderr, "The witness is ready at %s. Its key:\n%s\n", placesOf(address, listeners), by.Public)
	return faces.Serve(ctx, c.log, &transparency.WitnessService{Keys: trusted, By: by, Dir: state, Report: func(origin string, err error) {
		c.log.Error("a checkpoint was refused", "log", origin, "error", err)
	}}, 0, listeners...)
}

// placesOf says where listeners listen: the port of an address may be any free one.
func placesOf(address string, listeners []net.Listener) string {
	if len(listeners) == 1 && listeners[0].Addr().Network() == "tcp" {
		return listeners[0].Addr().String()
	}
	return address
}
