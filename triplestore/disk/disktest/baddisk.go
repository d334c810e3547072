package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"

	"odarchive/triplestore/disk"
)

// BadDisk is a disk for model tests. In each life of the process something fails, or the power does, or nothing. A life
// is a call of Arrange, the work, and a call of Restart. The disk has a directory "data".
type BadDisk struct {
	rand   *rand.Rand
	disk   *Crash
	faults *Errors

	mu    sync.Mutex // guards story
	story bytes.Buffer
}

// NewBadDisk returns a disk on which nothing fails yet. For half of the seeds it treats names as ext4 does.
func NewBadDisk(seed uint64) *BadDisk {
	b := &BadDisk{rand: rand.New(rand.NewPCG(seed, 6)), disk: NewCrash(seed)}
	b.disk.Ext4 = seed%2 == 0
	b.faults = NewErrors(b.disk)
	if err := errors.Join(b.disk.MkdirAll("data", 0o755), b.disk.SyncDir("/")); err != nil {
		panic(err) // impossible: it is in memory and nothing fails yet
	}
	return b
}

// FS returns the file system for this life.
func (b *BadDisk) FS() disk.FS { return b.faults }

// Say adds a line to the story.
func (b *BadDisk) Say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(&b.story, format+"\n", args...)
}

// Story returns the lines added so far, for the message of a failing test.
func (b *BadDisk) Story() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.story.String()
}

// Arrange chooses what fails in this life: one operation of some kind on files that match one of the patterns, or all
// from one on, or the power, or nothing.
func (b *BadDisk) Arrange(patterns ...string) {
	kinds := []Kind{Write, Sync, SyncDir, Rename, Truncate, Remove, Open, Changes}
	kind, pattern := kinds[b.rand.IntN(len(kinds))], patterns[b.rand.IntN(len(patterns))]
	n, cause := 1+b.rand.IntN(60), []error{syscall.EIO, syscall.ENOSPC}[b.rand.IntN(2)]
	b.faults.Reset()
	b.faults.Only(kind, pattern)
	b.faults.Short = b.rand.IntN(2) == 0
	switch b.rand.IntN(4) {
	case 0:
		b.faults.FailAt(n, cause)
		b.Say("%v %d of %q fails: %v", kind, n, pattern, cause)
	case 1:
		b.faults.FailFrom(n, cause)
		b.Say("%v %d of %q fails, and all after it: %v", kind, n, pattern, cause)
	case 2:
		b.disk.CutAt(b.disk.Changes() + 3*n)
		b.Say("the power fails after %d changes", 3*n)
	}
}

// Restart ends this life. If the power has failed, or at random, it cuts the power before closing, which may then fail.
func (b *BadDisk) Restart(closing func() error) {
	b.disk.CutAt(0) // from now on only Crash cuts the power, also beside work in the background
	if b.disk.Off() || b.rand.IntN(4) == 0 {
		left := b.disk.Crash()
		b.Say("power cut; close: %v", closing())
		b.disk = left
	} else {
		b.Say("close: %v", closing())
	}
	b.faults = NewErrors(b.disk)
}
