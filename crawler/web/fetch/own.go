package fetch

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Trouble is a kind of OwnTrouble.
type Trouble string

// The kinds of trouble of this machine.
const (
	TroubleDescriptors Trouble = "too few file descriptors"
	TroubleMemory      Trouble = "too little memory"
	TroublePorts       Trouble = "no free local port"
	TroubleDisk        Trouble = "the spool cannot be written"
	TroubleResolver    Trouble = "the name server cannot be reached"
	TroubleNetwork     Trouble = "the network is down"
)

// OwnTrouble is the error of a fetch that failed because of this machine. It says nothing about the host: whoever gets it
// records nothing, and tries again later.
type OwnTrouble struct {
	Kind Trouble
	Err  error
}

func (o *OwnTrouble) Error() string { return fmt.Sprintf("%s: %v", o.Kind, o.Err) }
func (o *OwnTrouble) Unwrap() error { return o.Err }

// troubleOf are the error numbers that are this machine's whatever was asked for. Which addresses there is no route to
// depends on the host (an IPv6 address on a machine without IPv6), so ENETUNREACH and EHOSTUNREACH are not among them.
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

// resolverGone are what a look-up says if the name server itself could not be reached. The net package gives these as
// text only.
var resolverGone = []syscall.Errno{syscall.ECONNREFUSED, syscall.ENETUNREACH, syscall.EHOSTUNREACH}

// TroubleIn returns what in an error, of whatever work beside fetching, is the trouble of this machine; nil where nothing
// is.
func TroubleIn(err error) *OwnTrouble { return ownTrouble(err) }

// ownTrouble returns what in an error is the trouble of this machine; nil where nothing is.
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
