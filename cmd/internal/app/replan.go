package app

import (
	"context"
	"fmt"
	"time"

	"odarchive/crawler/frontier"
	"odarchive/triplestore/kv"
)

// keyPlannedBy is where the settings stand by which the queue was planned.
const keyPlannedBy = "crawl/planned-by"

// Replan sets the next visits anew if the settings of the schedule are not those the queue was planned by.
func (n *Node) Replan(ctx context.Context) error {
	s := n.Config.Fetch
	now := fmt.Sprintf("%s %s %s", s.Schedule, s.MinInterval, s.MaxInterval)
	var before []byte
	err := n.DB.View(func(txn *kv.Txn) (err error) {
		before, _, err = txn.Get(kv.SpaceMeta, []byte(keyPlannedBy))
		return err
	})
	if err != nil || string(before) == now {
		return err
	}
	if before != nil {
		moved, err := n.Frontier.Replan(ctx, func(u *frontier.URL) (time.Time, string) {
			return n.Pipeline.Schedule.Next(u.Key, u.Seed.Period, u.History, n.Clock())
		})
		if err != nil {
			return err
		}
		n.Log.Info("next visits set anew, since the schedule's settings have changed", "before", string(before), "now", now, "moved", moved)
	}
	return n.DB.Update(ctx, func(txn *kv.Txn) error { return txn.Set(kv.SpaceMeta, []byte(keyPlannedBy), []byte(now)) })
}
