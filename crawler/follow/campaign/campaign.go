// Package campaign keeps campaigns: a campaign is a document of what to do, and a state that outlives the process.
// There are three kinds. One follows links from seeds; one discovers the data files of a site (package discover); one
// harvests a web interface that its document describes (package webapi). The last two are harvests that can be paused:
// each round is one task, which continues at the mark of the harvest.
//
// What follows is about the first kind. Every URL of a campaign is a resource of the archive like any other, and the
// frontier visits it. What a visit finds becomes part of the campaign in the transaction of the visit: the links within
// scope are registered as resources, the statements of the document become a named graph (package graphs), and SPARQL
// endpoints and portals that were found become tasks. So a crash neither loses a link nor follows one twice.
//
// A round visits every URL of the campaign once. Links that it finds belong to the round. The result of a round does
// not depend on the order of visits: if a URL turns out to be nearer to a seed than it seemed, links that were too deep
// are followed after all. Only a budget that is used up makes the order matter.
//
// The package makes no requests. It says which redirects a visit may follow; cmd/internal/crawl carries out tasks.
package campaign

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/scrape"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore/kv"
)

// State is the state of a campaign.
type State string

const (
	Running  State = "running"
	Paused   State = "paused"   // nothing is visited on its behalf until it is resumed
	Stopped  State = "stopped"  // as Paused, and its open URLs have been given up
	Finished State = "finished" // nothing within scope is left; links of changed documents make it run again
)

// Campaign is a campaign as it stands.
type Campaign struct {
	Document Document  `json:"document"`
	State    State     `json:"state"`
	Why      string    `json:"why,omitempty"` // of the state, for people
	Created  time.Time `json:"created"`
	Began    time.Time `json:"began,omitzero"` // the current round
	Ended    time.Time `json:"ended,omitzero"` // the last round
	Round    int       `json:"round"`
	Counts   Counts    `json:"counts,omitzero"` // of one that follows links

	// Progress is that of a campaign that does not follow links; nil before it begins. It has a record of its own.
	Progress *discover.Progress `json:"progress,omitempty"`

	Edition int    `json:"edition"`          // of Document: a new one is a reason to look at unchanged documents again
	Cursor  string `json:"cursor,omitempty"` // where queueing a round goes on, in hexadecimal; "" if it is done
	Queuing bool   `json:"queuing,omitempty"`

	Scoring   int    `json:"scoring,omitempty"`   // edition of what the document says of scores
	Rescoring bool   `json:"rescoring,omitempty"` // the priorities of open URLs are not those of Scoring yet
	Rescored  string `json:"rescored,omitempty"`  // where that goes on, in hexadecimal
	Described int    `json:"described,omitempty"` // Counts.Pages when the graph about the sites was written
}

// Counts are the figures of a campaign.
type Counts struct {
	URLs       int `json:"urls"`       // that belong to it
	Pending    int `json:"pending"`    // of them, to be visited in this round
	Visited    int `json:"visited"`    // in this round
	Failed     int `json:"failed"`     // of them, without content
	Links      int `json:"links"`      // in the documents of this round, each once a document
	OutOfScope int `json:"outOfScope"` // of them
	TooDeep    int `json:"tooDeep"`
	OverBudget int `json:"overBudget"` // links that Max or Host leave out
	Documents  int `json:"documents"`  // with statements, that this round read
	Pages      int `json:"pages"`      // that have a score, in all rounds; of a campaign that scores
	Changed    int `json:"changed"`    // statements of content graphs that this round changed
	Tasks      int `json:"tasks"`      // endpoints and portals to be read
	TasksDone  int `json:"tasksDone"`
	Spilled    int `json:"spilled"` // lists of links that are not registered yet
}

// left reports whether anything of the round is left.
func (c Campaign) left() bool {
	return c.Queuing || c.Counts.Pending > 0 || c.Counts.Tasks > 0 || c.Counts.Spilled > 0
}

// ErrUnknown is in the chain of errors about names that no campaign has.
var ErrUnknown = errors.New("no campaign has this name")

// Store is the campaigns of one data directory.
type Store struct {
	Archive  *archive.Archive
	Frontier *frontier.Frontier
	Graphs   *graphs.Store
	Clock    func() time.Time
	// Context returns contexts of JSON-LD documents, as in rdfio.Options.
	Context func(iri string) ([]byte, error)
	// Refuses, if not nil, reports that a URL is out of the scope of the archive, whatever that of a campaign says.
	Refuses func(url string) bool
	// Software returns what knows the software of sites, for campaigns that score. It may be nil: then no page has a
	// score.
	Software func() (*software.Helper, error)

	mu      sync.Mutex
	scopes  map[campaignID]compiled             // guarded by mu
	changed chan struct{}                       // guarded by mu; closed and replaced when a campaign changes
	live    map[string]func() discover.Progress // guarded by mu; of harvests that run
}

// compiled is the scope of one edition of a document, and its rules for pages.
type compiled struct {
	edition int
	scope   *scope
	rules   *scrape.Rules // nil for none
	scoring int
	scorer  *relevance.Scorer // nil if the campaign does not score
}

// Tables in kv.SpaceCampaigns, by first byte of the key. See FORMAT.md.
const (
	tableCampaign = 'c' // campaign           -> Campaign
	tableMember   = 'u' // campaign, resource -> member
	tableReverse  = 'r' // resource, campaign -> nothing
	tableListed   = 'o' // resource           -> nothing
	tableHost     = 'h' // campaign, host     -> number of URLs
	tableTask     = 't' // campaign, task     -> Task
	tableSpilled  = 'l' // campaign, resource, part -> links
	tableProgress = 'g' // campaign           -> progress
	tablePace     = 'p' // campaign           -> pace
	tableSite     = 's' // campaign, host     -> Site
)

type campaignID [8]byte

func idOf(name string) campaignID {
	sum := sha256.Sum256([]byte(name))
	return campaignID(sum[:8])
}

func key(table byte, parts ...[]byte) []byte { return append([]byte{table}, bytes.Join(parts, nil)...) }

// load returns a campaign; known is false if there is none.
func load(txn *kv.Txn, id campaignID) (c Campaign, known bool, err error) {
	b, known, err := txn.Get(kv.SpaceCampaigns, key(tableCampaign, id[:]))
	if err != nil || !known {
		return c, false, err
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return c, false, fmt.Errorf("campaign: a record is damaged: %w", err)
	}
	return c, true, nil
}

// save stores a campaign. One with nothing left is finished.
func (s *Store) save(txn *kv.Txn, id campaignID, c Campaign) error {
	if c.State == Running && !c.left() {
		c.State, c.Ended = Finished, s.Clock().UTC()
	} else if c.State == Finished && c.left() && c.Why == "" { // unless the rest was given up
		c.State, c.Ended = Running, time.Time{}
	}
	c.Progress = nil
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	txn.OnCommit(s.signal)
	return txn.Set(kv.SpaceCampaigns, key(tableCampaign, id[:]), b)
}

// signal wakes those who wait for Changed.
func (s *Store) signal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// Changed returns a channel that is closed when a campaign changes.
func (s *Store) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// scopeOf returns the compiled scope of a campaign.
func (s *Store) scopeOf(id campaignID, c Campaign) (*scope, error) {
	made, err := s.compiledOf(id, c)
	return made.scope, err
}

// compiledOf returns the compiled scope and rules of a campaign.
func (s *Store) compiledOf(id campaignID, c Campaign) (compiled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.scopes[id]; ok && known.edition == c.Edition && known.scoring == c.Scoring {
		return known, nil
	}
	made := compiled{edition: c.Edition, scoring: c.Scoring}
	var err error
	if made.scope, err = newScope(c.Document); err != nil {
		return compiled{}, err
	}
	made.scope.refuses = s.Refuses
	if c.Document.Rules != "" {
		if made.rules, err = scrape.Read([]byte(c.Document.Rules)); err != nil {
			return compiled{}, fmt.Errorf("campaign %s: %w", c.Document.Name, err)
		}
	}
	if c.Document.scored() {
		if made.scorer, err = relevance.New(c.Document.relevance()); err != nil {
			return compiled{}, fmt.Errorf("campaign %s: %w", c.Document.Name, err)
		}
	}
	if s.scopes == nil || len(s.scopes) > 1000 {
		s.scopes = map[campaignID]compiled{}
	}
	s.scopes[id] = made
	return made, nil
}

// Get returns a campaign. The error wraps ErrUnknown if there is none.
func (s *Store) Get(ctx context.Context, name string) (c Campaign, err error) {
	err = s.view(ctx, func(txn *kv.Txn) error {
		var known bool
		if c, known, err = load(txn, idOf(name)); err == nil && !known {
			err = fmt.Errorf("%w: %q", ErrUnknown, name)
		}
		if err == nil {
			c.Progress, err = s.progress(txn, c)
		}
		return err
	})
	return c, err
}

// Shown is a campaign with its tasks, and with the sites that have the best scores, if it scores.
type Shown struct {
	Campaign
	Tasks []Task `json:"tasks"`
	Sites []Site `json:"sites,omitempty"`
}

// Show returns a campaign with its tasks and sites. The error wraps ErrUnknown if there is none.
func (s *Store) Show(ctx context.Context, name string) (Shown, error) {
	c, err := s.Get(ctx, name)
	if err != nil {
		return Shown{}, err
	}
	tasks, err := s.Tasks(ctx, name)
	if tasks == nil {
		tasks = []Task{} // [] in JSON
	}
	if err != nil || !c.Document.scored() {
		return Shown{Campaign: c, Tasks: tasks}, err
	}
	sites, err := s.Sites(ctx, name)
	return Shown{c, tasks, sites}, err
}

// List returns all campaigns, sorted by name.
func (s *Store) List(ctx context.Context) (all []Campaign, err error) {
	err = s.view(ctx, func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceCampaigns, []byte{tableCampaign}, nil, func(_, v []byte) (bool, error) {
			var c Campaign
			if err := json.Unmarshal(v, &c); err != nil {
				return false, fmt.Errorf("campaign: a record is damaged: %w", err)
			}
			all = append(all, c)
			return true, ctx.Err()
		})
	})
	for i := range all {
		if err == nil && all[i].Document.Harvests() {
			err = s.view(ctx, func(txn *kv.Txn) (err error) { all[i].Progress, err = s.progress(txn, all[i]); return err })
		}
	}
	slices.SortFunc(all, func(a, b Campaign) int { return cmp.Compare(a.Document.Name, b.Document.Name) })
	return all, err
}

func (s *Store) view(ctx context.Context, f func(*kv.Txn) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	return s.Archive.DB().View(f)
}
