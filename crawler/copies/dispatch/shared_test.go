package dispatch

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"odarchive/crawler/web/politeness"
)

// oneAddress resolves all names but other.example to the same address.
type oneAddress struct{}

func (oneAddress) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	switch name {
	case "":
		return nil, errors.New("no name")
	case "other.example":
		return []netip.Addr{netip.MustParseAddr("192.0.2.2")}, nil
	}
	return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
}

// TestHostsOfOneAddressOrDomainAreAskedByOneWorkerAtATime is about --per-address and --per-domain.
func TestHostsOfOneAddressOrDomainAreAskedByOneWorkerAtATime(t *testing.T) {
	for name, options := range map[string]politeness.Options{
		"address": {Delay: -1, PerAddress: true, Resolver: oneAddress{}},
		"domain":  {Delay: -1, PerDomain: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, time.Minute, "http://www.city.example/a", "http://data.city.example/b", "http://other.example/c")
			gate := politeness.New(options)
			b.Desk.o.Gate = gate
			held := map[string]*Grant{}
			for range 3 {
				for _, worker := range []string{"w1", "w2"} {
					if g := b.grant(t, worker); g != nil {
						held[g.Group] = g
					}
				}
			}
			if len(held) != 2 || held["other.example"] == nil {
				t.Fatalf("leased are %v, expected other.example and one of the city's hosts", held)
			}
			first, second := "www.city.example", "data.city.example"
			if held[first] == nil {
				first, second = second, first
			}
			// The city's other host is the target of a redirect. Whoever has the first one cannot wait for it.
			if got := b.Borrow(t.Context(), Borrow{Version: Version, Worker: "w1", Host: second, For: held[first].Ref}); !got.Own {
				t.Errorf("for a visit of %s: %+v, expected that the writer visits it", first, got)
			}
			if got := b.Borrow(t.Context(),
				Borrow{Version: Version, Worker: "w1", Host: second, For: held["other.example"].Ref}); got.Own || got.Grant != nil ||
				got.Wait <= 0 {
				t.Errorf("for a visit of another host: %+v, expected to wait", got)
			}
			if got := b.Borrow(t.Context(),
				Borrow{Version: Version, Worker: "w1", Host: "third.example.net", For: held["other.example"].Ref}); name == "domain" &&
				got.Grant == nil {
				t.Errorf("a host of another domain: %+v", got)
			}
		})
	}
}
