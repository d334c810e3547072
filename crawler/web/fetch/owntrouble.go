package fetch

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Trouble is the kind of an OwnTrouble.
type Trouble string

// The kinds of trouble of this machine.
const (
	TroubleDescriptors Trouble = "too few file descriptors"
	TroubleMemory      Trouble = "too little memory"
	TroublePorts       Trouble = "no free local port"
	TroubleDisk        Trouble = "the spool cannot be written"
	TroubleResolver    Trouble = "the name server cannot be reached"
	TroubleNetwork     Trouble = "the network is down"
	TroubleExamining   Trouble = "what was fetched cannot be examined"
)

// OwnTrouble is the error of a fetch that failed because of this machine. It says nothing about the host. The caller
// should record nothing and try again later.
type OwnTrouble struct {
	Kind Trouble
	Err  error
}

func (o *OwnTrouble) Error() string { return fmt.Sprintf("%s: %v", o.Kind, o.Err) }
func (o *OwnTrouble) Unwrap() error { return o.Err }

// troubleOf has the error numbers that always mean trouble of this machine. ENETUNREACH and EHOSTUNREACH are not among
// them, since a route may be missing to some hosts only (an IPv6 address on a machine without IPv6).
var troubleOf = []struct {
	errno syscall.Errno
	kind  Trouble
}{
	{syscall.EMFILE, TroubleDescriptors},
	{syscall.ENFILE, TroubleDescriptors},
	{syscall.ENOMEM, TroubleMemory},
	{syscall.ENOBUFS, TroubleMemory},
	{syscall.ENETDOWN, TroubleNetwork},
}

// resolverGone are parts of the message of a lookup that could not reach the name server. Package net has them as text
// only.
var resolverGone = []syscall.Errno{syscall.ECONNREFUSED, syscall.ENETUNREACH, syscall.EHOSTUNREACH}

// TroubleIn returns the trouble of this machine that caused an error, of fetching or of other work, or nil.
func TroubleIn(err error) *OwnTrouble { return ownTrouble(err) }

// ownTrouble returns the trouble of this machine that caused an error, or nil.
func ownTrouble(err error) *OwnTrouble {
	var known *OwnTrouble
	if errors.As(err, &known) {
		return known
	}
	for _, t := range troubleOf {
		if errors.Is(err, t.errno) {
			return &OwnTrouble{t.kind, err}
		}
	}
	var dns *dnsError
	if !errors.As(err, &dns) {
		return nil
	}
	text := err.Error()
	for _, t := range troubleOf {
		if strings.Contains(text, t.errno.Error()) {
			return &OwnTrouble{t.kind, err}
		}
	}
	for _, errno := range resolverGone {
		if strings.Contains(text, errno.Error()) {
			return &OwnTrouble{TroubleResolver, err}
		}
	}
	return nil
}
