package app

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/ui"
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
	return []scrubbedPart{{"database", n.DB}, {"packs", n.Content}}
}

// scrubRate is how many bytes of a part are read again in a second; 0 if none are.
func (n *Node) scrubRate() int64 {
	if n.DB.ReadOnly() {
		return 0
	}
	return int64(n.Config.Serve.ScrubRate) / int64(len(n.scrubbedParts()))
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
