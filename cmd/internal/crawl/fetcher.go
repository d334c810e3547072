package crawl

import (
	"net"
	"strings"

	"odarchive/cmd/internal/config"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/names"
	"odarchive/crawler/web/spool"
)

// newFetcher returns the fetcher of the settings, and its resolver.
func (c *Crawl) newFetcher() (*fetch.Fetcher, fetch.Resolver, error) {
	options, resolver, err := fetchOptions(c.store.Config.Fetch, c.Spool)
	if err != nil {
		return nil, nil, err
	}
	options.Settings = c.Hosts.Of
	options.Nameless = func() {
		c.store.Log.Warn(
			"no --contact is set: owners of the hosts that are visited cannot reach you; --contact you@example.org is sent with each " +
				"request")
	}
	if c.Tape != nil {
		options.Tape = c.Tape
	}
	return fetch.New(options), resolver, nil
}

// fetchOptions returns the options of a fetcher by the settings, and its resolver: that which --resolver names, or the
// system's, behind a cache.
func fetchOptions(settings config.Fetch, bodies *spool.Spool) (options fetch.Options, resolver fetch.Resolver, err error) {
	nets, err := settings.Networks()
	if err != nil {
		return options, nil, err
	}
	options = fetch.Options{
		Spool: bodies, UserAgent: userAgent(settings.UserAgent), Contact: settings.Contact, MaxBody: int64(settings.MaxBody),
		AllowPrivateHosts: settings.AllowPrivateHosts, AllowNets: nets, UnverifiedHosts: settings.UnverifiedHosts,
		Bandwidth: float64(settings.Bandwidth),
	}
	server, err := settings.NameServer()
	if err != nil {
		return options, nil, err
	}
	var system names.Resolver = net.DefaultResolver
	if server != "" {
		system = names.NewServer(server)
	}
	options.Resolver = names.NewCache(system, names.Options{})
	return options, options.Resolver, nil
}

// userAgent returns the product token with a version.
func userAgent(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return name + "/1.0"
}
