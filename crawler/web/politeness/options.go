package politeness

import (
	"context"
	"log/slog"
	"time"

	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/hosts"
	"odarchive/triplestore/kv"
)

// Options of a Gate. Fetch is required for robots.txt; the other fields have defaults.
type Options struct {
	DB    *kv.DB // stores robots.txt and back-offs; nil keeps them in memory only
	Fetch func(ctx context.Context, r fetch.Request) (*fetch.Exchange, error)
	Token string        // the crawler's product token in robots.txt; default "odarchive"
	Delay time.Duration // minimum pause between two requests to a host; default 1 s, negative for none
	// Settings, if not nil, returns what an operator has set for a host, which replaces Delay. It is called for every
	// request, and may return other values each time.
	Settings func(host string) hosts.Settings
	Files    func(host string) int // known files of a host, for limits that are a share of them; nil for none
	// Patience is how long Enter waits for a host at most. For a longer wait, it returns a *Wait. Default 30 s,
	// negative for none.
	Patience time.Duration
	MaxWait  time.Duration // the longest back-off; default 24 h

	PerAddress bool // admit one passage per network address too; needs Resolver
	PerDomain  bool // admit one passage per registered domain too
	Resolver   fetch.Resolver

	// Borrow, if not nil, is called before a host is entered, since another process decides who may ask it. It waits
	// for at most patience, and its error is then a *Wait. giveBack is called once, with the result of the passage.
	Borrow func(ctx context.Context, host string, patience time.Duration) (giveBack func(Result), err error)
	// Fetched, if not nil, is called with each robots.txt that was fetched.
	Fetched func(RobotsCopy)

	RobotsCache int // number of robots.txt in memory; default 4096
	Log         *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Token == "" {
		o.Token = "odarchive"
	}
	switch {
	case o.Delay == 0:
		o.Delay = time.Second
	case o.Delay < 0:
		o.Delay = 0
	}
	switch {
	case o.Patience == 0:
		o.Patience = 30 * time.Second
	case o.Patience < 0:
		o.Patience = 0
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 24 * time.Hour
	}
	if o.Settings == nil {
		all := hosts.Settings{Delay: o.Delay, Parallel: 1, MaxCrawlDelay: o.MaxWait}
		o.Settings = func(string) hosts.Settings { return all }
	}
	if o.RobotsCache <= 0 {
		o.RobotsCache = 4096
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
