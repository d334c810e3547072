// Package apart does jobs on a stranger's bytes in child processes, so that no bytes can end the server or take its
// memory.
//
// A Pool starts children of its own program, in which Serve runs. A child confines itself before it sees the first byte
// (confine): memory, processor time and, where the system can, the calls that it may make; it has no file, no network
// and no other process then. It does one job after another, of one document at a time, and gets the bytes with the
// request, through a read-only descriptor, or by asking for blocks. Answers are frames, which the server reads as it
// reads a stranger's bytes: a child that was taken over can only lie about its own document.
//
// If a child fails because of a document, the job's error is a *Death with one sentence that blames the document. If it
// was ended by others, the job is tried again with another child; after the third, the error is in ErrOurs, as when no
// child can be started.
package apart

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Argument is the only argument of a child.
const Argument = "examine"

// ErrOurs is in the chain of errors that are this machine's trouble and no document's.
var ErrOurs = errors.New("files cannot be examined now")

// ErrCost is in the chain of errors about a document that ended the process that examined it.
var ErrCost = errors.New("the file costs more than examining it may take")

// ErrBusy is in the chain of Open's error if all places of its lane stayed taken.
var ErrBusy = errors.New("too many files are being examined")

// Body is a document's bytes. R may also have Head, as files of package spool do, and Reopen, which returns the file
// with these bytes for reading only: a child gets short bodies with the request and others as a descriptor, where there
// is one.
type Body struct {
	Size int64
	R    io.ReaderAt
}

type headed interface {
	Head(n int) ([]byte, error)
}

// Task is a job as the server gives it.
type Task struct {
	Op   string
	Args []byte        // the operation's own
	Time time.Duration // that the operation may take; the child is ended after twice of it by the processor, and more by the clock

	// Slow says that who gets the parts may be slow: only the processor time is limited, and the time between two
	// frames.
	Slow bool

	// Part is called with the parts of a streamed answer; nil if none may come. An error of it ends the job, and is
	// that of Do.
	Part func([]byte) error
	// Reply answers the operation's questions; nil if it may ask none. Both are called by the goroutine that called Do.
	Reply func([]byte) ([]byte, error)
}

// Failure is the error of an operation, as it came from a child.
type Failure struct {
	Code  string // the operation's own, "" for none
	Text  string // at most maxText bytes in one line
	Panic bool
	Stack string // of the panic, for the log
	Data  []byte // the operation's own
}

func (f *Failure) Error() string { return f.Text }

// Death is the error of a job whose child ended.
type Death struct {
	Why   string // a sentence without a full stop
	Blame bool   // it ended because of the document
	Last  string // the beginning of what the child wrote to its standard error
}

func (d *Death) Error() string { return d.Why }

// Unwrap returns ErrCost, or ErrOurs if the document is not to blame.
func (d *Death) Unwrap() error {
	if d.Blame {
		return ErrCost
	}
	return ErrOurs
}

// size returns a number of bytes for people.
func size(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }
