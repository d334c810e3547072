package hooks

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/archive/events"
	"odarchive/crawler/catalog"
)

// Hook is an address to which events are sent. Parse makes one.
type Hook struct {
	URL    string
	Select catalog.EventQuery // events to send; Before and Limit have no effect

	name string // of the hook's mark in the log
}

// selectors returns the parameters that may select events; feeds have the same.
func selectors() []string { return []string{"url", "dataset", "portal", "q", "kind"} }

// Parse parses a hook: an http or https address, optionally followed by a space and the query string of a feed, such as
// "https://example.org/in portal=http://data.example/&kind=schema,gone".
func Parse(text string) (h Hook, err error) {
	address, selection, _ := strings.Cut(strings.TrimSpace(text), " ")
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return h, errors.New("expected an http or https address, and after a space what a feed selects, such as kind=schema,gone")
	}
	q, err := url.ParseQuery(strings.TrimSpace(selection))
	if err != nil {
		return h, fmt.Errorf("the selection %q is not a query string: %w", selection, err)
	}
	about := 0
	for name, values := range q {
		if !slices.Contains(selectors(), name) {
			return h, fmt.Errorf("a hook cannot select by %q: expected %s", name, strings.Join(selectors(), ", "))
		}
		if name != "kind" && strings.Join(values, "") != "" {
			about++
		}
	}
	if about > 1 {
		return h, errors.New("a hook is about one of url, dataset, portal and q")
	}
	h.URL = address
	h.Select = catalog.EventQuery{URL: q.Get("url"), Dataset: q.Get("dataset"), Portal: q.Get("portal"), Text: q.Get("q"),
		Kinds: strings.Join(q["kind"], ",")}
	if _, err := events.ParseKinds(h.Select.Kinds); err != nil {
		return h, err
	}
	sum := sha256.Sum256([]byte(address + " " + q.Encode()))
	h.name = "hook " + hex.EncodeToString(sum[:12])
	return h, nil
}

// host returns the host of the address for logs. The rest of the address may contain secrets.
func (h Hook) host() string {
	u, err := url.Parse(h.URL)
	if err != nil { // not possible after Parse
		return ""
	}
	return u.Host
}

// ParseSecret parses the secret for signatures: "whsec_" followed by base64, as Standard Webhooks writes it, or any
// other text of at least minSecret bytes.
func ParseSecret(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if encoded, ok := strings.CutPrefix(text, "whsec_"); ok {
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, errors.New("the secret is not base64 after whsec_")
		}
		text = string(key)
	}
	if len(text) < minSecret {
		return nil, fmt.Errorf("the secret is shorter than %d bytes", minSecret)
	}
	return []byte(text), nil
}

const minSecret = 16 // bytes
