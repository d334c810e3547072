package app

import (
	"context"
	"net/http"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/fingerprint"
	"odarchive/crawler/web/politeness"
)

// Recognised is the kind of source that is recognised before it is harvested.
const Recognised = "auto"

// Recognise the software of the portal at an address, through the crawler's gate.
func (n *Node) Recognise(ctx context.Context, address string) (fingerprint.Finding, error) {
	return fingerprint.Recognise(ctx, n.politely(), address)
}

// politely makes requests that wait for the host's turn and heed its robots.txt.
func (n *Node) politely() harvest.Doer {
	return &http.Client{Transport: &politeness.Transport{Gate: n.Gate, Base: n.Fetcher.Client().Transport, UserAgent: n.Fetcher.UserAgent()}}
}
