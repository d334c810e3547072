package discover

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"odarchive/crawler/follow/software"
)

// A mark is the whole state of a discovery as text: JSON, compressed, in base64. It is bounded, since the ledger keeps
// it as one value: first the least promising links are left out, then what was learned of single pages. Links that are
// left out are found again when a page with them is read.

const (
	markVersion = 1
	maxMark     = 700 << 10 // bytes of a mark
	maxSaved    = 8000      // links
	maxState    = 64 << 20  // bytes of one that is read, when decompressed
)

// state is what a mark holds.
type state struct {
	Version  int                `json:"v"`
	Host     string             `json:"host"`
	Home     string             `json:"home"`
	Name     string             `json:"name,omitempty"`
	Round    int                `json:"round"` // 0 for the first
	RoundSeq int32              `json:"roundSeq,omitempty"`
	Spent    int                `json:"spent"` // requests, with those that may have been made since
	Read     int                `json:"read"`  // pages
	Software software.Site      `json:"software,omitzero"`
	Pages    []savedPage        `json:"pages"`
	Abouts   []about            `json:"abouts"`
	Queue    []savedLink        `json:"queue,omitempty"`
	Files    []knownFile        `json:"files,omitempty"`
	Seen     []byte             `json:"seen,omitempty"` // keys of URLs that need no request
	Groups   []savedTally       `json:"groups,omitempty"`
	Experts  [numExperts]expert `json:"experts"`
	Pace     pace               `json:"pace"`
	Listings []listing          `json:"listings,omitempty"`
	Model    []byte             `json:"model,omitempty"`
	Trust    [2]float64         `json:"trust"`
	Random   uint64             `json:"random"`
	Met      []string           `json:"met"` // authorities whose robots.txt was counted
	Again    []int32            `json:"again,omitempty"`
}

type savedPage struct {
	URL      string         `json:"u"`
	Text     string         `json:"t,omitempty"`
	Key      uint64         `json:"k"`
	From     int32          `json:"f"`
	Path     string         `json:"p,omitempty"`
	Template uint64         `json:"m,omitempty"`
	Hops     uint8          `json:"h,omitempty"`
	Depth    uint8          `json:"d,omitempty"`
	Files    int32          `json:"n,omitempty"`
	Level    software.Level `json:"l,omitempty"`
	Score    float32        `json:"s,omitempty"`
	Why      string         `json:"w,omitempty"`
	Sum      float32        `json:"b,omitempty"`
	Looked   float32        `json:"c,omitempty"`
}

type savedLink struct {
	URL     string  `json:"u"`
	Text    string  `json:"t,omitempty"`
	Context string  `json:"c,omitempty"`
	From    int32   `json:"f"`
	Path    string  `json:"p,omitempty"`
	Seq     int32   `json:"q"`
	Hops    uint8   `json:"h,omitempty"`
	Format  string  `json:"o,omitempty"`
	File    float32 `json:"i,omitempty"`
	List    string  `json:"l,omitempty"`
}

type savedTally struct {
	Group uint64 `json:"g"`
	tally
}

// save returns the state as a mark. reserve is the number of requests that may be made before the next mark: after a
// crash they count as made, so that the budget holds.
func (w *walk) save(reserve int) string {
	for n, weights := min(len(w.queue.all), maxSaved), math.MaxInt; ; n, weights = n/2, 40_000 {
		text := w.encode(w.state(reserve, n, weights))
		if len(text) <= maxMark || n == 0 {
			return text
		}
	}
}

// state collects the state with at most n links and as many weights.
func (w *walk) state(reserve, n, weights int) state {
	s := state{Version: markVersion, Host: w.host, Home: w.home, Name: w.name, Round: w.round, RoundSeq: w.roundSeq,
		Spent: min(w.ask.spent+reserve, w.opts.Budget), Read: w.read_,
		Software: w.site, Experts: w.experts, Pace: w.pace, Listings: w.listings, Random: w.random, Again: w.again}
	for a := range w.ask.met {
		s.Met = append(s.Met, a)
	}
	slices.Sort(s.Met)
	w.queue.sweep()
	links := slices.Clone(w.queue.all)
	slices.SortFunc(links, func(a, b *link) int {
		switch x, y := a.rank, b.rank; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a.seq - b.seq)
	})
	links = links[:min(n, len(links))]
	slices.SortFunc(links, func(a, b *link) int { return int(a.seq - b.seq) })
	at := w.reachable(links, &s)
	for _, l := range links {
		saved := savedLink{URL: l.url, Text: l.text, Context: l.context, From: at[l.from], Path: l.path, Seq: l.seq, Hops: l.hops,
			Format: l.format, File: l.file}
		if l.list {
			saved.List = w.lists[l.key]
		}
		s.Queue = append(s.Queue, saved)
	}
	for _, f := range w.known {
		f.Page = at[f.Page]
		s.Files = append(s.Files, f)
	}
	s.Again = nil
	for _, p := range w.again {
		s.Again = append(s.Again, at[p])
	}
	s.Seen = w.saveSeen()
	for g, t := range w.groups {
		s.Groups = append(s.Groups, savedTally{g, t})
	}
	slices.SortFunc(s.Groups, func(a, b savedTally) int { return compare(a.Group, b.Group) })
	s.Model, s.Trust = w.model.save(weights), [2]float64{w.model.trust.mean, w.model.trust.vary}
	return s
}

// reachable adds the pages that the links, the files and the pages of the next round need, and returns their new
// numbers.
func (w *walk) reachable(links []*link, s *state) map[int32]int32 {
	need := map[int32]bool{}
	want := func(p int32) {
		for p != noPage && !need[p] {
			need[p] = true
			p = w.pages[p].from
		}
	}
	for _, l := range links {
		want(l.from)
	}
	for _, f := range w.known {
		want(f.Page)
	}
	for _, p := range w.again {
		want(p)
	}
	at := map[int32]int32{noPage: noPage}
	for i := range int32(len(w.pages)) {
		if !need[i] {
			continue
		}
		p := w.pages[i]
		from, ok := at[p.from]
		if !ok {
			from = noPage
		}
		at[i] = int32(len(s.Pages))
		s.Pages = append(s.Pages,
			savedPage{p.url, p.text, p.key, from, p.path, p.template, p.hops, p.depth, p.files, p.level, p.score, p.why, p.below.sum,
				p.below.n})
		s.Abouts = append(s.Abouts, w.abouts[i])
	}
	return at
}

// saveSeen returns the keys of URLs that need no request, sorted, as differences.
func (w *walk) saveSeen() []byte {
	keys := make([]uint64, 0, len(w.seen))
	for k, l := range w.seen {
		if l == nil || l.done {
			keys = append(keys, k>>keyShift)
		}
	}
	for k := range w.older {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	var out []byte
	last := uint64(0)
	for _, k := range keys {
		out = binary.AppendUvarint(out, k-last)
		last = k
	}
	return out
}

// keyShift leaves 44 bits of each key in a mark: among 100,000 URLs, one in 180,000,000 is taken for a known one.
const keyShift = 20

func compare(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (w *walk) encode(s state) string {
	raw, err := json.Marshal(s)
	if err != nil { // never happens: numbers are finite
		return ""
	}
	var b bytes.Buffer
	b.WriteString(markPrefix)
	out := base64.NewEncoder(base64.RawURLEncoding, &b)
	z, _ := flate.NewWriter(out, flate.BestSpeed)
	_, _ = z.Write(raw) // to memory
	_ = z.Close()
	_ = out.Close()
	return b.String()
}

const markPrefix = "discover1 "

// parseMark returns the state of a mark, false if it is not one of this version.
func parseMark(mark string) (s state, ok bool, err error) {
	text, ok := strings.CutPrefix(mark, markPrefix)
	if !ok {
		return s, false, nil
	}
	z := flate.NewReader(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(text)))
	raw, err := io.ReadAll(io.LimitReader(z, maxState))
	if err != nil {
		return s, false, fmt.Errorf("discover: the mark is damaged: %w", err)
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, false, fmt.Errorf("discover: the mark is damaged: %w", err)
	}
	if len(s.Abouts) != len(s.Pages) {
		return s, false, fmt.Errorf("discover: the mark is damaged: %d pages, %d descriptions", len(s.Pages), len(s.Abouts))
	}
	return s, s.Version == markVersion, nil
}

// restore makes the state of a mark that of the walk.
func (w *walk) restore(s state) {
	w.host, w.home, w.name, w.round, w.roundSeq, w.read_ = s.Host, s.Home, s.Name, s.Round, s.RoundSeq, s.Read
	w.site, w.experts, w.pace, w.listings, w.random = s.Software, s.Experts, s.Pace, s.Listings, s.Random
	w.ask.spent = s.Spent
	for _, a := range s.Met {
		w.ask.met[a] = true
	}
	inside := func(p int32) int32 { // a mark is our own, but may be damaged
		if p < 0 || int(p) >= len(w.pages) {
			return noPage
		}
		return p
	}
	for i, p := range s.Pages {
		w.pages = append(w.pages,
			page{p.URL, p.Text, p.Key, inside(p.From), p.Path, p.Template, p.Hops, p.Depth, p.Files, p.Level, p.Score, p.Why,
				branch{p.Sum, p.Looked}})
		w.abouts = append(w.abouts, s.Abouts[i])
	}
	w.model.restore(s.Model)
	w.model.trust = trust{s.Trust[0], s.Trust[1]}
	for rest, key := s.Seen, uint64(0); len(rest) > 0; {
		d, n := binary.Uvarint(rest)
		if n <= 0 {
			break
		}
		key += d
		rest = rest[n:]
		w.older[key] = true
	}
	for _, g := range s.Groups {
		w.groups[g.Group] = g.tally
	}
	for _, f := range s.Files {
		f.Page = inside(f.Page)
		key := keyOf(f.URL)
		w.files[key] = true
		w.byFile[key] = len(w.known)
		w.known = append(w.known, f)
	}
	for _, p := range s.Again {
		if p = inside(p); p != noPage {
			w.again = append(w.again, p)
		}
	}
	for _, l := range s.Queue {
		if l.List != "" {
			w.list(l.URL, l.List)
			continue
		}
		w.requeue(l, inside(l.From))
	}
}

// requeue queues a link of a mark.
func (w *walk) requeue(s savedLink, from int32) {
	base := w.home
	if from != noPage {
		base = w.pages[from].url
	}
	hint := w.helper.Link(&w.site, &software.Page{URL: base}, software.Link{URL: s.URL, Text: s.Text, Path: s.Path})
	l := &link{url: s.URL, key: keyOf(s.URL), text: s.Text, context: s.Context, from: from, path: s.Path, seq: s.Seq, hops: s.Hops,
		format: s.Format, file: s.File, level: hint.Level}
	w.seq = max(w.seq, s.Seq+1)
	w.describe(l, hint)
	w.enqueue(l)
	if l.file >= sureEnough {
		w.wait(l)
	}
}
