package campaign

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/links"
	"odarchive/triplestore/kv"
)

// Kinds of tasks.
const (
	TaskEndpoint = "sparql" // all statements of a SPARQL endpoint become content graphs
	TaskPortal   = "ckan"   // the files of a portal become URLs of the campaign
)

// Task is an endpoint or a portal that a campaign found. It is carried out once a round.
type Task struct {
	Campaign string `json:"-"`
	Kind     string `json:"kind"`
	Address  string `json:"address"`
	Depth    int    `json:"depth"` // of what it finds
	Round    int    `json:"round"` // the last round that it was done in, or given up
	Tries    int    `json:"tries,omitempty"`
	Result   string `json:"result,omitempty"` // of the last time, a sentence
	Bad      bool   `json:"bad,omitempty"`    // it failed
	Quads    int    `json:"quads,omitempty"`
}

// maxTasks is the number of tasks of one campaign; MaxTaskTries is how often one that fails is tried in a round.
const (
	maxTasks     = 10_000
	MaxTaskTries = 3
)

func taskKey(id campaignID, t Task) []byte {
	sum := sha256.Sum256([]byte(t.Kind + " " + t.Address))
	return key(tableTask, id[:], sum[:12])
}

// addTask adds a task, unless the campaign has it.
func addTask(txn *kv.Txn, id campaignID, c *Campaign, t Task) error {
	b, known, err := txn.Get(kv.SpaceCampaigns, taskKey(id, t))
	if err != nil {
		return err
	}
	if known {
		var before Task
		if err := json.Unmarshal(b, &before); err != nil || before.Depth <= t.Depth {
			return err
		}
		before.Depth = t.Depth
		return setTask(txn, id, before)
	}
	if c.Counts.Tasks+c.Counts.TasksDone >= maxTasks {
		c.Counts.OverBudget++
		return nil
	}
	t.Round = c.Round - 1
	c.Counts.Tasks++
	return setTask(txn, id, t)
}

func setTask(txn *kv.Txn, id campaignID, t Task) error {
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return txn.Set(kv.SpaceCampaigns, taskKey(id, t), b)
}

// openTasks returns the number of tasks that a round has not done.
func openTasks(txn *kv.Txn, id campaignID, round int) (n int, err error) {
	err = txn.Scan(kv.SpaceCampaigns, key(tableTask, id[:]), nil, func(_, v []byte) (bool, error) {
		var t Task
		err := json.Unmarshal(v, &t)
		if t.Round < round {
			n++
		}
		return true, err
	})
	return n, err
}

// Tasks returns the tasks of a campaign.
func (s *Store) Tasks(ctx context.Context, name string) (all []Task, err error) {
	id := idOf(name)
	err = s.view(ctx, func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceCampaigns, key(tableTask, id[:]), nil, func(_, v []byte) (bool, error) {
			t := Task{Campaign: name}
			if err := json.Unmarshal(v, &t); err != nil {
				return false, fmt.Errorf("campaign: a task is damaged: %w", err)
			}
			all = append(all, t)
			return true, nil
		})
	})
	return all, err
}

// Open returns the tasks of all running campaigns that are to be carried out.
func (s *Store) Open(ctx context.Context) (all []Task, err error) {
	campaigns, err := s.List(ctx)
	for _, c := range campaigns {
		if err != nil || c.State != Running || c.Counts.Tasks == 0 {
			continue
		}
		var tasks []Task
		tasks, err = s.Tasks(ctx, c.Document.Name)
		for _, t := range tasks {
			if t.Round < c.Round {
				all = append(all, t)
			}
		}
	}
	return all, err
}

// Running reports whether a campaign still wants its tasks done.
func (s *Store) Running(ctx context.Context, name string) bool {
	c, err := s.Get(ctx, name)
	return err == nil && c.State == Running
}

// Allows reports whether a campaign may request a URL.
func (s *Store) Allows(ctx context.Context, name, url string) bool {
	c, err := s.Get(ctx, name)
	if err != nil {
		return false
	}
	scope, err := s.scopeOf(idOf(name), c)
	return err == nil && scope.allows(url)
}

// Done records the result of a task. A task that failed is tried again, a few times in a round.
func (s *Store) Done(ctx context.Context, t Task, result string, quads, changed int, failed error) error {
	id := idOf(t.Campaign)
	err := s.Archive.DB().Update(ctx, func(txn *kv.Txn) error {
		c, known, err := load(txn, id)
		if err != nil || !known {
			return err
		}
		t.Result, t.Bad, t.Quads = result, failed != nil, quads
		if t.Tries++; failed != nil {
			t.Result = fmt.Sprintf("%.500v", failed)
		}
		if failed == nil || t.Tries >= MaxTaskTries {
			t.Round, t.Tries = c.Round, 0
			c.Counts.Tasks = max(0, c.Counts.Tasks-1)
			c.Counts.TasksDone++
		}
		c.Counts.Changed += changed
		if err := setTask(txn, id, t); err != nil {
			return err
		}
		return s.save(txn, id, c)
	})
	if err != nil {
		return fmt.Errorf("campaign %s: %w", t.Campaign, err)
	}
	return nil
}

// AddLinks adds the links of statements that a task read to its campaign: those within scope.
func (s *Store) AddLinks(ctx context.Context, t Task, list []links.Link) error {
	id := idOf(t.Campaign)
	for part := range slices.Chunk(list, perTxn) {
		err := s.extend(ctx, id, func(a *adding) error {
			for _, l := range part {
				a.c.Counts.Links++
				f := found{URL: l.URL, Kind: l.Kind}
				switch {
				case !a.c.Document.follows(l.Kind) || !f.identify():
					continue
				case !a.scope.allows(l.URL):
					a.c.Counts.OutOfScope++
					continue
				case t.Depth >= a.c.Document.Depth:
					a.c.Counts.TooDeep++
					continue
				}
				if l.Kind == links.Endpoint {
					if err := addTask(a.txn.KV(), id, a.c, Task{Kind: TaskEndpoint, Address: l.URL, Depth: t.Depth + 1}); err != nil {
						return err
					}
				}
				a.scoreOf(&f, l.Text)
				if err := a.add(f, "", t.Depth+1); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("campaign %s: %w", t.Campaign, err)
		}
	}
	return nil
}

// AddFiles adds the files that a task found to its campaign: those within scope. list and its texts come from a portal.
func (s *Store) AddFiles(ctx context.Context, t Task, list []catalog.Seed) (added int, err error) {
	id := idOf(t.Campaign)
	for part := range slices.Chunk(list, perTxn) {
		err := s.extend(ctx, id, func(a *adding) error {
			before := a.c.Counts.URLs
			for _, seed := range part {
				f := found{URL: seed.URL, Kind: "portal"}
				switch {
				case !f.identify():
					continue
				case !a.scope.allows(seed.URL):
					a.c.Counts.OutOfScope++
					continue
				case t.Depth > a.c.Document.Depth:
					a.c.Counts.TooDeep++
					continue
				}
				a.scoreOf(&f, seed.Title, seed.DatasetTitle, seed.Format)
				seed.Priority = f.Score
				if err := a.add(f, "", t.Depth); err != nil {
					return err
				}
				if _, known, err := getMember(a.txn.KV(), id, f.resource); err != nil {
					return err
				} else if known {
					a.listed = append(a.listed, seed)
				}
			}
			added += a.c.Counts.URLs - before
			return nil
		})
		if err != nil {
			return added, fmt.Errorf("campaign %s: %w", t.Campaign, err)
		}
	}
	return added, nil
}

// portalOf returns the address of the portal that a page belongs to, by the software that the page says it was made
// with.
func portalOf(generator, page string) (root string, ok bool) {
	if !strings.HasPrefix(strings.ToLower(generator), "ckan") {
		return "", false
	}
	u, err := address.Parse(page)
	if err != nil {
		return "", false
	}
	path, _, _ := strings.Cut(u.Path, "/dataset")
	for _, section := range []string{"/organization", "/group"} {
		path, _, _ = strings.Cut(path, section)
	}
	u.Path, u.Query = strings.TrimSuffix(path, "/")+"/", ""
	return u.String(), true
}
