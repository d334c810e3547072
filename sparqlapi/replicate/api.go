package replicate

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/kv"
)

// Bounds of one answer with records.
const (
	maxRecords = 8 << 20 // bytes of records, of which the last may be larger
	maxWait    = 20 * time.Second
)

// API answers the requests of replicas.
type API struct {
	DB       *kv.DB
	Content  *content.Store
	Identity func() (Identity, error) // without Version, Log and Number
	// Lets reports whether replicas may have a write set. nil lets them have what readers see.
	Lets func(number uint64) bool
	// Stopped, if not nil, returns why replicas get nothing any more: this archive is not written any more, and another
	// one is. They must not take it for the writer.
	Stopped func() error

	set     string // makes PackList.Set that of this process
	cursors cursors
}

// New returns an API.
func New(db *kv.DB, files *content.Store, identity func() (Identity, error)) *API {
	return &API{DB: db, Content: files, Identity: identity, set: rand.Text()[:8]}
}

// Who answers GET /replicate: which archive this is.
func (a *API) Who(w http.ResponseWriter, r *http.Request) error {
	if err := a.stopped(); err != nil {
		return err
	}
	id, err := a.Identity()
	if err != nil {
		return err
	}
	at := a.DB.Position()
	id.Version, id.Log, id.Number = Version, hex.EncodeToString(at.Log[:]), at.Number
	return sendJSON(w, id)
}

func (a *API) stopped() error {
	if a.Stopped == nil {
		return nil
	}
	return a.Stopped()
}

func sendJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	return json.NewEncoder(w).Encode(v)
}

// State answers GET /replicate/state: the whole database, as a state file, with ranges. The header fields of its
// position are Replica-Log, Replica-Number and Replica-Sum. An empty state has no bytes. The log is kept for the
// replica ?name=.
func (a *API) State(w http.ResponseWriter, r *http.Request) error {
	s, err := a.DB.OpenState(r.Context())
	if err != nil {
		return unavailable(err)
	}
	defer s.Close()
	if name := readerName(r); name != "" {
		a.DB.Hold(name, s.Position.Number)
	}
	if err := a.awaitVisible(r.Context(), s.Position.Number); err != nil {
		return unavailable(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("Replica-Log", hex.EncodeToString(s.Position.Log[:]))
	h.Set("Replica-Number", strconv.FormatUint(s.Position.Number, 10))
	h.Set("Replica-Sum", fmt.Sprintf("%08x", s.Position.Sum))
	h.Set("ETag", fmt.Sprintf(`"%x-%d"`, s.Position.Log, s.Position.Number))
	if s.Size == 0 {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(s, 0, s.Size))
	return nil
}

// Log answers GET /replicate/log: the records behind the position ?log=&after=&sum=, for the replica ?name=. If there
// are none, it waits up to ?wait= milliseconds. 410 means that the log does not reach back that far, 409 that the
// position is one of another history: then the replica begins again with State. The last frame is an End.
func (a *API) Log(w http.ResponseWriter, r *http.Request) error {
	if err := a.stopped(); err != nil {
		return err
	}
	q := r.URL.Query()
	at, err := ParsePosition(q)
	if err != nil {
		return problem.Wrap(http.StatusBadRequest, "Not a position", err)
	}
	wait, err := strconv.ParseUint(q.Get("wait"), 10, 32)
	if err != nil && q.Has("wait") {
		return problem.New(http.StatusBadRequest, "Not a time", "expected wait= in milliseconds")
	}
	name := readerName(r)
	if name != "" {
		a.DB.Hold(name, at.Number)
	}
	a.waitForMore(r, at, min(time.Duration(wait)*time.Millisecond, maxWait))
	var body bytes.Buffer
	last, more, err := a.records(name, at, &body)
	if err == nil {
		err = a.awaitVisible(r.Context(), last)
	}
	switch {
	case errors.Is(err, kv.ErrLogTrimmed):
		return problem.Wrap(http.StatusGone, "The log does not reach back that far", err)
	case errors.Is(err, kv.ErrOtherHistory):
		return problem.Wrap(http.StatusConflict, "The archive has another history", err)
	case err != nil:
		return unavailable(err)
	}
	end := End{Number: a.DB.Position().Number, More: more}
	if end.Open, err = a.Content.OpenPacks(); err != nil { // after the records were read
		return unavailable(err)
	}
	end.Set = a.setName() // last: a pack that is closed meanwhile is in both, and in none the other way round
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	body.Write(appendFrame(nil, frameEnd, text))
	w.Header().Set("Content-Length", strconv.Itoa(body.Len()))
	_, _ = body.WriteTo(w) // an error means that the replica has left
	return nil
}

// waitForMore waits until there are records behind a position.
func (a *API) waitForMore(r *http.Request, at kv.Position, wait time.Duration) {
	more := a.DB.More()
	if a.DB.Position() != at || wait <= 0 {
		return
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case <-more:
	case <-late.C:
	case <-r.Context().Done():
	}
}

// awaitVisible waits until readers of the database see a write set, and replicas may have it. A record is in the log
// some milliseconds before. If the sizes of packs were read then, they would lack the bytes that the record names; and
// if the writer died, the replica would never get them.
func (a *API) awaitVisible(ctx context.Context, number uint64) error {
	const patience = 10 * time.Second
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); a.DB.Committed() < number || a.Lets != nil && !a.Lets(number); {
		if time.Since(began) > patience { // the database has stopped, and shows it when it is opened again; or the backup is away
			return fmt.Errorf("write set %d is not visible yet, or not in the continuous backup", number)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// records writes the frames of the records behind a position, and returns the number of the last one. more reports
// whether there are more of them.
func (a *API) records(name string, at kv.Position, body *bytes.Buffer) (last uint64, more bool, err error) {
	c, err := a.cursors.take(a.DB, name, at)
	if err != nil {
		return 0, false, err
	}
	for body.Len() < maxRecords {
		r, ok, err := c.Next()
		if err != nil {
			c.Close()
			return 0, false, err
		}
		if !ok {
			at = c.Position()
			a.cursors.put(name, c)
			return at.Number, false, nil
		}
		head := binary.LittleEndian.AppendUint64(make([]byte, 0, 12), r.Number)
		head = binary.LittleEndian.AppendUint32(head, r.Sum)
		body.Write(appendFrame(nil, frameRecord, head, r.Body))
	}
	at = c.Position()
	a.cursors.put(name, c)
	return at.Number, a.DB.Position().Number > at.Number, nil
}

// Packs answers GET /replicate/packs with the files that hold bytes.
func (a *API) Packs(w http.ResponseWriter, _ *http.Request) error {
	list := PackList{Set: a.setName()}
	var err error
	if list.Files, err = a.Content.PackFiles(); err != nil {
		return err
	}
	return sendJSON(w, list)
}

func (a *API) setName() string { return fmt.Sprintf("%s-%d", a.set, a.Content.PackVersion()) }

// Pack answers GET /replicate/packs/{name} with the committed bytes of a file, with ranges.
func (a *API) Pack(w http.ResponseWriter, r *http.Request) error {
	f, size, err := a.Content.OpenPackFile(target.Value(r, "name"))
	if err != nil {
		return err
	}
	defer f.Close()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(f, 0, size))
	return nil
}

// readerName returns the name of a replica: of its token and what it calls itself. It is "" if it has none.
func readerName(r *http.Request) string {
	name := r.URL.Query().Get("name")
	if name == "" || len(name) > 100 {
		return ""
	}
	c, _ := access.Of(r.Context())
	return c.Name + "/" + name
}

func unavailable(err error) error {
	if errors.Is(err, kv.ErrClosed) {
		return &problem.Error{Status: http.StatusServiceUnavailable, Title: "The archive is closing", RetryAfter: time.Second}
	}
	return err
}
