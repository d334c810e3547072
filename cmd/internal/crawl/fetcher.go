package crawl

import (
	"net"
	"strings"

	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/names"
)

// newFetcher returns the fetcher of the settings, and its resolver: that which --resolver names, or the system's, behind a
// cache.
func (c *Crawl) newFetcher() (*fetch.Fetcher, fetch.Resolver, error) {
	settings := c.store.Config.Fetch
	nets, err := settings.Networks()
	if err != nil {
		return nil, nil, err
	}
	options := fetch.Options{
		Spool: c.Spool, UserAgent: userAgent(settings.UserAgent), Contact: settings.Contact, MaxBody: int64(settings.MaxBody),
		AllowPrivateHosts: settings.AllowPrivateHosts, AllowNets: nets, UnverifiedHosts: settings.UnverifiedHosts,
		Bandwidth: float64(settings.Bandwidth), Settings: c.Hosts.Of,
	}
	if c.Tape != nil {
		options.Tape = c.Tape
	}
	server, err := settings.NameServer()
	if err != nil {
		return nil, nil, err
	}
	var resolver names.Resolver = net.DefaultResolver
	if server != "" {
		resolver = names.NewServer(server)
	}
	options.Resolver = names.NewCache(resolver, names.Options{})
	return fetch.New(options), options.Resolver, nil
}

// userAgent returns the product token with a version.
func userAgent(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	return name + "/1.0"
}
