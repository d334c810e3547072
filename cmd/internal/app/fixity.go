package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/ui"

	"golang.org/x/sync/errgroup"
)

// scrubbed is a part of the archive that is read again and again: the database, the packs.
type scrubbed interface {
	Scrub(ctx context.Context, bytesPerSecond int64) error
	Scrubbed() disk.Round
	Damages() []disk.Damage
}

type scrubbedPart struct {
	name string
	scrubbed
}

// scrubbedParts of the archive.
func (n *Node) scrubbedParts() []scrubbedPart {
	parts := []scrubbedPart{{"database", n.DB}}
	if packs, ok := any(n.Content).(scrubbed); ok {
		parts = append(parts, scrubbedPart{"packs", packs})
	}
	return parts
}

// scrubRate is how many bytes of a part are read again in a second; 0 if none are.
func (n *Node) scrubRate() int64 {
	if n.DB.ReadOnly() {
		return 0
	}
	return int64(n.Config.Serve.ScrubRate) / int64(len(n.scrubbedParts()))
}

// scrubPause is how long a part is left alone after its scrub failed.
const scrubPause = time.Minute

// ScrubInBackground reads everything stored again and again until ctx ends, each part at its share of the rate, and mends
// what it finds. A scrub that fails begins again later.
func (n *Node) ScrubInBackground(ctx context.Context) error {
	rate := n.scrubRate()
	if rate <= 0 {
		return nil
	}
	var group errgroup.Group
	for _, part := range n.scrubbedParts() {
		group.Go(func() error {
			for ctx.Err() == nil {
				if err := part.Scrub(ctx, rate); err != nil && ctx.Err() == nil {
					n.Log.Error("scrub failed", "part", part.name, "error", err)
				}
				n.rememberLosses(ctx)
				pause := time.NewTimer(scrubPause)
				select {
				case <-pause.C:
				case <-ctx.Done():
					pause.Stop()
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// What people are told to do, and what programs: ask again then.
const (
	writesStoppedAdvice = "It goes on answering questions. Look after the disk, then start the archive again: it goes on from what was acknowledged"
	retryStopped        = 5 * time.Minute
)

// Fixity says whether what is stored is what was written.
func (n *Node) Fixity() ui.Fixity {
	f := ui.Fixity{State: ui.Sound, Rate: n.scrubRate() * int64(len(n.scrubbedParts()))}
	if !n.DB.ReadOnly() {
		f.Damages = slices.Clone(n.described.damages) // of which no answer depends on a copy that could not be written
	}
	for _, part := range n.scrubbedParts() {
		f.Parts = append(f.Parts, ui.FixityPart{Name: part.name, Round: part.Scrubbed()})
		f.Damages = append(f.Damages, part.Damages()...)
	}
	f.Count()
	stopped := n.DB.WritesStopped()
	switch {
	case stopped != nil:
		f.State, f.Reason = ui.WritesStopped, firstUpper(stopped.Error())+"."
	case f.Unmended > 0:
		f.State, f.Reason = ui.Damaged, "Some of what is stored is damaged and not mended yet: 'odarchive check --repair' mends what can be mended."
	case n.DB.ReadOnly():
		f.State, f.Reason = ui.ReadOnly, firstUpper(n.Beside)+"."
	}
	return f
}

// Ready returns the state of the archive in a word or a line, and why not all is well.
func (n *Node) Ready(context.Context) (state string, err error) {
	f := n.Fixity()
	switch f.State {
	case ui.Sound:
		return "ok", nil
	case ui.ReadOnly:
		return "ok: " + ui.ReadOnly, nil
	}
	return f.State, errors.New(f.Reason)
}

func firstUpper(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
