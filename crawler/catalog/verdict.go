package catalog

import "time"

// Verdict says whether a URL may be fetched.
type Verdict struct {
	Allowed   bool
	Temporary bool      // not allowed only because robots.txt cannot be read now
	RetryAt   time.Time // end of a temporary verdict
	Reason    string    // one sentence
	// Class is the error class of the visit if the host could not be reached at all: forbidden target, network, DNS,
	// ... It is "" if the server answered the request for robots.txt with an error.
	Class      ErrorClass
	CrawlDelay time.Duration
	Sitemaps   []string // listed in robots.txt
	Exception  string   // the permission by which robots.txt does not apply, in one sentence; "" for none
}

// Unread reports whether the server answered the request for robots.txt with an error: nothing is known of the URL.
func (v Verdict) Unread() bool { return v.Temporary && v.Class == "" }

// Outcome returns the outcome of a visit that the verdict forbids.
func (v Verdict) Outcome() Outcome {
	switch v.Class {
	case "":
		return RobotsDenied
	case ErrForbiddenTarget:
		return Blocked
	}
	return NoVersion
}
