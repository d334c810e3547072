package crawl

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

func TestAPlanMovesTheQueueWithThePriceOfAFetch(t *testing.T) {
	t.Parallel()
	cfg := config.Defaults()
	cfg.Data, cfg.Fetch.Round = t.TempDir(), 12*time.Hour // more fetches than a week's round has
	open := func() (*store.Store, *Crawl) {
		s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		c, err := New(s)
		if err != nil {
			t.Fatal(err)
		}
		return s, c
	}
	s, n := open()
	const urls = 600
	var seeds []catalog.Seed
	for i := range urls {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d.csv", i%7, i)})
	}
	if _, err := n.Intake.Add(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	before := map[string]time.Time{}
	for visited := 0; visited < urls; {
		lease, err := n.Frontier.TryLease(t.Context())
		if err != nil || lease == nil {
			t.Fatalf("after %d visits: %v, %v", visited, lease, err)
		}
		err = s.DB.Update(t.Context(), func(txn *kv.Txn) error {
			for job, ok := lease.Next(); ok; job, ok = lease.Next() {
				seen := schedule.Visit{At: s.Clock(), Outcome: catalog.Archived, Changed: true}
				next, why := n.Pipeline.Schedule.Next(job.Key, 0, []schedule.Visit{seen}, s.Clock())
				if err := n.Frontier.Done(txn, lease, job, frontier.Result{Visit: seen, NextDue: next, Why: why}); err != nil {
					return err
				}
				before[job.Key] = next
				visited++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	rule := n.Pipeline.Schedule.(*schedule.AdaptiveRule)
	if err := n.plan(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	sooner := 0
	err := n.Frontier.Each(frontier.Filter{}, "", 0, func(u *frontier.URL) error {
		if u.Due.Before(before[u.Key].Add(-time.Minute)) {
			sooner++
		}
		return nil
	})
	if err != nil || rule.Price() >= schedule.DefaultPrice || sooner < urls*9/10 {
		t.Errorf("%d of %d URLs are due sooner at a price of %v, %v; want nearly all", sooner, urls, rule.Price(), err)
	}
	if err := errors.Join(n.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	s, again := open()
	if got := again.Pipeline.Schedule.(*schedule.AdaptiveRule).Price(); (got - rule.Price()).Abs() > time.Second {
		t.Errorf("another process goes on at a price of %v, want %v", got, rule.Price())
	}
	if err := errors.Join(again.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
}
