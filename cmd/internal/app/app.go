// Package app builds a whole node from its settings and stops it in the opposite order.
//
// A Node is one data directory opened by one process, in three parts: the store (what is kept), the crawl (what
// fetches) and the faces (what answers). Commands use the parts.
package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/crawl"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
)

// Node is an opened archive. Close it.
type Node struct {
	*store.Store
	*crawl.Crawl
	*faces.Faces
}

// Open opens the archive in cfg.Data.
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, opts store.Options) (*Node, error) {
	s, err := store.Open(ctx, cfg, log, opts)
	if err != nil {
		return nil, err
	}
	c, err := crawl.New(s)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Node{s, c, faces.New(s, c)}, nil
}

// Close closes the parts in the opposite order of opening. It may be called twice.
func (n *Node) Close() error {
	return errors.Join(n.Faces.Close(), n.Crawl.Close(), n.Store.Close())
}

// tidyEvery is how often a running server tidies the store.
const tidyEvery = time.Hour

// Background runs the jobs beside a server until ctx ends. A job that fails or panics ends neither another job nor the
// server (package supervise). The server may answer longer: Background returns when requests ends, too, and the
// continuous backup copies what is committed until then.
func (n *Node) Background(ctx, requests context.Context, crawling bool) {
	end := n.keepBackup(ctx, n.Config.Serve.ShutdownDelay+lastCommits)
	// after the other jobs and the last request, so that it copies their last commits; it has logged what it could not
	defer func() { _ = end() }()
	defer func() { <-requests.Done() }()
	var group sync.WaitGroup
	job := func(name string, work func(context.Context) error) {
		group.Go(func() { _ = n.Jobs.Run(ctx, name, work) }) // Jobs reports its failure
	}
	job("search", n.Archive.LoadSearch) // so that the first search is not slow
	if !n.DB.ReadOnly() && len(n.Config.Hooks) > 0 {
		n.startHooks(ctx)
		job("hooks", n.sendToHooks)
	}
	if !n.DB.ReadOnly() {
		job("words", n.Triples.IndexLiterals) // likewise
	}
	if !n.DB.ReadOnly() && n.Config.Evidence.SignEvery > 0 {
		job("transparency log", n.keepEvidence)
	}
	if !n.DB.ReadOnly() {
		job("withdrawals", n.KeepWithdrawn)
		job("retention", n.KeepRetained)
		job("dumps", n.KeepDumped)
	}
	if n.Workers != nil {
		job("workers", n.Workers.Run)
	}
	if n.Workers != nil && !crawling { // what only this process can do
		n.Pipeline.Pick = n.Pipeline.OwnOnly(n.Workers.Desk)
	}
	if crawling || n.Workers != nil {
		job("crawling", func(ctx context.Context) error {
			if err := n.Replan(ctx); err != nil {
				return err
			}
			_, err := n.Run(ctx, crawler.RunOptions{})
			return err
		})
		job("campaigns", n.KeepCampaigns)
		job("scope", n.KeepScoped)
		job("harvests", n.KeepHarvested)
		job("streams", n.FollowStreams)
		job("tidying", n.keepTidy)
		job("quality", n.MeasureInBackground)
	} else if !n.DB.ReadOnly() {
		group.Go(func() { n.Pipeline.KeepJoined(ctx) }) // versions that an earlier crawl has left
		group.Go(func() { n.Pipeline.KeepIndexed(ctx) })
	}
	if rate := n.ScrubRate(); rate > 0 {
		for _, part := range n.ScrubbedParts() {
			job("scrub of the "+part.Name, func(ctx context.Context) error { return part.Scrub(ctx, rate) })
		}
	}
	group.Wait()
}

// Tidy tidies the store, and drops old reports of harvests that changed nothing. A failure is logged: the next call
// tries again.
func (n *Node) Tidy(ctx context.Context) {
	n.Store.Tidy(ctx)
	dropped, err := n.Ledger.Forget(ctx, n.Store.Clock().Add(-n.Store.Config.KeepVisits))
	if err != nil && ctx.Err() == nil {
		n.Store.Log.Warn("old reports of harvests not dropped", "error", err)
	} else if dropped > 0 {
		n.Store.Log.Info("old reports of harvests dropped", "reports", dropped)
	}
}

// keepTidy tidies the store every tidyEvery until ctx ends.
func (n *Node) keepTidy(ctx context.Context) error {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.Tidy(ctx)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
