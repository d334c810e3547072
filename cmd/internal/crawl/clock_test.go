package crawl

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

func TestAClockThatIsSetWhileAServerCrawlsStarvesNothing(t *testing.T) {
	t.Parallel()
	const urls, ahead = 60, 2 * 365 * 24 * time.Hour
	var offset atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
	var log bytes.Buffer
	cfg := config.Defaults()
	cfg.Data = t.TempDir()
	s, err := store.Open(t.Context(), cfg, slog.New(slog.NewTextHandler(&log, nil)), store.Options{Create: true, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}()
	began := time.Now()
	watch := watchClock(s.Clock, func() time.Duration { return time.Since(began) })
	var seeds []catalog.Seed
	for i := range urls {
		seeds = append(seeds, catalog.Seed{URL: fmt.Sprintf("http://h%d.example/%d.csv", i%7, i)})
	}
	if _, err := c.Intake.Add(t.Context(), seeds); err != nil {
		t.Fatal(err)
	}
	check := func(says string) {
		t.Helper()
		log.Reset()
		if err := c.checkClock(t.Context(), watch); err != nil {
			t.Fatal(err)
		}
		if said := log.String(); (says == "") != (said == "") || !strings.Contains(said, says) {
			t.Errorf("the log says %q; want %q", said, says)
		}
		latest := clock().Add(cfg.Fetch.MaxInterval + time.Minute)
		err := c.Frontier.Each(frontier.Filter{}, "", 0, func(u *frontier.URL) error {
			if u.Due.After(latest) {
				return fmt.Errorf("%s is due at %v", u.URL, u.Due)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if report, err := c.Frontier.Check(t.Context(), false); err != nil || report.Found > 0 {
			t.Errorf("check: %+v, %v", report, err)
		}
	}
	check("")
	offset.Store(int64(ahead))
	check("set forward")
	visit := func() (n int) {
		for {
			lease, err := c.Frontier.TryLease(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if lease == nil {
				return n
			}
			err = s.DB.Update(t.Context(), func(txn *kv.Txn) error {
				for job, ok := lease.Next(); ok; job, ok = lease.Next() {
					n++
					r := frontier.Result{Visit: schedule.Visit{At: clock(), Outcome: catalog.Archived},
						NextDue: clock().Add(time.Duration(n) * time.Hour)}
					if err := c.Frontier.Done(txn, lease, job, r); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := visit(); n != urls {
		t.Fatalf("%d visits while the clock is ahead, want %d", n, urls)
	}
	offset.Store(0)
	check("set back")
	check("")
	offset.Store(int64(cfg.Fetch.MaxInterval + time.Hour))
	if n := visit(); n != urls {
		t.Errorf("%d visits within --max-interval of the right time, want %d", n, urls)
	}
	offset.Store(int64(ahead)) // ahead between two looks at the clock
	visit()
	offset.Store(int64(cfg.Fetch.MaxInterval + time.Hour))
	check("set forward")
	if !strings.Contains(log.String(), "rescheduled") {
		t.Errorf("the log says %q; want that URLs are rescheduled", log.String())
	}
}
