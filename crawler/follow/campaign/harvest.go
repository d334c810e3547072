package campaign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest/webapi"
	"odarchive/triplestore/kv"
)

// Kind is what a campaign does.
type Kind string

const (
	KindFollow   Kind = "follow"   // follows links from seeds
	KindDiscover Kind = "discover" // finds the data files of a site
	KindAPI      Kind = "api"      // harvests a web interface that the document describes
)

// Harvests reports whether a campaign is a harvest rather than one that follows links.
func (d Document) Harvests() bool { return d.Kind == KindDiscover || d.Kind == KindAPI }

// Address returns where a campaign begins.
func (d Document) Address() string {
	switch {
	case d.Kind == KindDiscover && d.Discover != nil:
		return d.Discover.URL
	case d.Kind == KindAPI && d.API != nil:
		return d.API.Base
	case len(d.Seeds) > 0:
		return d.Seeds[0]
	}
	return ""
}

// normaliseHarvest is Normalise for campaigns that are harvests.
func (d Document) normaliseHarvest() (Document, error) {
	if len(d.Seeds) > 0 || len(d.Scope) > 0 || d.Depth != 0 || d.Max != 0 || d.Host != 0 || d.Accept != "" || d.Vocabularies ||
		len(d.Follow) > 0 || d.Rules != "" {
		return d,
			badf("seeds, scope, depth, max, max-per-host, accept, vocabularies, follow and rules are not for a campaign of the kind %s",
				d.Kind)
	}
	if d.Kind == KindDiscover {
		if d.Discover == nil || d.API != nil {
			return d, badf("a campaign of the kind discover needs discover, and no api")
		}
		o := *d.Discover
		if len(o.Keywords) == 0 {
			o.Keywords = d.Keywords
		}
		o, err := o.Normalise()
		if err != nil {
			return d, fmt.Errorf("%w: %w", ErrBad, err)
		}
		d.Discover, d.Keywords = &o, nil
		return d, nil
	}
	if d.API == nil || d.Discover != nil {
		return d, badf("a campaign of the kind api needs api, and no discover")
	}
	api, err := webapi.Compile(*d.API)
	if err != nil {
		return d, fmt.Errorf("%w: api.%w", ErrBad, err)
	}
	made := api.Document()
	d.API = &made
	if api.UsesKeyword() && len(d.Keywords) == 0 {
		return d, badf("a request has {keyword}, but there are no keywords")
	}
	return d, nil
}

func (d Document) checkKeywords() error {
	if len(d.Keywords) > maxKeywords {
		return badf("%d keywords: at most %d are allowed", len(d.Keywords), maxKeywords)
	}
	for _, w := range d.Keywords {
		if strings.TrimSpace(w) == "" || len(w) > maxKeyword || strings.ContainsFunc(w, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return badf("the keyword %.80q is not a text of at most %d bytes", w, maxKeyword)
		}
	}
	return nil
}

// sameHarvest reports whether two documents harvest the same.
func (d Document) sameHarvest(e Document) bool {
	return d.Kind == e.Kind && slices.Equal(d.Keywords, e.Keywords) && d.Graphs == e.Graphs && reflect.DeepEqual(d.Discover, e.Discover) &&
		reflect.DeepEqual(d.API, e.API)
}

// task returns the task of a campaign that is a harvest.
func (d Document) task() Task { return Task{Kind: string(d.Kind), Address: d.Address()} }

// IsHarvest reports whether the task is a whole campaign: a harvest that takes long, and continues where it was
// interrupted.
func (t Task) IsHarvest() bool { return Kind(t.Kind) == KindDiscover || Kind(t.Kind) == KindAPI }

// setHarvest gives a campaign that is a harvest its task for the round, and removes that of an earlier document.
func setHarvest(txn *kv.Txn, id campaignID, c Campaign) error {
	if !c.Document.Harvests() {
		return nil
	}
	want := taskKey(id, c.Document.task())
	var others [][]byte
	known := false
	err := txn.Scan(kv.SpaceCampaigns, key(tableTask, id[:]), nil, func(k, _ []byte) (bool, error) {
		if slices.Equal(k, want) {
			known = true
		} else {
			others = append(others, slices.Clone(k))
		}
		return true, nil
	})
	for _, k := range others {
		if err == nil {
			err = txn.Delete(kv.SpaceCampaigns, k)
		}
	}
	if err != nil || known {
		return err
	}
	t := c.Document.task()
	t.Round = c.Round - 1
	return setTask(txn, id, t)
}

// Harvested is how one attempt at the harvest of a round ended.
type Harvested struct {
	Round, Edition int    // of the campaign when it began
	Result         string // a sentence
	Why            string // the sentence that the campaign shows; "" if the round is complete
	Failed         error  // tried again, a few times a round
}

// DoneHarvest records how an attempt at the task of a campaign that is a harvest ended. It does nothing if the campaign
// has got another document or round since.
func (s *Store) DoneHarvest(ctx context.Context, t Task, h Harvested) error {
	id := idOf(t.Campaign)
	err := s.Archive.DB().Update(ctx, func(txn *kv.Txn) error {
		c, known, err := load(txn, id)
		if err != nil || !known || c.Edition != h.Edition || c.Round != h.Round || c.State != Running {
			return err
		}
		t.Result, t.Bad = h.Result, h.Failed != nil
		if t.Tries++; h.Failed != nil {
			t.Result = fmt.Sprintf("%.500v", h.Failed)
			h.Why = t.Result
		}
		if h.Failed == nil || t.Tries >= MaxTaskTries {
			t.Round, t.Tries = c.Round, 0
			c.Counts.Tasks = 0
			c.Counts.TasksDone++
			c.Why = h.Why
		}
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

// Overdue returns the campaigns that are harvests whose last round is over and began longer ago than they allow.
func (s *Store) Overdue(ctx context.Context) (due []Campaign, err error) {
	all, err := s.List(ctx)
	for _, c := range all {
		if every, bad := c.Document.period(); bad == nil && every > 0 && c.Document.Harvests() && c.State == Finished &&
			!c.Began.Add(every).After(s.Clock()) {
			due = append(due, c)
		}
	}
	return due, err
}

// Track makes the progress of a harvest that runs visible until the returned function is called.
func (s *Store) Track(name string, progress func() discover.Progress) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[string]func() discover.Progress{}
	}
	s.live[name] = progress
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.live, name)
	}
}

// progress returns the progress of a campaign: of the harvest that runs, or as it was saved last.
func (s *Store) progress(txn *kv.Txn, c Campaign) (*discover.Progress, error) {
	if !c.Document.Harvests() {
		return nil, nil
	}
	s.mu.Lock()
	live := s.live[c.Document.Name]
	s.mu.Unlock()
	if live != nil {
		p := live()
		return &p, nil
	}
	id := idOf(c.Document.Name)
	b, known, err := txn.Get(kv.SpaceCampaigns, key(tableProgress, id[:]))
	if err != nil || !known {
		return nil, err
	}
	var p discover.Progress
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("campaign: a record is damaged: %w", err)
	}
	return &p, nil
}

// SaveProgress keeps the progress of a campaign for the time when it does not run.
func (s *Store) SaveProgress(ctx context.Context, name string, p discover.Progress) error {
	return s.keep(ctx, tableProgress, name, p)
}

func (s *Store) keep(ctx context.Context, table byte, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	id := idOf(name)
	err = s.Archive.DB().Update(ctx, func(txn *kv.Txn) error {
		return txn.Set(kv.SpaceCampaigns, key(table, id[:]), b)
	})
	if err != nil {
		return fmt.Errorf("campaign %s: %w", name, err)
	}
	return nil
}

// pace is the record of what must outlast the process so that rate and budget hold.
type pace struct {
	webapi.Pace
	Round int `json:"round"` // that Used is of
}

// Pace returns the pace of a campaign in a round. Requests of earlier rounds do not count, but their rate does.
func (s *Store) Pace(ctx context.Context, name string, round int) (webapi.Pace, error) {
	var p pace
	id := idOf(name)
	err := s.view(ctx, func(txn *kv.Txn) error {
		b, known, err := txn.Get(kv.SpaceCampaigns, key(tablePace, id[:]))
		if err != nil || !known {
			return err
		}
		return json.Unmarshal(b, &p)
	})
	if err != nil {
		return webapi.Pace{}, fmt.Errorf("campaign %s: %w", name, err)
	}
	if p.Round != round {
		p.Used = 0
	}
	return p.Pace, nil
}

// SavePace keeps the pace of a campaign.
func (s *Store) SavePace(ctx context.Context, name string, round int, p webapi.Pace) error {
	return s.keep(ctx, tablePace, name, pace{p, round})
}

// errHeld is the cause of the end of a harvest whose campaign was paused, stopped or changed.
var errHeld = errors.New("its campaign was paused, stopped or changed")

// WhileRunning returns a context that ends when the campaign does not run any more, or gets another document or round.
// Held reports whether that was the reason. The caller calls end.
func (s *Store) WhileRunning(ctx context.Context, c Campaign) (during context.Context, held func() bool, end func()) {
	during, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			changed := s.Changed()
			now, err := s.Get(during, c.Document.Name)
			if during.Err() != nil {
				return
			}
			if err == nil && (now.State != Running || now.Edition != c.Edition || now.Round != c.Round) {
				cancel(errHeld)
				return
			}
			timer := time.NewTimer(time.Minute) // if a change was missed
			select {
			case <-changed:
			case <-timer.C:
			case <-during.Done():
			}
			timer.Stop()
		}
	}()
	return during, func() bool { return errors.Is(context.Cause(during), errHeld) }, func() { cancel(nil); <-stopped }
}
