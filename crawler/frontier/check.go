package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Fault is something that does not hold although FORMAT.md says so. Names are stable: it is part of reports.
type Fault struct {
	What string `json:"what"` // url, queue, host, totals, key
	Name string `json:"name"` // of the URL (its key), the host, or the stray key
	Why  string `json:"why"`
	Lost bool   `json:"lost,omitempty"` // a repair took it out, because nobody knows what it was
}

func (f Fault) String() string {
	s := fmt.Sprintf("frontier: %s %s: %s", f.What, f.Name, f.Why)
	if f.Lost {
		s += "; it is lost"
	}
	return s
}

// maxFaults is how many faults are listed one by one.
const maxFaults = 1000

// CheckReport says what Check has read and found. Names are stable.
type CheckReport struct {
	URLs   int     `json:"urls"`
	Hosts  int     `json:"hosts"`
	Queued int     `json:"queued"`
	Found  int     `json:"found"`  // faults
	Faults []Fault `json:"faults"` // the first maxFaults of them
	Left   int     `json:"left"`   // faults that are there after the repair; all of them without one
}

// Check reads all records and compares them with one another: URLs, where they stand, the queue, the groups' records and
// the totals; and if Options.Everything is set, with what somebody else knows. With repair, what is wrong is put right: a
// record that cannot be read is made again or, where nobody knows what it was, taken out and named. The frontier may be
// in use meanwhile. An error is what kept Check from going on.
func (f *Frontier) Check(ctx context.Context, repair bool) (CheckReport, error) {
	c, err := f.inspect(ctx)
	if err != nil {
		return c.report, fmt.Errorf("frontier: check: %w", err)
	}
	c.report.Left = c.report.Found
	if !repair || c.report.Found == 0 {
		return c.report, nil
	}
	if err := c.repair(ctx); err != nil {
		return c.report, fmt.Errorf("frontier: repair: %w", err)
	}
	after, err := f.inspect(ctx)
	if err != nil {
		return c.report, fmt.Errorf("frontier: check after the repair: %w", err)
	}
	c.report.Left = after.report.Found
	return c.report, nil
}

// check is what one look at everything has found, and what is to be done about it.
type check struct {
	f      *Frontier
	report CheckReport
	groups map[string]*counted

	damaged map[string]string // keys of URLs that cannot be read or are missing -> a group in whose queue they may be
	whole   map[string]*URL   // those of them whose record is sound and only not found
	orphans [][]byte          // keys of kv.SpaceDue
	stray   [][]byte          // keys of kv.SpaceQueue
	junk    [][]byte          // keys of kv.SpaceHosts
	remake  map[string]bool   // groups whose record is to be made again
}

// counted is what was found of a group.
type counted struct {
	urls  int64
	bands [256]bool // in the queue
}

func (c *check) fault(what, name, format string, args ...any) {
	c.report.Found++
	if len(c.report.Faults) < maxFaults {
		c.report.Faults = append(c.report.Faults, Fault{What: what, Name: name, Why: fmt.Sprintf(format, args...)})
	}
}

func (c *check) group(name string) *counted {
	g := c.groups[name]
	if g == nil {
		g = &counted{}
		c.groups[name] = g
	}
	return g
}

// inspect reads everything, in one state of the database.
func (f *Frontier) inspect(ctx context.Context) (*check, error) {
	c := &check{f: f, groups: map[string]*counted{}, damaged: map[string]string{}, whole: map[string]*URL{}, remake: map[string]bool{}}
	c.report.Faults = []Fault{}
	err := f.db.View(func(txn *kv.Txn) error {
		for _, pass := range []func(context.Context, *kv.Txn) error{c.urls, c.records, c.queue, c.hosts, c.totals} {
			if err := pass(ctx, txn); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && f.opts.Everything != nil {
		err = c.everything(ctx)
	}
	return c, err
}

// urls goes through the places of records, and looks at each record and whether it is queued.
func (c *check) urls(ctx context.Context, txn *kv.Txn) error {
	return txn.Scan(kv.SpaceFrontier, nil, nil, func(k, _ []byte) (bool, error) {
		c.report.URLs++
		u, _, err := get(txn, string(k))
		switch {
		case errors.Is(err, ErrDamaged), err == nil && !u.isConsistent():
			c.fault("url", string(k), "its record cannot be read")
			c.damaged[string(k)] = ""
			return true, ctx.Err()
		case err != nil:
			return false, err
		}
		c.group(u.Group).urls++
		if u.Due.IsZero() || u.Blacklisted {
			return true, ctx.Err()
		}
		there, err := txn.Read(kv.SpaceQueue, queueKey(u.Group, band(u.Priority), ms(u.Due), u.Key), func([]byte) error { return nil })
		if err == nil && !there {
			c.fault("url", u.Key, "it is due and not in the queue of %s", u.Group)
			c.remake[u.Group] = true
		}
		return err == nil, err
	})
}

// records goes through the records and looks whether each is found by its URL's key.
func (c *check) records(ctx context.Context, txn *kv.Txn) error {
	return txn.Scan(kv.SpaceDue, nil, nil, func(k, v []byte) (bool, error) {
		if len(k) < 8 {
			c.fault("key", fmt.Sprintf("%x", k), "no record of a URL has such a key")
			c.orphans = append(c.orphans, bytes.Clone(k))
			return true, nil
		}
		e := entry{readTime(k), string(k[8:])}
		var found bool
		_, err := txn.Read(kv.SpaceFrontier, []byte(e.key), func(at []byte) error {
			found = len(at) == 8 && readTime(at) == e.due
			return nil
		})
		if err != nil || found {
			return err == nil, errors.Join(err, ctx.Err())
		}
		u := &URL{Key: e.key}
		sound := u.decode(v) == nil && ms(u.Due) == e.due && u.isConsistent()
		if _, damaged := c.damaged[e.key]; damaged && sound {
			c.whole[e.key], c.damaged[e.key] = u, u.Group
			return true, nil
		}
		there, err := txn.Read(kv.SpaceFrontier, []byte(e.key), func([]byte) error { return nil })
		if err != nil {
			return false, err
		}
		if !there && sound {
			c.fault("url", e.key, "nothing says where its record is")
			c.whole[e.key], c.damaged[e.key] = u, u.Group
			return true, nil
		}
		c.fault("url", e.key, "a record of it stands at another time than it is due")
		c.orphans = append(c.orphans, bytes.Clone(k))
		return true, nil
	})
}

// queue goes through the queue and looks whether a record stands behind each entry.
func (c *check) queue(ctx context.Context, txn *kv.Txn) error {
	return txn.Scan(kv.SpaceQueue, nil, nil, func(k, _ []byte) (bool, error) {
		c.report.Queued++
		group, b, e, ok := splitQueueKey(k)
		if !ok {
			c.fault("key", fmt.Sprintf("%x", k), "no entry of a queue has such a key")
			c.stray = append(c.stray, bytes.Clone(k))
			return true, nil
		}
		if _, damaged := c.damaged[e.key]; damaged { // told already; whoever mends it clears this queue
			c.damaged[e.key] = group
			c.remake[group] = true
			return true, ctx.Err()
		}
		valid, err := stands(txn, group, b, e)
		if err != nil {
			return false, err
		}
		if !valid {
			c.fault("queue", group, "no URL stands behind the entry of %s", e.key)
			c.stray = append(c.stray, bytes.Clone(k))
			c.remake[group] = true
			return true, nil
		}
		c.group(group).bands[b] = true
		return true, ctx.Err()
	})
}

// stands reports whether a URL's record says that it is queued at a place.
func stands(txn *kv.Txn, group string, b byte, e entry) (bool, error) {
	u, err := getAt(txn, e)
	if err == nil && u == nil {
		var known bool
		u, known, err = get(txn, e.key) // of format 1
		if known && u.stored != notByTime {
			return false, nil
		}
	}
	if errors.Is(err, ErrDamaged) || err == nil && u == nil {
		return false, nil
	}
	return err == nil && u.Group == group && band(u.Priority) == b && ms(u.Due) == e.due && !u.Due.IsZero() && !u.Blacklisted, err
}

// everything looks for URLs that somebody else knows and the frontier does not. They are listed first and looked for then,
// so that one that is added meanwhile is not taken for missing.
func (c *check) everything(ctx context.Context) error {
	return c.f.opts.Everything(ctx, func(raw string) error {
		parsed, err := address.Parse(raw)
		if err != nil { // it was never taken in
			return nil
		}
		key := keyOf(parsed)
		if _, told := c.damaged[key]; told {
			return nil
		}
		return c.f.db.View(func(txn *kv.Txn) error {
			there, err := txn.Read(kv.SpaceFrontier, []byte(key), func([]byte) error { return nil })
			if err == nil && !there {
				c.fault("url", key, "the archive knows it, and the frontier does not")
				c.damaged[key] = parsed.Group()
			}
			return err
		})
	})
}
