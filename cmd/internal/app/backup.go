package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"odarchive/crawler/copies/vault"
)

// RunBackup runs the continuous backup beside a command that writes, if the settings name one, until end is called. end
// returns when what was committed is copied, or after some seconds.
// The error of end says that the backup lacks what was committed.
func (n *Node) RunBackup(ctx context.Context) (end func() error, err error) {
	if err := n.BeginBackup(ctx, ""); err != nil {
		return nil, err
	}
	stop := n.keepBackup(ctx, lastCommits)
	return func() error {
		n.awaitWhole(ctx)
		forgotten := n.awaitForgotten(ctx)
		return errors.Join(stop(), forgotten)
	}, nil
}

// awaitWhole waits until this process writes the backup and that is complete, as long as it gets more, or for some
// seconds. The last commits are copied when the Keeper ends.
func (n *Node) awaitWhole(ctx context.Context) {
	k := n.BackupKeeper()
	if k == nil {
		return
	}
	sent := func(s vault.State) int64 { return s.LogBytes + s.PackBytes + s.StateBytes + s.Objects + int64(s.Epoch) }
	last, moved := int64(-1), time.Now()
	for ctx.Err() == nil {
		s := k.State()
		if s.Whole || s.Fenced || !s.Failing.IsZero() && (s.Epoch == 0 || time.Since(s.Failing) > lastCommits) {
			return
		}
		if now := sent(s); now != last {
			last, moved = now, time.Now()
		}
		if time.Since(moved) > lastCommits {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// awaitForgotten waits until what the command withdrew has left the backup, too, or for some seconds. The error says
// that it is there still.
func (n *Node) awaitForgotten(ctx context.Context) error {
	k := n.BackupKeeper()
	if k == nil {
		return nil
	}
	for deadline := time.Now().Add(lastCommits); ; {
		forget, err := n.ToForget()
		if err != nil || !forget {
			return err
		}
		if time.Now().After(deadline) || ctx.Err() != nil || k.State().Fenced {
			return fmt.Errorf("what was withdrawn is still in the continuous backup (%s): the next server here removes it",
				cmp.Or(k.State().Error, "it takes longer"))
		}
		k.Forget()
		time.Sleep(100 * time.Millisecond)
	}
}

// lastCommits is how long a process that ends waits for the backup to take its last commits. Its jobs, which wait for
// that, could not end otherwise while the object store is away.
const lastCommits = 15 * time.Second

// keepBackup runs the continuous backup, if there is one, until end is called. When ctx has ended, commits wait no
// longer than patience for it.
func (n *Node) keepBackup(ctx context.Context, patience time.Duration) (end func() error) {
	k := n.BackupKeeper()
	if k == nil {
		return func() error { return nil }
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
	running := make(chan struct{}) // from then on, the Keeper copies the last commits when ctx ends
	begun := sync.OnceFunc(func() { close(running) })
	var group sync.WaitGroup
	group.Go(func() {
		_ = n.Jobs.Run(ctx, "backup", func(ctx context.Context) error { // Jobs reports its failure
			begun()
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
	return func() error {
		done := n.DB.Committed() // what the background commits from now on is nothing that anybody waits for
		giveUp()
		close(over)
		<-running
		stop()
		group.Wait()
		k.End()
		s := k.State()
		if s.Fenced {
			return fmt.Errorf("what was committed last is only in %s, and dropped when that follows the writer: %s", n.Config.Data, s.Error)
		}
		if has := n.DB.Committed() - s.Behind; has < done || !s.Whole {
			return fmt.Errorf(
				"what was committed is in %s, and not all of it in the continuous backup (%s): the next server or command that writes "+
					"here copies it", n.Config.Data, cmp.Or(s.Error, "it was not complete yet"))
		}
		return nil
	}
}
