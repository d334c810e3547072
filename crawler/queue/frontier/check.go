package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/address"
	"odarchive/triplestore/kv"
)

// Fault is a violation of what FORMAT.md promises. Its JSON names are stable, since reports contain them.
type Fault struct {
	What string `json:"what"` // url, queue, host, totals, key
	Name string `json:"name"` // the URL's key, the host, or the stray key in hexadecimal
	Why  string `json:"why"`
	Lost bool   `json:"lost,omitempty"` // a repair removed the URL, because its record could not be restored
}

func (f Fault) String() string {
	s := fmt.Sprintf("frontier: %s %s: %s", f.What, f.Name, f.Why)
	if f.Lost {
		s += "; it is lost"
	}
	return s
}

// maxFaults is the maximum number of faults in a report.
const maxFaults = 1000

// CheckReport is the result of Check. Its JSON names are stable.
type CheckReport struct {
	URLs   int     `json:"urls"`
	Hosts  int     `json:"hosts"`
	Queued int     `json:"queued"`
	Found  int     `json:"found"`  // number of faults
	Faults []Fault `json:"faults"` // the first maxFaults of them
	Left   int     `json:"left"`   // number of faults after the repair; Found if there was none
}

// Check reads all records and compares them with one another: those of URLs and groups, their places, the queue and the
// totals, and also with Options.Everything, if set. If repair is set, it repairs what it finds: a damaged record is
// restored or, if that is impossible, removed and named in the report. The frontier may be in use meanwhile. The error
// is nil if Check came to its end, whatever it found.
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

// check is one pass over everything: what it found, and what a repair has to do.
type check struct {
	f      *Frontier
	report CheckReport
	groups map[string]*counted

	damaged map[string]string // keys of URLs whose records are damaged or missing -> the group in whose queue they may be
	whole   map[string]*URL   // those of them whose record is sound but not referenced
	orphans [][]byte          // keys of kv.SpaceDue to delete
	stray   [][]byte          // keys of kv.SpaceQueue to delete
	junk    [][]byte          // keys of kv.SpaceHosts to delete
	remake  map[string]bool   // groups whose record must be computed again
}

// counted is what the records of URLs and the queue say about a group.
type counted struct {
	urls  int64
	lanes map[laneID]bool // with queue entries
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
		g = &counted{lanes: map[laneID]bool{}}
		c.groups[name] = g
	}
	return g
}

// inspect makes a pass over one snapshot of the database.
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

// urls checks the entry of each URL's key: its record and its queue entry.
func (c *check) urls(ctx context.Context, txn *kv.Txn) error {
	return txn.Scan(kv.SpaceFrontier, nil, nil, func(k, _ []byte) (bool, error) {
		c.report.URLs++
		u, _, err := get(txn, string(k))
		switch {
		case errors.Is(err, ErrDamaged), err == nil && !u.isConsistent():
			c.fault("url", string(k), "its record is damaged")
			c.damaged[string(k)] = ""
			return true, ctx.Err()
		case err != nil:
			return false, err
		}
		c.group(u.Group).urls++
		if u.Due.IsZero() || u.Blacklisted {
			return true, ctx.Err()
		}
		there, err := txn.Read(kv.SpaceQueue, queueKey(u.Group, u.lane(), ms(u.Due), u.Key), func([]byte) error { return nil })
		if err == nil && !there {
			c.fault("url", u.Key, "it is due and not in the queue of %s", u.Group)
			c.remake[u.Group] = true
		}
		return err == nil, err
	})
}

// records checks that the entry of each URL's key references the URL's record.
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
		u := &URL{Key: e.key, stored: e.due}
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
			c.fault("url", e.key, "no entry references its record")
			c.whole[e.key], c.damaged[e.key] = u, u.Group
			return true, nil
		}
		c.fault("url", e.key, "it has a record at a time at which it is not due")
		c.orphans = append(c.orphans, bytes.Clone(k))
		return true, nil
	})
}

// queue checks that a URL's record confirms each queue entry.
func (c *check) queue(ctx context.Context, txn *kv.Txn) error {
	return txn.Scan(kv.SpaceQueue, nil, nil, func(k, _ []byte) (bool, error) {
		c.report.Queued++
		group, lane, e, ok := splitQueueKey(k)
		if !ok {
			c.fault("key", fmt.Sprintf("%x", k), "no entry of a queue has such a key")
			c.stray = append(c.stray, bytes.Clone(k))
			return true, nil
		}
		if _, damaged := c.damaged[e.key]; damaged { // reported already; the repair clears this queue
			c.damaged[e.key] = group
			c.remake[group] = true
			return true, ctx.Err()
		}
		valid, err := isQueued(txn, group, lane, e)
		if err != nil {
			return false, err
		}
		if !valid {
			c.fault("queue", group, "the record of %s does not confirm its entry", e.key)
			c.stray = append(c.stray, bytes.Clone(k))
			c.remake[group] = true
			return true, nil
		}
		c.group(group).lanes[lane] = true
		return true, ctx.Err()
	})
}

// isQueued reports whether a URL's record confirms a queue entry.
func isQueued(txn *kv.Txn, group string, lane laneID, e entry) (bool, error) {
	u, err := getAt(txn, e)
	if errors.Is(err, ErrDamaged) || err == nil && u == nil {
		return false, nil
	}
	return err == nil && u.Group == group && u.lane() == lane && ms(u.Due) == e.due && !u.Due.IsZero() && !u.Blacklisted, err
}

// everything checks that the frontier has the URLs of Options.Everything. It reads the frontier after these are listed,
// so that a URL that is added meanwhile does not count as missing.
func (c *check) everything(ctx context.Context) error {
	return c.f.opts.Everything(ctx, func(raw string) error {
		parsed, err := address.Parse(raw)
		if err != nil { // it cannot be registered
			return nil
		}
		key := keyOf(parsed)
		if _, reported := c.damaged[key]; reported {
			return nil
		}
		return c.f.db.View(func(txn *kv.Txn) error {
			there, err := txn.Read(kv.SpaceFrontier, []byte(key), func([]byte) error { return nil })
			if err == nil && !there {
				c.fault("url", key, "the archive has it, but the frontier does not")
				c.damaged[key] = parsed.Group()
			}
			return err
		})
	})
}
