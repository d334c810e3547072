package app

import (
	"context"
	"sync"
	"time"

	"odarchive/crawler/archive/vault"
)

// RunBackup runs the continuous backup beside a command that writes, if the settings name one, until end is called. end
// returns when what was committed is copied, or after some seconds.
func (n *Node) RunBackup(ctx context.Context) (end func(), err error) {
	if err := n.BeginBackup(ctx, ""); err != nil {
		return nil, err
	}
	return n.keepBackup(ctx, lastCommits), nil
}

// lastCommits is how long a process that ends waits for the backup to take its last commits. Its jobs, which wait for that,
// could not end otherwise while the object store is away.
const lastCommits = 15 * time.Second

// keepBackup runs the continuous backup, if there is one, until end is called. When ctx has ended, commits wait no longer than
// patience for it.
func (n *Node) keepBackup(ctx context.Context, patience time.Duration) (end func()) {
	k := n.BackupKeeper()
	if k == nil {
		return func() {}
	}
	over := make(chan struct{})
	giveUp := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(patience):
			k.End()
		case <-over:
		}
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() {
		_ = n.Jobs.Run(ctx, "backup", func(ctx context.Context) error { // Jobs reports its failure
			err := k.Run(ctx)
			if noted := n.NoteReplaced(err); noted != nil {
				n.Log.Error("nothing but this process knows that another one is the writer", "error", noted)
			}
			if vault.MustNotWrite(err) {
				return nil // no failure that another attempt could mend: the Keeper has stopped all writes, and says so
			}
			return err
		})
	})
	return func() {
		giveUp()
		close(over)
		stop()
		group.Wait()
		k.End()
	}
}
