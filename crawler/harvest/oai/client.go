package oai

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/portalapi"
)

// trouble is a wrong answer of the repository. The code that reads lists decides what to do about it.
type trouble struct {
	kind string // "http", "network", "xml", "html", "no-oai", "loop", "expired", or a code of the protocol: "badResumptionToken"
	err  error
}

func (t *trouble) Error() string { return t.err.Error() }
func (t *trouble) Unwrap() error { return t.err }

func troublef(kind, layout string, a ...any) *trouble {
	return &trouble{kind, fmt.Errorf(layout, a...)}
}

// client sends requests of the protocol to one repository.
type client struct {
	base  string // without the arguments of a request
	doer  harvest.Doer
	stats *harvest.Traffic
	tries int
}

// ask sends one request. An error that is a *trouble concerns the repository, any other the caller. Errors of the
// protocol are in the page, whatever the status of the answer.
func (c *client) ask(ctx context.Context, args url.Values, emit func(record) error) (page, error) {
	address := portalapi.WithQuery(c.base, args)
	answer, err := harvest.Ask(ctx, c.stats.Over(c.doer),
		harvest.Request{URL: address, Accept: "text/xml, application/xml;q=0.9, */*;q=0.1", Tries: c.tries})
	if ctx.Err() != nil {
		return page{}, ctx.Err()
	}
	if err != nil {
		var status *harvest.StatusError
		if errors.As(err, &status) {
			if p, _ := parse(status.Body, emit); len(p.Errors) > 0 { // an error of the protocol with a status other than 200
				return p, nil
			}
			return page{}, &trouble{"http", err}
		}
		return page{}, &trouble{"network", err}
	}
	c.moved(address, answer.URL)
	p, err := parse(answer.Body, emit)
	var mine sinkError
	switch {
	case errors.As(err, &mine):
		return p, mine.error
	case errors.Is(err, errNoOAI) && harvest.LooksLikeHTML(answer.Body):
		return p, troublef("html", "%s answered with a page of HTML, not with OAI-PMH", address)
	case errors.Is(err, errNoOAI):
		return p, troublef("no-oai", "%s answered with something that is not OAI-PMH", address)
	case err != nil:
		return p, &trouble{"xml", fmt.Errorf("%s: %w", address, err)}
	}
	return p, nil
}

// moved follows a redirect of the base URL, so that later requests need none.
func (c *client) moved(asked, answered string) {
	if asked == answered {
		return
	}
	_, query, _ := strings.Cut(asked, "?")
	if base, same := strings.CutSuffix(answered, query); same {
		c.base = strings.TrimRight(base, "?&")
	}
}

// repository returns the base URL of an address, without the arguments of a request.
func repository(address string) (string, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("oai: %q is not the address of a repository", address)
	}
	q := u.Query()
	for _, arg := range []string{"verb", "metadataPrefix", "set", "from", "until", "resumptionToken", "identifier"} {
		q.Del(arg)
	}
	u.RawQuery, u.Fragment = q.Encode(), ""
	return u.String(), nil
}
