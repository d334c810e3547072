package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/inspect/examine"
	"odarchive/sparqlapi/replica"
	"odarchive/triplestore/kv"
)

// serveReplica serves a replica of the archive at --follow until ctx ends.
func (c *cli) serveReplica(ctx context.Context, e *edge) error {
	settings := c.cfg.Follow
	if err := settings.Check(); err != nil {
		return usagef("%v", err)
	}
	writer := settings.Address()
	examiner, err := store.NewExaminer(c.cfg, c.log, 0, "") // of all states
	if err != nil {
		return err
	}
	defer examiner.Close()
	var f *replica.Follower
	f, err = replica.New(replica.Options{Dir: c.cfg.Data, Bytes: c.cfg.Bytes, Here: c.cfg.Bytes == config.BytesHere,
		Cache: int64(c.cfg.Cache), Writer: writer, Token: c.cfg.Serve.Token, MaxLag: settings.MaxLag, Log: c.log,
		Open: func(ctx context.Context, base string, state *kv.DB, before replica.Node) (replica.Node, http.Handler, error) {
			return c.openState(ctx, base, state, before, examiner, f, writer)
		}})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.cfg.Data, 0o700); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	listeners := slices.Clone(e.listeners)
	if local, err := faces.ListenSocket(c.cfg.Data); err == nil {
		defer local.Close()
		listeners = append(listeners, local)
	} else {
		c.log.Warn("commands cannot ask this server without a token", "err", err)
	}
	var background sync.WaitGroup
	followed := make(chan error, 1)
	following, stopFollowing := context.WithCancel(context.WithoutCancel(ctx)) // until requests have ended
	background.Go(func() {
		followed <- f.Run(following)
		stop()
	})
	background.Go(func() { c.watch(ctx, e) })
	fmt.Fprintf(c.stderr, "odarchive: a replica of %s, on %s\n", writer, e.places())
	e.notify.Ready("a replica of " + writer)
	defer context.AfterFunc(ctx, e.notify.Stopping)()
	err = faces.Serve(ctx, c.log, f, c.cfg.Serve.ShutdownDelay, listeners...)
	stop()
	stopFollowing()
	background.Wait()
	return errors.Join(err, <-followed)
}

// openState opens a state of a replica, and makes its handler.
func (c *cli) openState(ctx context.Context, base string, state *kv.DB, before replica.Node, examiner *examine.Pool,
	f *replica.Follower, writer string) (replica.Node, http.Handler, error) {
	cfg := c.cfg
	cfg.Base = cmp.Or(base, cfg.Base)
	opts := store.Options{Examine: examiner,
		State: &store.State{DB: state, Packs: f.Packs(), Reason: "the archive is a replica of " + writer + ", where changes go"}}
	of := &faces.Replica{Writer: writer, State: f.State, Collect: f.Collect}
	if n, ok := before.(*app.Node); ok {
		opts.State.From, of.Before = n.Store, n.Faces
	}
	n, err := app.Open(ctx, cfg, c.log, opts)
	if err != nil {
		return nil, nil, err
	}
	n.Replica = of
	n.Commands = c.served(n)
	handler, err := n.Handler()
	if err != nil {
		return nil, nil, errors.Join(err, n.Close())
	}
	return n, handler, nil
}
