package catalog

import (
	"errors"
	"fmt"
	"strings"
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

// ByRetention is Withdrawal.By of versions that a rule of retention took away.
const ByRetention = "retention"

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
	ErrBadOrder       = errors.New("not an order that can be carried out")
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

// WithdrawalOrder orders the withdrawal of versions. JSON names are stable.
type WithdrawalOrder struct {
	Targets []string `json:"targets"` // IRIs and ids of versions, and URLs for all versions of a file
	Reason  string   `json:"reason"`
	Basis   string   `json:"basis,omitempty"`
	By      string   `json:"-"`
	Status  int      `json:"status,omitempty"` // 451 or 410; 0 means 451 if there is a basis, otherwise 410
	Copies  bool     `json:"copies,omitempty"` // also the other versions with the same bytes
	DryRun  bool     `json:"dryRun,omitempty"`
}

// maxReason bounds the reason and the basis of a withdrawal, in bytes.
const maxReason = 2000

// Withdrawal returns what is recorded with the versions. The error says what is wrong with the order.
func (o WithdrawalOrder) Withdrawal(at time.Time) (Withdrawal, error) {
	w := Withdrawal{At: at.UTC(), Reason: strings.TrimSpace(o.Reason), Basis: strings.TrimSpace(o.Basis), By: o.By, Status: o.Status}
	switch {
	case len(o.Targets) == 0:
		return w, errors.New("there is nothing to withdraw: name versions or URLs")
	case w.Reason == "":
		return w, errors.New("a withdrawal needs a reason, which everybody can read")
	case len(w.Reason) > maxReason || len(w.Basis) > maxReason:
		return w, fmt.Errorf("a reason or legal basis of more than %d bytes", maxReason)
	case w.Status == 0 && w.Basis != "":
		w.Status = 451
	case w.Status == 0:
		w.Status = 410
	case w.Status != 451 && w.Status != 410:
		return w, fmt.Errorf("status %d: expected 451 (for legal reasons) or 410 (gone)", w.Status)
	}
	return w, nil
}

// WithdrawnVersion is a version that was withdrawn, or would be. JSON names are stable.
type WithdrawnVersion struct {
	IRI  string    `json:"version"`
	URL  string    `json:"url"`
	At   time.Time `json:"fetched"`
	Size int64     `json:"size"`
}

// WithdrawnBytes are bytes that were withdrawn. JSON names are stable.
type WithdrawnBytes struct {
	Version string `json:"version"` // id of a version that had them
	URL     string `json:"url,omitempty"`
	SHA256  string `json:"sha256"` // hexadecimal
	Withdrawal
}

// Withdrawn is the answer to an order. JSON names are stable.
type Withdrawn struct {
	Versions  []WithdrawnVersion `json:"withdrawn"`
	DryRun    bool               `json:"dryRun,omitempty"`
	Freed     int64              `json:"freed,omitempty"`     // with DryRun: bytes of packs that only these versions use
	Rewritten []CopyElsewhere    `json:"rewritten,omitempty"` // directories of WARC files that lose records of the bytes, if they have any
	Elsewhere []CopyElsewhere    `json:"elsewhere,omitempty"` // copies that may have the bytes and that a withdrawal does not change
}

// CopyElsewhere is a copy of the archive, or of what it fetched. JSON names are stable.
type CopyElsewhere struct {
	Kind string    `json:"kind"` // backup, ocfl, bag, zip, rocrate, export; warc and answers are changed
	Name string    `json:"name"` // path of a file or directory, or a sentence about who has the copy
	At   time.Time `json:"at"`
}
