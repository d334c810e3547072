package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"

	"odarchive/cmd/internal/app"
	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/crawler/web/hosts"
)

// An archive of the demo knows the hosts of the sample web by name, city.example for one: its settings of hosts say
// where they are. Whoever fetches for such an archive serves them, so that it lives on after the demo has ended.

// sampleNote tells people what a sample host is.
const sampleNote = "a host of the sample web, which the program serves itself"

// sampleDelay is the pause between two requests to a sample host.
const sampleDelay = "100ms"

// sampleHosts are the running sample web, with a SPARQL endpoint that lists its files.
type sampleHosts struct {
	*sampleweb.Web
	endpoint *faces.Endpoint
	briefly  string // what is listed only until withdraw
}

// startSample starts the sample web. fresh lists a dataset that withdraw withdraws.
func (c *cli) startSample(ctx context.Context, opts sampleweb.Options, fresh bool) (*sampleHosts, error) {
	endpoint, err := faces.NewEndpoint(c.log)
	if err != nil {
		return nil, err
	}
	opts.Named, opts.Handlers = true, endpoint.Handlers()
	web, err := sampleweb.Start(opts)
	if err != nil {
		return nil, errors.Join(err, endpoint.Close())
	}
	s := &sampleHosts{Web: web, endpoint: endpoint}
	if err := s.list(ctx, fresh); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// list fills the endpoint.
func (s *sampleHosts) list(ctx context.Context, fresh bool) error {
	catalog, err := s.Catalog()
	if err != nil {
		return err
	}
	stays, briefly, err := s.More()
	if err != nil {
		return err
	}
	all := []string{catalog, stays}
	if fresh {
		s.briefly = briefly
		all = append(all, briefly)
	}
	for _, text := range all {
		if err := s.endpoint.Load(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// withdraw makes a portal withdraw one of its datasets.
func (s *sampleHosts) withdraw(ctx context.Context) error { return s.endpoint.Remove(ctx, s.briefly) }

func (s *sampleHosts) close() error {
	s.Web.Close()
	return s.endpoint.Close()
}

// keyPlaces is the setting of an archive of the demo that has where the sample hosts were last, by name, as JSON.
const keyPlaces = "demo/places"

// keep makes the archive remember where the sample hosts are. What an operator has set for them stays.
func (s *sampleHosts) keep(ctx context.Context, n *app.Node) error {
	before, err := samplePlaces(n)
	if err != nil {
		return err
	}
	rules := map[string]hosts.Rule{}
	for _, r := range n.HostRules() {
		if r.From == hosts.FromOrder {
			rules[r.Match] = r.Rule
		}
	}
	now := map[string]string{}
	for _, host := range sampleweb.All() {
		now[host] = s.At(host)
		values, rule := map[string]string{}, rules[sampleweb.Name(host)]
		if own := rule.Resolve == nil || rule.Resolve.String() == before[host]; own &&
			(rule.Resolve == nil || rule.Resolve.String() != now[host]) {
			values["resolve"] = now[host]
		}
		if before == nil && rule.Delay == nil {
			values["delay"] = sampleDelay
		}
		if before == nil && rule.Note == "" {
			values["note"] = sampleNote
		}
		if len(values) == 0 {
			continue
		}
		if _, err := n.SetHosts(ctx, sampleweb.Name(host), values); err != nil {
			return fmt.Errorf("sample web: %w", err)
		}
	}
	if maps.Equal(before, now) {
		return nil
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return n.SetSetting(ctx, keyPlaces, string(text))
}

// samplePlaces returns where the hosts of the sample web were last for an archive of the demo, by the names that the
// sample web has for them; nil for any other archive.
func samplePlaces(n *app.Node) (at map[string]string, err error) {
	text, err := n.Setting(keyPlaces)
	if err != nil || text == nil {
		return nil, err
	}
	return at, json.Unmarshal(text, &at)
}

// serveSample serves the sample hosts until stop, with the last state of each file, if a command may fetch for an
// archive of the demo.
func (c *cli) serveSample(ctx context.Context, n *app.Node) (stop func() error, err error) {
	nothing := func() error { return nil }
	if !c.fetches || n.ReadOnlyReason != "" {
		return nothing, nil
	}
	at, err := samplePlaces(n)
	if err != nil || at == nil {
		return nothing, err
	}
	web, err := c.startSample(ctx, sampleweb.Options{State: func() int { return math.MaxInt }, At: at}, false)
	if err != nil {
		return nothing, err
	}
	if err := web.keep(ctx, n); err != nil {
		return nothing, errors.Join(err, web.close())
	}
	return web.close, nil
}
