package faces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/ui"
)

// Advice for people, and Retry-After for programs, while writes are stopped.
const (
	writesStoppedAdvice = "It goes on answering questions. Look after the disk, then start the archive again: it goes on from what was " +
		"acknowledged"
	fencedAdvice = "It goes on answering questions. Send what is to be written to the other server"
	retryStopped = 5 * time.Minute
)

// Fixity returns the state of the stored bytes: damages, and how far the scrub is.
func (a *Faces) Fixity() ui.Fixity {
	f := ui.Fixity{State: ui.Sound, Rate: a.store.ScrubRate() * int64(len(a.store.ScrubbedParts()))}
	if !a.store.DB.ReadOnly() {
		f.Damages = slices.Clone(a.store.DescriptionDamages()) // read-only, nothing depends on the damaged copy
	}
	for _, part := range a.store.ScrubbedParts() {
		f.Parts = append(f.Parts, ui.FixityPart{Name: part.Name, Round: part.Scrubbed()})
		f.Damages = append(f.Damages, part.Damages()...)
	}
	f.Bucket = a.bucketState()
	f.Count()
	stopped := a.store.DB.WritesStopped()
	switch {
	case stopped != nil:
		f.State, f.Reason = ui.WritesStopped, firstUpper(stopped.Error())+"."
	case f.Unmended > 0:
		f.State, f.Reason = ui.Damaged,
			"Some of what is stored is damaged and not mended yet: 'odarchive check --repair' mends what can be mended."
	case a.store.DB.ReadOnly():
		f.State, f.Reason = ui.ReadOnly, firstUpper(a.store.ReadOnlyReason)+"."
	}
	return f
}

// Ready returns the state of the archive, and an error with the reason if it is damaged or has stopped writing.
func (a *Faces) Ready(context.Context) (state string, err error) {
	f := a.Fixity()
	switch {
	case a.Replica != nil && f.State == ui.ReadOnly:
		return "ok: " + a.Replica.State(), nil
	}
	switch f.State {
	case ui.Sound:
		return "ok" + a.backupBehind() + bucketDetail(f.Bucket) + a.notExamining(), nil
	case ui.ReadOnly:
		return "ok: " + ui.ReadOnly + bucketDetail(f.Bucket), nil
	}
	return f.State, errors.New(f.Reason)
}

// failedStarts is how many processes in a row could not be started before /readyz says so.
const failedStarts = 10

// notExamining returns what /readyz adds to its state if no process can be started that examines files.
func (a *Faces) notExamining() string {
	if n := a.store.Examine.Stats().Failures; n >= failedStarts {
		return fmt.Sprintf("; files cannot be examined: the last %d processes for that could not be started", n)
	}
	return ""
}

func firstUpper(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
