package protocol

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"odarchive/sparqlapi/operate/access"
	"odarchive/triplestore/sparql"
)

// spool is the way of an answer to its reader. What a query writes goes to a small buffer, from which a goroutine sends
// it. If the reader is slower than the query, the next megabytes go to a temporary file, so that the query ends and
// gives up its place and its memory. If the answer is longer than that, or there is no room, the query waits without
// its place.
//
// As long as nothing is sent, the answer may still become another one.
type spool struct {
	w      http.ResponseWriter
	place  *access.QueryGate
	client string
	budget *access.Budget
	temp   func(size int64) (*sparql.TempFile, error)
	stall  time.Duration // how long the query waits for the reader before it uses the file, in all
	buf    []byte        // of the sender
	ended  bool          // finish or abort has been called

	mu      sync.Mutex // guards what follows
	changed *sync.Cond // there is more to send, or something has been sent
	mem     []byte     // what to send next
	file    *sparql.TempFile
	held    int64 // bytes reserved in budget, those of the file
	noFile  bool  // there are no temporary files
	flush   bool  // the sender flushes when it has sent everything
	done    bool  // nothing more comes
	err     error // why sending ended
	sending bool  // the sender has been started
	sent    chan struct{}
}

const (
	// spoolMemory is how much of an answer is kept in memory.
	spoolMemory = 64 << 10
	// spoolAhead is how much of an answer is kept in its file. Computing more than that for a reader who may never want
	// it would cost others the processors and the disk.
	spoolAhead = 16 << 20
	// maxStall is how long a query waits for its reader, in all, before the file is used.
	maxStall = 500 * time.Millisecond
	// pieceSize is how much is sent at a time.
	pieceSize = 32 << 10
	// crowdedRate is how many bytes a second a reader has to accept when much of the room is used, on average, and
	// crowdedAfter the time after which that is asked.
	crowdedRate  = 16 << 10
	crowdedAfter = time.Minute
)

func newSpool(w http.ResponseWriter, place *access.QueryGate, client string, budget *access.Budget,
	temp func(size int64) (*sparql.TempFile, error)) *spool {
	s := &spool{w: w, place: place, client: client, budget: budget, temp: temp, stall: maxStall, sent: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// Header and WriteHeader make a spool an http.ResponseWriter. The status is always 200.
func (s *spool) Header() http.Header { return s.w.Header() }
func (s *spool) WriteHeader(int)     {}

// started reports whether something may have been sent.
func (s *spool) started() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sending
}

// Write takes all of p, or returns why sending has ended.
func (s *spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil {
		if s.file == nil || s.file.Len() == 0 {
			if len(s.mem)+len(p) <= spoolMemory || len(s.mem) == 0 {
				s.mem = append(s.mem, p...)
				s.changed.Broadcast()
				return len(p), nil
			}
			s.start()
			if s.wait() {
				continue
			}
		}
		ok, err := s.put(p)
		if err != nil {
			return 0, err
		}
		if ok {
			s.changed.Broadcast()
			return len(p), nil
		}
		if err := s.park(); err != nil {
			return 0, err
		}
	}
	return 0, s.err
}

// wait waits for the sender, and returns false if it has done so long enough.
func (s *spool) wait() bool {
	if s.stall <= 0 {
		return false
	}
	began := time.Now()
	over := time.AfterFunc(s.stall, func() { // under the lock, so that it cannot come before Wait
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	for n := len(s.mem); len(s.mem) == n && s.err == nil && time.Since(began) < s.stall; {
		s.changed.Wait()
	}
	over.Stop()
	s.stall -= time.Since(began)
	return true
}

// put writes p to the file. It returns false if there is no room.
func (s *spool) put(p []byte) (ok bool, err error) {
	if s.file == nil && !s.noFile {
		if s.file, err = s.temp(spoolAhead); err != nil {
			return false, err
		}
		s.noFile = s.file == nil
	}
	n := int64(len(p))
	if s.noFile || s.budget.Reserve(s.client, n) != nil {
		return false, nil
	}
	before := s.file.Size()
	ok, err = s.file.Append(p)
	grown := s.file.Size() - before
	s.budget.Release(s.client, n-grown)
	s.held += grown
	return ok, err
}

// errReader is the error of an answer whose reader is so slow that others need what it holds.
var errReader = errors.New("protocol: the reader of the answer is too slow")

// waiting returns how many bytes the file has for the reader.
func (s *spool) waiting() int64 {
	if s.file == nil {
		return 0
	}
	return s.file.Len()
}

// park waits for the sender without a place for the query.
func (s *spool) park() error {
	if s.place.Park() != nil {
		return errReader
	}
	for n, before := len(s.mem), s.waiting(); len(s.mem) == n && (before == 0 || s.waiting() > before/2) && s.err == nil; {
		s.changed.Wait()
	}
	s.mu.Unlock()
	err := s.place.Resume()
	s.mu.Lock()
	return err
}

// Flush sends soon what has been written so far.
func (s *spool) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush = true
	s.start()
	s.changed.Broadcast()
}

// start starts the sender. From then on, only the sender uses w.
func (s *spool) start() {
	if !s.sending {
		s.sending = true
		go s.send() // ends when everything is sent; finish and abort wait for that
	}
}

func (s *spool) send() {
	defer close(s.sent)
	s.buf = make([]byte, pieceSize)
	began, total := time.Now(), 0
	for {
		piece, flush, err := s.next()
		switch {
		case err != nil:
		case flush:
			err = http.NewResponseController(s.w).Flush()
			if errors.Is(err, http.ErrNotSupported) {
				err = nil
			}
		case len(piece) == 0:
			return
		default:
			_, err = s.w.Write(piece)
			total += len(piece)
			if took := time.Since(began); err == nil && took > crowdedAfter && float64(total) < crowdedRate*took.Seconds() && s.crowds() {
				err = errReader
			}
		}
		if err != nil {
			s.fail(err)
			return
		}
	}
}

// crowds reports whether others need the room that the answer takes.
func (s *spool) crowds() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held > 0 && s.budget.Crowded()
}

// next waits for something to send. It returns nothing at the end.
func (s *spool) next() (piece []byte, flush bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil {
		if n := copy(s.buf, s.mem); n > 0 {
			s.mem = s.mem[:copy(s.mem, s.mem[n:])]
			s.changed.Broadcast()
			return s.buf[:n], false, nil
		}
		if s.file != nil && s.file.Len() > 0 {
			n, err := s.file.Read(s.buf)
			if s.file.Len() == 0 {
				s.budget.Release(s.client, s.held)
				s.held = 0
			}
			s.changed.Broadcast()
			return s.buf[:n], false, err
		}
		if s.flush && !s.done {
			s.flush = false
			return nil, true, nil
		}
		if s.done {
			return nil, false, nil
		}
		s.changed.Wait()
	}
	return nil, false, s.err
}

func (s *spool) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
	s.changed.Broadcast()
}

// finish waits until everything is sent. The query should have given up what it holds.
func (s *spool) finish() error {
	s.mu.Lock()
	s.done = true
	s.changed.Broadcast()
	sending, err := s.sending, s.err
	s.mu.Unlock()
	if err == nil && !sending {
		_, err = s.w.Write(s.mem)
		s.mem = nil
	}
	if sending {
		<-s.sent
		err = s.err // the sender has ended
	}
	s.ended = true
	s.close()
	return err
}

// abort ends sending at once. What has not been sent is lost. It does nothing after finish.
func (s *spool) abort() {
	if s.ended {
		return
	}
	s.ended = true
	s.fail(http.ErrAbortHandler)
	if s.started() {
		http.NewResponseController(s.w).SetWriteDeadline(time.Now()) // fails for writers that do not wait
		<-s.sent
	}
	s.close()
}

// close gives back the file and its space.
func (s *spool) close() {
	s.file.Close()
	if s.held > 0 {
		s.budget.Release(s.client, s.held)
		s.held = 0
	}
}
