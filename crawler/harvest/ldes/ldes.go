// Package ldes harvests Linked Data Event Streams (https://w3id.org/ldes/specification), such as other archives and the
// catalogs of Europe's data spaces publish.
//
// A stream is a tree or a chain of pages (TREE), whose members are versions of things. A version of a dataset in DCAT
// becomes that dataset; a version of anything else that has a download URL, a media type or a size becomes a seed: the
// address of which it is a version. Of several versions of one thing the latest counts. A member of the class as:Delete
// withdraws its dataset.
//
// A page that its host calls immutable is read once, ever: the mark of a harvest has the pages that were read, and
// those from which to go on. Other pages are read again, unless they have no relations and have not changed. Pages on
// another host than the first one are not read.
package ldes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/dcat"
	"odarchive/vocab"
)

// Source is one stream.
type Source struct {
	URL    string // of the root of a view, or of any of its pages
	Portal string // IRI of the portal; "" means the stream's
	HTTP   harvest.Doer
}

var _ harvest.Harvester = Source{}

// Bounds of one harvest and of its mark.
const (
	maxPages  = 100_000
	maxThings = 2_000_000 // things whose latest version is remembered
	maxRead   = 30_000    // pages that a mark remembers; older ones would be read again
	maxOpen   = 2_000     // pages from which a mark goes on
	maxURL    = 4 << 10
	markEvery = 25 // pages
	asDelete  = "https://www.w3.org/ns/activitystreams#Delete"
)

// mark is where a harvest goes on.
type mark struct {
	Portal string            `json:"p"`
	Read   string            `json:"r,omitempty"` // hashes of immutable pages that were read, 8 bytes each, in base64
	Open   []string          `json:"o,omitempty"` // pages that are still to be read
	Tags   map[string]string `json:"t,omitempty"` // of changing pages without relations
}

// Harvest implements harvest.Harvester.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	root, err := url.Parse(s.URL)
	if err != nil || root.Host == "" {
		return fmt.Errorf("ldes: malformed address %q", s.URL)
	}
	h := &stream{source: s, host: root.Host, out: out, pages: dcat.NewPages(s.HTTP), portal: s.Portal, read: map[uint64]bool{},
		queued: map[string]bool{}, latest: map[string]string{}, tags: map[string]string{}}
	var before mark
	if json.Unmarshal([]byte(from), &before) == nil && before.Portal != "" {
		h.resume(before)
		if err := h.begin(); err != nil {
			return err
		}
	}
	h.add(strings.TrimSuffix(s.URL, "#"+root.Fragment))
	for _, page := range before.Open {
		h.add(page)
	}
	for n := 1; len(h.queue) > 0; n++ {
		if n > maxPages {
			return fmt.Errorf("ldes: %s has more than %d pages that were not read before", s.URL, maxPages)
		}
		next := h.queue[0]
		h.queue = h.queue[1:]
		if err := h.page(ctx, next); err != nil {
			return fmt.Errorf("ldes: %w", err)
		}
		if n%markEvery == 0 {
			if err := h.mark(out.Mark); err != nil {
				return err
			}
		}
	}
	if !h.isStream {
		return fmt.Errorf("ldes: %s is not an event stream: it has neither members nor relations to pages", s.URL)
	}
	return h.mark(func(token string) error { out.Next(token); return nil })
}

// stream is a harvest in progress.
type stream struct {
	source   Source
	host     string
	out      harvest.Sink
	pages    *dcat.Pages
	portal   string
	begun    bool
	isStream bool

	queue  []string        // pages to be read
	queued map[string]bool // pages that were added to queue
	open   []string        // changing pages that were read: the next harvest reads them, too
	order  []uint64        // hashes of immutable pages that were read, in their order
	read   map[uint64]bool // the same as a set
	tags   map[string]string
	known  map[string]string // tags of the last harvest
	latest map[string]string // time of the latest version of a thing
	path   paths
}

// resume continues from a mark.
func (h *stream) resume(m mark) {
	h.portal, h.known, h.isStream = m.Portal, m.Tags, true
	raw, err := base64.RawStdEncoding.DecodeString(m.Read)
	for ; err == nil && len(raw) >= 8; raw = raw[8:] {
		h.remember(binary.BigEndian.Uint64(raw))
	}
}

func (h *stream) remember(hash uint64) {
	if !h.read[hash] {
		h.read[hash] = true
		h.order = append(h.order, hash)
	}
}

// mark passes the state to keep.
func (h *stream) mark(keep func(string) error) error {
	m := mark{Portal: h.portal, Tags: h.tags}
	raw := []byte{}
	for _, hash := range h.order[max(0, len(h.order)-maxRead):] {
		raw = binary.BigEndian.AppendUint64(raw, hash)
	}
	m.Read = base64.RawStdEncoding.EncodeToString(raw)
	m.Open = append(slices.Clone(h.open), h.queue...)
	if len(m.Open) > maxOpen { // a mark without them would miss pages: the harvest starts again from the mark before
		return nil
	}
	token, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return keep(string(token))
}

func (h *stream) begin() error {
	h.begun = true
	return h.out.Portal(harvest.Portal{IRI: h.portal}, false)
}

// add puts a page into the queue, unless it was read or is there.
func (h *stream) add(page string) {
	if !h.queued[page] && !h.read[hashOf(page)] {
		h.queued[page] = true
		h.queue = append(h.queue, page)
	}
}

// page reads one page, hands over its members, and adds the pages that it leads to.
func (h *stream) page(ctx context.Context, address string) error {
	doc, err := h.pages.Get(ctx, address, h.known[address])
	if errors.Is(err, harvest.ErrNotModified) {
		h.tags[address] = h.known[address]
		h.open = append(h.open, address)
		return nil
	}
	if err != nil {
		return err
	}
	if doc.Ends {
		return fmt.Errorf("%w: the page may be cut off there", doc.Fault)
	}
	if doc.Fault != nil {
		h.out.Skip(doc.Fault.Error())
	}
	p := newPage(doc.Quads)
	h.path.learn(p)
	if !h.begun {
		if h.portal == "" {
			h.portal = cmp.Or(p.stream(), address)
		}
		if err := h.begin(); err != nil {
			return err
		}
	}
	relations := p.nodes()
	h.isStream = h.isStream || len(relations) > 0 || len(p.members()) > 0
	if err := h.members(p, doc.URL); err != nil {
		return err
	}
	switch {
	case doc.Immutable:
		h.remember(hashOf(address))
	case len(relations) == 0 && doc.Tag != "" && len(h.tags) < maxOpen:
		h.tags[address] = doc.Tag
		fallthrough
	default:
		h.open = append(h.open, address)
	}
	for _, next := range relations {
		u, err := url.Parse(next)
		switch {
		case err != nil || len(next) > maxURL:
			h.out.Skip("a page of " + address + " has a malformed address")
		case u.Host != h.host:
			h.out.Skip("the page " + next + " is on another host than the stream, and is not read")
		default:
			u.Fragment = ""
			h.add(u.String())
		}
	}
	return nil
}

func hashOf(page string) uint64 {
	sum := sha256.Sum256([]byte(page))
	return binary.BigEndian.Uint64(sum[:])
}

// members hands over what the members of a page are versions of.
func (h *stream) members(p *page, address string) error {
	versions := h.versions(p)
	if len(versions) == 0 {
		return nil
	}
	found := dcat.Read(p.materialized(versions), h.portal, address)
	isDataset := map[string]bool{}
	for _, d := range found.Datasets {
		isDataset[d.IRI] = true
		if err := h.out.Dataset(d); err != nil {
			return err
		}
	}
	for _, v := range versions {
		switch {
		case v.deleted:
			if err := h.out.Gone(v.thing); err != nil {
				return err
			}
		case isDataset[v.thing] || !p.isFile(v.member):
		default:
			if err := h.out.Seed(catalog.Seed{URL: v.thing, Portal: h.portal,
				MediaType: p.value(v.member, vocab.DCATMediaType)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// versions returns the members of a page that are the latest known version of their thing.
func (h *stream) versions(p *page) (list []version) {
	at := map[string]int{}
	for _, member := range p.members() {
		v := version{member: member, thing: cmp.Or(p.value(member, h.path.versionOf...), member.Value()),
			time: p.value(member, h.path.timestamp...), deleted: p.isA(member, asDelete)}
		if latest, known := h.latest[v.thing]; known && v.time < latest {
			continue
		}
		if i, known := at[v.thing]; known {
			list[i] = v
		} else {
			at[v.thing] = len(list)
			list = append(list, v)
		}
		if len(h.latest) < maxThings {
			h.latest[v.thing] = v.time
		}
	}
	return list
}

// paths are the predicates that lead from a version to its thing and to its time.
type paths struct{ versionOf, timestamp []string }

// learn reads the paths that a stream declares.
func (s *paths) learn(p *page) {
	if s.versionOf == nil {
		s.versionOf, s.timestamp = []string{vocab.DCTIsVersionOf}, []string{vocab.DCTIssued, vocab.DCTModified, vocab.DCTCreated}
	}
	of, at := p.paths()
	if of != "" {
		s.versionOf = []string{of}
	}
	if at != "" {
		s.timestamp = []string{at}
	}
}
