package dispatch

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/politeness"
)

// Version is the version of all messages. Two processes work together only if theirs are the same.
const Version = 1

// Bounds of messages.
const (
	maxMessage  = 900 << 10 // bytes of one; the usual limit of a server is 1 MiB
	maxGrants   = 32        // leases in an answer
	maxJobs     = 64        // of a lease
	maxText     = 16 << 10  // bytes of a text of a message that is not one of those below
	maxHeaders  = 512 << 10 // bytes of the fields of a response, or a request
	maxPassages = 256       // requests of a visit to its host
	maxRefs     = 4096      // leases in a renewal
	maxHops     = 64
	maxPart     = 64 << 20 // bytes of what is inside a file
)

// ErrMalformed is the error for a message that no sound process of this version sends.
var ErrMalformed = errors.New("a malformed message")

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// Hello is what a worker says first, and whenever the writer's settings have changed.
type Hello struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"` // random, for one process
	Name    string `json:"name"`   // for people: the machine and the process
}

// Welcome answers a Hello: what a worker has to know for all visits.
type Welcome struct {
	Version int           `json:"version"`
	Why     string        `json:"why,omitempty"` // the worker is refused; nothing else is set
	Rev     string        `json:"rev"`           // of the settings; another one, and the worker says Hello again
	Lease   time.Duration `json:"lease"`
	Archive string        `json:"archive"` // its base IRI

	UserAgent  string   `json:"user_agent"`
	Contact    string   `json:"contact"`
	MaxBody    int64    `json:"max_body"`
	Honour     []string `json:"honour,omitempty"`
	ScopeAllow []string `json:"scope_allow,omitempty"`
	ScopeDeny  []string `json:"scope_deny,omitempty"`
	// an object by which a worker sees that it has the same bucket; "" if the writer has none
	Bucket  string `json:"bucket,omitempty"`
	TooMany bool   `json:"too_many,omitempty"` // rules of the scope: the writer visits everything itself
}

// Ask asks for leases.
type Ask struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"`
	Rev     string `json:"rev"`
	Want    int    `json:"want"`
}

// Grants answers an Ask.
type Grants struct {
	Why    string  `json:"why,omitempty"` // nothing is granted
	Hello  bool    `json:"hello,omitempty"`
	Leases []Grant `json:"leases,omitempty"`
}

// Ref names a lease.
type Ref struct {
	Group string `json:"group"`
	Epoch uint64 `json:"epoch"`
}

// Host is what an operator has set for a host, as far as workers may know it.
type Host struct {
	Delay         time.Duration `json:"delay"`
	MaxCrawlDelay time.Duration `json:"max_crawl_delay"`
	MaxBody       int64         `json:"max_body,omitempty"`
}

// Grant is a lease for a worker.
type Grant struct {
	Ref
	Jobs   []Job                   `json:"jobs,omitempty"` // none for a host that was borrowed
	Host   Host                    `json:"host"`
	State  politeness.State        `json:"state"`
	Robots []politeness.RobotsCopy `json:"robots,omitempty"`
}

// Job is one URL to visit.
type Job struct {
	URL          string  `json:"url"`
	Key          string  `json:"key"`
	Format       string  `json:"format,omitempty"`
	MediaType    string  `json:"media_type,omitempty"`
	Accept       string  `json:"accept,omitempty"`
	ETag         string  `json:"etag,omitempty"`
	LastModified string  `json:"last_modified,omitempty"`
	Fetches      int     `json:"fetches,omitempty"`
	Errors       int     `json:"errors,omitempty"`
	Latest       *Latest `json:"latest,omitempty"` // nil if there is no version
}

// Latest is what a visit has to know of the latest version.
type Latest struct {
	Digests   catalog.Digests `json:"digests"`
	ErrorPage string          `json:"error_page,omitempty"`
	Truncated string          `json:"truncated,omitempty"`
	Withdrawn bool            `json:"withdrawn,omitempty"`
}

// Renew lets leases last longer.
type Renew struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"`
	Leases  []Ref  `json:"leases"`
}

// Renewed answers a Renew: the leases that last longer. The others have ended.
type Renewed struct {
	Leases []Ref `json:"leases"`
}

// Borrow asks for a host to which a visit was redirected.
type Borrow struct {
	Version int    `json:"version"`
	Worker  string `json:"worker"`
	Host    string `json:"host"`
	For     Ref    `json:"for"` // the lease of the visit
}

// Borrowed answers a Borrow.
type Borrowed struct {
	Wait  time.Duration `json:"wait,omitempty"` // the host must not be asked for so long; then Grant is not set
	Why   string        `json:"why,omitempty"`
	Own   bool          `json:"own,omitempty"` // only the writer may ask the host
	Grant *Grant        `json:"grant,omitempty"`
}

// Return gives a lease back, or a host that was borrowed.
type Return struct {
	Version  int                     `json:"version"`
	Worker   string                  `json:"worker"`
	Lease    Ref                     `json:"lease"`
	Passages []politeness.Result     `json:"passages,omitempty"` // those that no result has told
	Robots   []politeness.RobotsCopy `json:"robots,omitempty"`
	Wait     time.Duration           `json:"wait,omitempty"` // the host must not be asked for so long
	Why      string                  `json:"why,omitempty"`  // it waits
	Own      string                  `json:"own,omitempty"`  // key of a job that leads to a host which only the writer may ask
}

// Done tells a worker which results were dealt with.
type Done struct {
	Results []Key `json:"results"`
}

// Key names a job of a lease.
type Key struct {
	Ref
	Key string `json:"key"`
}

// Result is what a worker found at one URL. It travels with two other parts: what is inside the file, and the parcel.
type Result struct {
	Version  int                     `json:"version"`
	Worker   string                  `json:"worker"`
	Job      Key                     `json:"job"`
	Last     bool                    `json:"last,omitempty"`     // the worker makes no more requests under this lease
	Passages []politeness.Result     `json:"passages,omitempty"` // requests to the host since the last message
	Robots   []politeness.RobotsCopy `json:"robots,omitempty"`   // fetched since the last message
	Age      time.Duration           `json:"age"`                // since the fetch ended
	Finding  Finding                 `json:"finding"`

	Inside []byte `json:"-"` // as packed.Inside writes it; empty for none
	Parcel []byte `json:"-"` // as content.Wrapper writes it; empty for none, or if Object is set
	Object string `json:"object,omitempty"`
	Size   int64  `json:"object_size,omitempty"` // of the object: the parcel
	Beside string `json:"beside,omitempty"`      // an object that holds Inside

	ObjectInBucket bool `json:"object_in_bucket,omitempty"` // Object is in the bucket rather than in JetStream
	BesideInBucket bool `json:"beside_in_bucket,omitempty"`
}

// Finding is the first half of a visit.
type Finding struct {
	Accept   string   `json:"accept,omitempty"` // what the server was asked for, if not what the job says
	Exchange Exchange `json:"exchange"`
	Body     *Body    `json:"body,omitempty"`    // nil if nothing was received, or nothing is to be known of it
	Fault    string   `json:"fault,omitempty"`   // how this program failed to examine the bytes
	Compare  bool     `json:"compare,omitempty"` // an error page if other URLs of the host have the same bytes
	Kept     *Kept    `json:"kept,omitempty"`    // nil if the body is not to be kept
}

// Body describes what was received.
type Body struct {
	Digests catalog.Digests `json:"digests"`
	CRC32   uint32          `json:"crc32"`
	Size    int64           `json:"size"`
}

// Kept is what is known of a body that is to be kept.
type Kept struct {
	Type     string `json:"type"`
	Charset  string `json:"charset,omitempty"`
	Because  string `json:"because,omitempty"`
	Head     []byte `json:"head,omitempty"` // 8 bytes: which head of a WARC record the digest is of
	Block    []byte `json:"block,omitempty"`
	FileName string `json:"file_name,omitempty"`
}

// Exchange is what is recorded of a fetch.
type Exchange struct {
	FinalURL       string             `json:"final_url"`
	Took           time.Duration      `json:"took"`
	Latency        time.Duration      `json:"latency,omitempty"`
	Outcome        catalog.Outcome    `json:"outcome,omitempty"` // "" if the body is to be kept
	ErrorClass     catalog.ErrorClass `json:"error_class,omitempty"`
	Status         int                `json:"status,omitempty"`
	Why            string             `json:"why,omitempty"`
	Exception      string             `json:"exception,omitempty"`
	TLS            string             `json:"tls,omitempty"`
	Unverified     bool               `json:"unverified,omitempty"`
	ContentType    string             `json:"content_type,omitempty"`
	ETag           string             `json:"etag,omitempty"`
	LastModified   string             `json:"last_modified,omitempty"`
	RequestHeader  http.Header        `json:"request_header,omitempty"`
	ResponseHeader http.Header        `json:"response_header,omitempty"`
	RemoteAddr     string             `json:"remote_addr,omitempty"`
	Received       int64              `json:"received,omitempty"`
	Hops           []Hop              `json:"hops,omitempty"`
}

// Hop is one request of a fetch.
type Hop struct {
	URL    string        `json:"url"`
	Status int           `json:"status"`
	Before time.Duration `json:"before"` // the end of the fetch
	Head   []byte        `json:"head,omitempty"`
	HTTP2  bool          `json:"http2,omitempty"`
	TLS    *catalog.TLS  `json:"tls,omitempty"`
}

// The form of a message with results: resultMagic, and of each result its length (4 bytes, big-endian) and itself: the
// length of its JSON text (4 bytes), the text, the length of what is inside (4 bytes), that, and the parcel.
const resultMagic = "ODRES\x02"

// Encode returns a result as EncodeResults takes it.
func (r *Result) Encode() ([]byte, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("dispatch: a result: %w", err)
	}
	b := make([]byte, 0, 8+len(head)+len(r.Inside)+len(r.Parcel))
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(head))), head...)
	b = append(binary.BigEndian.AppendUint32(b, uint32(len(r.Inside))), r.Inside...)
	return append(b, r.Parcel...), nil
}

// EncodeResults returns results as they travel.
func EncodeResults(results [][]byte) []byte {
	size := len(resultMagic)
	for _, r := range results {
		size += 4 + len(r)
	}
	b := append(make([]byte, 0, size), resultMagic...)
	for _, r := range results {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(r))), r...)
	}
	return b
}

// DecodeResults reads a message with results. Their parts refer to b. bad has an error, which wraps ErrMalformed, for
// each result that is left out; what comes behind one whose length is wrong is left out with it.
func DecodeResults(b []byte) (results []*Result, bad []error) {
	rest, ok := cut(b, resultMagic)
	if !ok {
		return nil, []error{malformed("it does not begin as results of version %d", Version)}
	}
	for n := 0; len(rest) > 0; n++ {
		var one []byte
		if one, rest, ok = counted(rest); !ok || n == maxResultsInOne {
			return results, append(bad, malformed("results that are cut off, or too many"))
		}
		if r, err := decodeResult(one); err != nil {
			bad = append(bad, err)
		} else {
			results = append(results, r)
		}
	}
	return results, bad
}

func decodeResult(b []byte) (*Result, error) {
	head, rest, ok := counted(b)
	if !ok {
		return nil, malformed("its text is cut off")
	}
	r := &Result{}
	if err := decode(head, r); err != nil {
		return nil, err
	}
	if r.Inside, r.Parcel, ok = counted(rest); !ok {
		return nil, malformed("what is inside is cut off")
	}
	return r, r.check()
}

func cut(b []byte, magic string) (rest []byte, ok bool) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, false
	}
	return b[len(magic):], true
}

func counted(b []byte) (part, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := uint64(binary.BigEndian.Uint32(b))
	if b = b[4:]; n > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}

// decode reads a JSON text of a message.
func decode(text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return malformed("%.300v", err)
	}
	return nil
}
