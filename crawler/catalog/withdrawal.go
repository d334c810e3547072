package catalog

import (
	"errors"
	"fmt"
	"time"
)

// Withdrawal says when and why the bytes of a version were taken away. The version's record stays.
type Withdrawal struct {
	At     time.Time `json:"at"`
	Reason string    `json:"reason"`          // in a sentence, for everybody to read
	Basis  string    `json:"basis,omitempty"` // legal basis, "" if none was named
	By     string    `json:"by,omitempty"`    // who ordered it; for the operator only
	Status int       `json:"status"`          // of HTTP answers: 451 for legal reasons, otherwise 410
}

// Sentence says what happened to whoever asks for the bytes.
func (w Withdrawal) Sentence() string {
	s := fmt.Sprintf("It was withdrawn on %s: %s", w.At.UTC().Format("2 January 2006"), w.Reason)
	if w.Basis != "" {
		s += " (legal basis: " + w.Basis + ")"
	}
	return s
}

// Errors that a *WithdrawnError is (errors.Is).
var (
	ErrWithdrawn      = errors.New("withdrawn")
	ErrWithdrawnByLaw = errors.New("withdrawn for legal reasons") // if the status is 451
)

// WithdrawnError is the error of reading the bytes of a version that was withdrawn, or what was inside it.
type WithdrawnError struct {
	Version string // its id
	Withdrawal
}

func (e *WithdrawnError) Error() string {
	return fmt.Sprintf("version %s is not available. %s", e.Version, e.Sentence())
}

// Is reports whether the error is ErrWithdrawn, or ErrWithdrawnByLaw.
func (e *WithdrawnError) Is(target error) bool {
	return target == ErrWithdrawn || target == ErrWithdrawnByLaw && e.Status == 451
}

// IsData reports whether a version has bytes that are data: it is neither an error page nor withdrawn.
func (v Version) IsData() bool { return v.ErrorPage == "" && v.Withdrawn == nil }

// Available returns a *WithdrawnError if the version was withdrawn.
func (v Version) Available() error {
	if v.Withdrawn == nil {
		return nil
	}
	return &WithdrawnError{v.ID, *v.Withdrawn}
}
