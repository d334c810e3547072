package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/copies/vault"
	"odarchive/sparqlapi/replica"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// signEvery is how often the sign of the writer is looked at.
const signEvery = 2 * time.Second

// occasion is why a follower becomes the writer: an order, or the silence of the one that is.
type occasion struct {
	order  *order // nil if nobody has ordered it
	silent string // the sign of the writer that is silent
}

// replacesBy returns what limits a promotion to its occasion.
func (c *cli) replacesBy(o occasion) replacing {
	if o.order != nil {
		return replacing{instead: o.order.Epoch, asItIs: o.order.AsItIs, stands: c.orderStands, server: true}
	}
	return replacing{silent: o.silent, server: true}
}

// awaitOccasion returns when the follower in the archive's directory shall become the writer, and can. ok is false when
// ctx has ended. What goes wrong meanwhile, such as a full disk, is tried again: else the follower could not take over
// later, and nobody would know.
func (c *cli) awaitOccasion(ctx context.Context) (why occasion, ok bool) {
	for ctx.Err() == nil {
		why, err := c.awaitPromotion(ctx)
		if err == nil {
			err = c.awaitBytes(ctx, why)
		}
		if err == nil { // on a full disk, the database could be closed and not be opened again
			err = kv.RoomIn(c.cfg.Data, 0, 0)
		}
		if err == nil && why.order != nil {
			err = c.orderStands()
		}
		switch {
		case err == nil:
			return why, true
		case ctx.Err() != nil:
		case errors.Is(err, errTakenBack):
			c.log.Warn("this server goes on following", "because", err)
		default:
			c.log.Error("this server cannot become the writer at present; it tries on", "error", err)
			if err := c.answerOrder(err); err != nil {
				c.log.Error("the command that ordered it could not be told", "error", err)
			}
			rest(ctx, bucketAgain)
		}
	}
	return why, false
}

// awaitPromotion returns when the follower in the archive's directory shall become the writer: somebody orders it
// ('odarchive promote'), and waits for that, or the writer is silent: its lease in --backup-to has not changed for
// --promote-after, by this process's own clock, and it does not answer at --follow either. A writer that cannot reach
// the object store, or writes another backup, is not replaced while it answers. While the object store cannot be
// reached, the writer cannot be told from one that is away, and nothing happens.
func (c *cli) awaitPromotion(ctx context.Context) (occasion, error) {
	var b bucket.Bucket // nil without --backup-to: then orders are only refused
	var err error
	if c.cfg.Backup.On() {
		if b, err = bucket.Open(ctx, c.cfg.Backup.To, bucket.Options{Logger: c.log, Attempts: 1, Stall: 5 * time.Second}); err != nil {
			return occasion{}, fmt.Errorf("--backup-to: %w", err)
		}
	}
	orders, signs := time.NewTicker(orderEvery), time.NewTicker(signEvery)
	defer orders.Stop()
	defer signs.Stop()
	after := c.cfg.Backup.PromoteAfter
	watch := silence{after: after}
	trouble, answered := "", false
	isSilent := func() bool {
		asked := time.Now()
		sign, _, _, err := vault.Lives(ctx, b)
		if said := signTrouble(sign, err); said != trouble && ctx.Err() == nil {
			if trouble = said; said == "" {
				c.log.Info("the sign of the writer is seen")
			} else {
				c.log.Warn("this server cannot become the writer by itself, since it cannot see whether one lives", "backup",
					c.cfg.Backup.To, "why", said)
			}
		}
		if !watch.heard(asked, sign, err) {
			return false
		}
		if c.answers(ctx) {
			if !answered {
				c.log.Warn(
					"the writer does not renew its lease in the backup, but answers: this server becomes the writer only by 'odarchive "+
						"promote'", "writer", c.cfg.Follow.Address(), "backup", c.cfg.Backup.To)
			}
			answered = true
			return false
		}
		return ctx.Err() == nil
	}
	if after > 0 {
		isSilent() // says at once if there is nothing to see
	}
	for {
		select {
		case <-ctx.Done():
			return occasion{}, context.Cause(ctx)
		case <-orders.C:
			o, ok, err := c.readOrder()
			if !ok {
				continue
			}
			if err == nil && !o.AsItIs {
				_, err = c.openVault(ctx, c.cfg.Backup.To) // a mistyped address, first of all
			}
			if err != nil {
				c.log.Warn("ordered to become the writer, and cannot", "error", err)
				if err := c.answerOrder(err); err != nil {
					return occasion{}, err
				}
				continue
			}
			c.log.Info("ordered to become the writer")
			return occasion{order: &o}, nil
		case <-signs.C:
			if after > 0 && isSilent() {
				c.log.Warn("the writer has not been heard of: this server becomes the writer", "for", after)
				return occasion{silent: watch.sign}, nil
			}
		}
	}
}

// answers reports whether the server that this one follows is one that writes the archive, or could.
func (c *cli) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return replica.Answers(ctx, c.cfg.Follow.Address(), c.cfg.Serve.Token) == nil
}

// errTakenBack means that nobody waits for an order any more.
var errTakenBack = errors.New("the order to become the writer was taken back")

// awaitBytes returns when the bucket of the packs, if the archive has one, answers. A writer cannot be opened without
// it, and until then this server goes on answering as a replica. The error is errTakenBack if the occasion has passed
// meanwhile.
func (c *cli) awaitBytes(ctx context.Context, why occasion) error {
	url, err := store.BytesOf(c.cfg)
	if err != nil || url == "" {
		return err
	}
	b, err := bucket.Open(ctx, url, bucket.Options{Logger: c.log, Attempts: 1, Stall: 5 * time.Second})
	if err != nil {
		return err
	}
	for said := false; ; said = true {
		for _, err = range b.List(ctx, "", "") {
			break
		}
		if why.order != nil {
			if err := c.orderStands(); err != nil {
				return err
			}
		}
		if !errors.Is(err, bucket.ErrUnavailable) {
			return nil // what else is wrong is found out, and said, by opening the archive
		}
		if !said {
			c.log.Warn("this server is to become the writer, and waits for the bucket of the packs; meanwhile it answers as a replica",
				"error", err)
			if why.order != nil {
				c.sayWaiting("the bucket of the packs (--bytes): " + err.Error())
			}
		}
		if !rest(ctx, bucketAgain) {
			return context.Cause(ctx)
		}
	}
}

// signTrouble returns why no sign of a writer was seen; "" if one was.
func signTrouble(sign string, err error) string {
	switch {
	case errors.Is(err, bucket.ErrNotFound) || err == nil && sign == "":
		return "there is no backup of an archive, or no writer has begun one"
	case errors.Is(err, bucket.ErrUnavailable):
		return "the object store cannot be reached"
	case err != nil:
		return err.Error()
	}
	return ""
}

// silence measures for how long the sign of a writer has not changed. A time in which nobody could look does not count.
type silence struct {
	after time.Duration
	sign  string
	total time.Duration
	last  time.Time // of the last look that succeeded; zero after one that failed
}

// heard takes the sign that was read at a time, and reports whether the writer has been silent for long enough.
func (s *silence) heard(at time.Time, sign string, err error) bool {
	if err != nil || sign == "" {
		s.last = time.Time{}
		return false
	}
	if sign != s.sign {
		s.sign, s.total, s.last = sign, 0, at
		return false
	}
	if !s.last.IsZero() {
		s.total += min(at.Sub(s.last), 2*signEvery) // this process may have been stopped
	}
	s.last = at
	return s.total >= s.after
}

// promoteFollower makes the archive's directory, in which this process has followed, one that can be written.
func (c *cli) promoteFollower(ctx context.Context, what replacing) error {
	if what.server {
		c.log.Warn("this server becomes the writer, and answers nobody meanwhile")
		c.sayWaiting("what it lacks from the backup, and answers nobody meanwhile")
	}
	done, err := c.promoteDirectory(ctx, what)
	if err == nil {
		c.log.Info("this server is the writer now", "epoch", done.Epoch, "write_set", done.Number, "fetched", done.Fetched, "lost",
			done.Lost)
	}
	return errors.Join(err, c.answerOrder(err))
}
