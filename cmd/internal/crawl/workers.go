package crawl

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/crawler"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/frontier"
)

// loadOutstanding finds out whether workers that an earlier process had may still ask hosts. They may until the leases
// that it can have granted have ended: it granted the last one before this process began. Who only reads asks no hosts.
func (c *Crawl) loadOutstanding() error {
	if c.store.DB.ReadOnly() {
		return nil
	}
	o, ok, err := frontier.Marked(c.store.DB)
	if err != nil || !ok {
		return err
	}
	c.rests = time.Now()
	if !o.Returned {
		c.rests = c.rests.Add(o.Lease)
		c.store.Log.Info("hosts are left alone until the leases of workers of an earlier process have ended", "until", c.rests)
	}
	return nil
}

// outstanding returns why nobody may ask hosts yet; "" if they may.
func (c *Crawl) outstanding() string {
	if time.Now().Before(c.rests) {
		return "leases of workers of an earlier process end at " + c.rests.UTC().Format(time.TimeOnly)
	}
	return ""
}

// forgetOutstanding notes that the leases of an earlier process have ended, for a process that granted none.
func (c *Crawl) forgetOutstanding() error {
	if c.Workers != nil || c.rests.IsZero() || c.outstanding() != "" || c.store.DB.ReadOnly() || c.store.DB.WritesStopped() != nil ||
		c.Frontier == nil {
		return nil
	}
	o, ok, err := frontier.Marked(c.store.DB)
	if err != nil || !ok || o.Returned {
		return err
	}
	o.Returned = true
	return c.Frontier.Mark(context.Background(), o)
}

// openWorkers prepares to serve workers, if the settings say so.
func (c *Crawl) openWorkers() error {
	set := c.store.Config.Workers
	if set.NATS == "" || c.store.DB.ReadOnly() {
		return nil
	}
	o := dispatch.WriterOptions{Bucket: c.store.Bucket, DeskOptions: dispatch.DeskOptions{
		Frontier: c.Frontier, Gate: c.Gate, Lease: set.Lease, Now: c.store.Clock, Log: c.store.Log,
		Office: &crawler.Office{Pipeline: c.Pipeline, Spool: c.Spool, Welcome: c.welcome},
	}}
	if set.NATS == config.Embedded {
		server, err := set.Server()
		if err != nil {
			return err
		}
		server.Dir = filepath.Join(c.store.Config.Data, "nats")
		o.Embedded = &server
	} else {
		var err error
		if o.Address, err = dispatch.ParseAddress(set.NATS); err != nil {
			return fmt.Errorf("--nats: %w", err)
		}
		if o.Credentials, err = set.Credentials(); err != nil {
			return err
		}
	}
	c.Workers = dispatch.NewWriter(o)
	c.Pipeline.Elsewhere = func() crawler.Workers {
		return crawler.Workers{Served: c.Workers.Connected(), Status: c.Workers.Desk.Status()}
	}
	return nil
}

// maxScopeRules is how many rules of the scope workers can be told. With more, this process visits everything itself.
const maxScopeRules = 2000

// welcomes caches the settings for workers until the rules of the scope change.
type welcomes struct {
	mu   sync.Mutex // guards what follows
	of   string     // fingerprint of the scope
	said dispatch.Welcome
}

// welcome returns the settings for workers.
func (c *Crawl) welcome() dispatch.Welcome {
	c.said.mu.Lock()
	defer c.said.mu.Unlock()
	now := c.Scope.Fingerprint()
	if c.said.of == now {
		return c.said.said
	}
	s := c.store.Config.Fetch
	w := dispatch.Welcome{
		Archive: c.store.Mint.Base, UserAgent: s.UserAgent, Contact: s.Contact, MaxBody: int64(s.MaxBody), Honour: s.Honour,
	}
	rules, next, err := c.Scope.List("", maxScopeRules)
	if err != nil {
		c.store.Log.Warn("workers cannot be told the scope", "error", err)
		return w // without a revision, they get nothing to do
	}
	if w.TooMany = next != ""; !w.TooMany {
		for _, r := range rules {
			if r.Action == "allow" {
				w.ScopeAllow = append(w.ScopeAllow, r.Rule)
			} else {
				w.ScopeDeny = append(w.ScopeDeny, r.Rule)
			}
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", w))
	w.Rev = hex.EncodeToString(sum[:8])
	c.said.of, c.said.said = now, w
	return w
}
