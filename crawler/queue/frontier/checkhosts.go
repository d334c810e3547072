package frontier

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"

	"odarchive/triplestore/kv"
)

// hosts checks the groups' records and the entries of their names.
func (c *check) hosts(ctx context.Context, txn *kv.Txn) error {
	at := map[string]int64{} // the time of each group's record
	err := txn.Scan(kv.SpaceHosts, []byte(prefixHost), nil, func(k, v []byte) (bool, error) {
		c.report.Hosts++
		group := string(k[len(prefixHost):])
		if !isGroup(group) {
			c.fault("key", fmt.Sprintf("%x", k), "no host has such a name")
			c.junk = append(c.junk, bytes.Clone(k))
			return true, nil
		}
		if len(v) == 8 {
			at[group] = readTime(v)
			c.group(group)
		} else {
			c.fault("host", group, "the entry of its name is damaged")
			c.remake[group] = true
		}
		return true, ctx.Err()
	})
	if err != nil {
		return err
	}
	found := map[string]bool{}
	err = txn.Scan(kv.SpaceHosts, []byte(prefixReady), nil, func(k, v []byte) (bool, error) {
		p, ok := placeOf(k)
		if !ok {
			c.fault("key", fmt.Sprintf("%x", k), "no record of a host has such a key")
			c.junk = append(c.junk, bytes.Clone(k))
			return true, nil
		}
		if where, known := at[p.group]; !known || where != p.at {
			c.fault("host", p.group, "no entry references its record")
			c.remake[p.group] = true
			return true, nil
		}
		found[p.group] = true
		h := &host{group: p.group}
		if h.decode(p.at, v) != nil {
			c.fault("host", p.group, "its record is damaged")
			c.remake[p.group] = true
			return true, nil
		}
		why, err := c.host(txn, h)
		if why != "" {
			c.fault("host", p.group, "%s", why)
			c.remake[p.group] = true
		}
		return err == nil, errors.Join(err, ctx.Err())
	})
	for group := range c.groups {
		if err == nil && !found[group] && !c.remake[group] {
			c.fault("host", group, "it has no record")
			c.remake[group] = true
		}
	}
	return err
}

// host returns what is wrong with a group's record, or "".
func (c *check) host(txn *kv.Txn, h *host) (why string, err error) {
	g := c.group(h.group)
	if h.urls != g.urls {
		return fmt.Sprintf("it counts %d URLs, there are %d", h.urls, g.urls), nil
	}
	omitted := maps.Clone(g.lanes)
	for i := range h.lanes {
		l := &h.lanes[i]
		delete(omitted, l.laneID)
		if why, err := l.difference(txn, h.group); why != "" || err != nil {
			return why, err
		}
	}
	if len(omitted) > 0 {
		return "its record omits a part of its queue", nil
	}
	if h.ready == maxTime && len(g.lanes) > 0 {
		return "it is never ready, but has a queue", nil
	}
	return "", nil
}

// difference returns how the lane differs from the queue, or "".
func (l *lane) difference(txn *kv.Txn, group string) (why string, err error) {
	n := 0
	err = txn.Scan(kv.SpaceQueue, queuePrefix(group, l.laneID), nil, func(k, _ []byte) (bool, error) {
		due, key, ok := cutQueueKey(k, group)
		e := entry{due, key}
		switch {
		case !ok:
		case n < len(l.head) && e != l.head[n]:
			why = "its record does not begin as its queue does"
		case n >= len(l.head) && !l.more:
			why = "its record ends before its queue does"
		case n >= len(l.head) && due < l.from:
			why = "its record gives a later due time for what it omits"
		}
		n++
		return why == "" && n <= len(l.head), nil
	})
	if err == nil && why == "" && n < len(l.head) {
		why = "its record has more than its queue"
	}
	return why, err
}

// totals checks the stored totals.
func (c *check) totals(_ context.Context, txn *kv.Txn) error {
	t, err := loadTotals(txn)
	if err != nil {
		return err
	}
	var urls, hosts int64
	for _, g := range c.groups {
		if urls += g.urls; g.urls > 0 {
			hosts++
		}
	}
	if t.urls != urls || t.hosts != hosts {
		c.fault("totals", "", "%d URLs of %d hosts are counted, there are %d of %d", t.urls, t.hosts, urls, hosts)
	}
	return nil
}
