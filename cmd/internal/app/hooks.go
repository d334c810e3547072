package app

import (
	"context"
	"sync"
	"time"

	"odarchive/crawler/archive/hooks"
)

// hooks returns the sender to the hooks of the settings.
func (n *Node) hooks() (*hooks.Sender, error) {
	list, secret, err := n.Config.ParseHooks()
	if err != nil {
		return nil, err
	}
	return hooks.New(hooks.Options{
		Log: n.Archive, Client: n.Fetcher.Client(), UserAgent: n.Fetcher.UserAgent(), Mint: n.Mint, Hooks: list, Secret: secret,
		Logger: n.Log,
	}), nil
}

// sendToHooks sends what changes to the hooks until ctx ends.
func (n *Node) sendToHooks(ctx context.Context) error {
	sender, err := n.hooks()
	if err != nil {
		return err
	}
	return sender.Run(ctx, false)
}

// startHooks makes new hooks begin with the next event.
func (n *Node) startHooks(ctx context.Context) {
	sender, err := n.hooks()
	if err == nil {
		err = sender.Begin(ctx)
	}
	if err != nil {
		n.Log.Error("hooks cannot begin", "error", err)
	}
}

// endOfHooks is how long a crawl that has ended waits for hooks. What they have not taken then, they get the next time.
const endOfHooks = 20 * time.Second

// BeginHooks sends what changes to the hooks while a crawl runs. The caller calls end after the crawl, which sends what
// is left.
func (n *Node) BeginHooks(ctx context.Context) (end func(), err error) {
	if len(n.Config.Hooks) == 0 || n.DB.ReadOnly() {
		return func() {}, nil
	}
	sender, err := n.hooks()
	if err != nil {
		return nil, err
	}
	if err := sender.Begin(ctx); err != nil {
		return nil, err
	}
	during, stop := context.WithCancel(ctx)
	var sending sync.WaitGroup
	sending.Go(func() { _ = n.Jobs.Run(during, "hooks", n.sendToHooks) }) // Jobs reports its failure
	return func() {
		stop()
		sending.Wait()
		last, cancel := context.WithTimeout(ctx, endOfHooks)
		defer cancel()
		if err := sender.Run(last, true); err != nil && ctx.Err() == nil {
			n.Log.Error("hooks were not told of everything, and will be the next time", "error", err)
		}
	}, nil
}
