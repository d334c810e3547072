package crawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler/exchange/preserve"
	"odarchive/crawler/queue/retention"
)

// versioned adds versions to a file of an archive, a day apart, with these bytes.
func versioned(t *testing.T, c *Crawl, url string, texts ...string) {
	t.Helper()
	to := c.Preserved()
	err := to.Begin(t.Context(), preserve.Object{URL: url})
	for i, text := range texts {
		at := time.Date(2024, 1, 1+i, 12, 0, 0, 0, time.UTC)
		err = errors.Join(err,
			to.Version(t.Context(), preserve.Version{URL: url, N: i, Time: at, Size: int64(len(text))}, strings.NewReader(text)))
	}
	if err := errors.Join(err, to.End(t.Context()), to.Close(t.Context())); err != nil || to.Count.Versions != len(texts) {
		t.Fatalf("%s: %+v, %v", url, to.Count, err)
	}
}

// longText returns text of some KB that compresses badly.
func longText(of string) string {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "%s %x\n", of, uint64(i+1)*uint64(len(of)+1)*0x9E3779B97F4A7C15)
	}
	return b.String()
}

func retaining(t *testing.T, rules ...retention.Rule) *Crawl {
	t.Helper()
	checked, err := retention.Check(rules)
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Defaults()
	cfg.Data, cfg.Retention.Rules = t.TempDir(), checked
	s, err := store.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestVersionsThatMustStayHideNoneThatGo(t *testing.T) {
	t.Parallel()
	c := retaining(t, retention.Rule{Match: "pattern:/shared", Keep: "last 1"}, retention.Rule{Match: "pattern:/copied", Keep: "last 1"})
	const most = 3
	for i := range 3 * most { // what another file keeps has the bytes of each first version
		text := longText(fmt.Sprint("shared", i))
		versioned(t, c, fmt.Sprintf("http://data.example/kept/%d.txt", i), text)
		versioned(t, c, fmt.Sprintf("http://data.example/shared/%d.txt", i), text, longText(fmt.Sprint("second", i)))
	}
	for i := range 2 * most { // two files with the same versions, for which different rules are
		first, second := longText(fmt.Sprint("copied", i)), longText(fmt.Sprint("other", i))
		versioned(t, c, fmt.Sprintf("http://data.example/copied/%d.txt", i), first, second)
		versioned(t, c, fmt.Sprintf("http://data.example/shared/copied%d.txt", i), first, second)
	}
	versions := 0
	for more, round := true, 0; more; round++ {
		plan, err := c.applyRetention(t.Context(), most)
		if err != nil || round > 4*most {
			t.Fatalf("round %d: %v", round, err)
		}
		taken := 0
		for _, r := range plan.Rules {
			taken += r.Versions
		}
		if plan.More && taken == 0 || taken > 0 && plan.Freed == 0 {
			t.Fatalf("round %d: %d versions, %d bytes freed, more: %t", round, taken, plan.Freed, plan.More)
		}
		versions += taken
		more = plan.More
	}
	if versions != 4*most {
		t.Errorf("%d versions went, want %d", versions, 4*most)
	}
	plan, err := c.PlanRetention(t.Context())
	if err != nil || plan.Rules[0].Versions+plan.Rules[1].Versions != 0 || plan.Rules[0].Shared != 3*most || plan.Freed != 0 {
		t.Errorf("afterwards %+v, %v", plan, err)
	}
	if _, err := c.PurgeWithdrawn(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestAServerFollowsChangedRulesOfRetention(t *testing.T) {
	t.Parallel()
	c := retaining(t, retention.Rule{Keep: "all"})
	versioned(t, c, "http://data.example/a.txt", longText("first"), longText("second"))
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.KeepRetained(ctx) }()
	rules, err := retention.Check([]retention.Rule{{Keep: "last 1"}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // also before the one before was seen
		c.ReloadRetention(config.Retention{Rules: rules, At: "03:30"})
	}
	plan, err := c.PlanRetention(t.Context())
	if err != nil || plan.Rules[0].Versions != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
