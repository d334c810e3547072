package transparency

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/disk"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// The protocol between logs and witnesses is C2SP tlog-witness: a log posts its checkpoint, with the proof that it
// contains the one that the witness cosigned before, and gets a cosignature.

const (
	addCheckpoint  = "add-checkpoint"
	sizeType       = "text/x.tlog.size"
	maxProofHashes = 63
	maxSubmission  = maxNote + (maxProofHashes+2)*64
	submissionTime = 30 * time.Second // for a request to come
)

// Errors of WitnessService.Add.
var (
	errUnknownLog   = errors.New("this witness does not watch the log")
	errNotSigned    = errors.New("the checkpoint has no signature of a key of the log that this witness knows")
	errInconsistent = errors.New("the proof does not show that the log contains the checkpoint that this witness cosigned before")
)

// conflictError says that a submission does not begin with the checkpoint that was cosigned last.
type conflictError struct{ size int64 } // of that checkpoint

func (e conflictError) Error() string {
	return fmt.Sprintf("this witness has cosigned a tree of %d versions", e.size)
}

// WitnessService cosigns the checkpoints of some logs. It answers POST requests to …/add-checkpoint, and GET requests
// with its key. What it has cosigned is durable before it answers, in a file for each log, so that it never cosigns two
// trees that do not contain one another, whenever it is killed.
type WitnessService struct {
	Keys []note.Verifier // of the logs
	By   *Cosigner
	Dir  string // of the files; it must exist
	// Report is called with each log that was refused because of what it is, and why; nil for none.
	Report func(origin string, err error)

	mu sync.Mutex // held while cosigning
}

// SeenFile returns the file, below a directory, of the checkpoint that a witness saw last of a log.
func SeenFile(dir, origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return filepath.Join(dir, fmt.Sprintf("%x.checkpoint", sum[:16]))
}

// ServeHTTP answers as the protocol has it.
func (s *WitnessService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	isAdd := strings.HasSuffix(r.URL.Path, "/"+addCheckpoint)
	switch {
	case !isAdd && r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		fmt.Fprintf(w, "A witness of transparency logs (C2SP tlog-witness). Its key:\n%s\n", s.By.Public)
		return
	case !isAdd:
		http.Error(w, "this witness answers POST /"+addCheckpoint, http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "expected POST", http.StatusMethodNotAllowed)
		return
	}
	limited := http.NewResponseController(w)
	_ = limited.SetReadDeadline(time.Now().Add(submissionTime)) // what cannot have deadlines is a test
	_ = limited.SetWriteDeadline(time.Now().Add(2 * submissionTime))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxSubmission))
	if err != nil {
		http.Error(w, "the request is too long, or has not come", http.StatusRequestEntityTooLarge)
		return
	}
	answer, err := s.Add(body)
	if conflict, ok := errors.AsType[conflictError](err); ok {
		w.Header().Set("Content-Type", sizeType)
		w.WriteHeader(http.StatusConflict)
		fmt.Fprintf(w, "%d\n", conflict.size)
		return
	}
	switch {
	case err == nil:
		_, _ = w.Write(answer)
	case errors.Is(err, errUnknownLog):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errors.Is(err, errNotSigned):
		http.Error(w, err.Error(), http.StatusForbidden)
	case errors.Is(err, errInconsistent):
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	case errors.Is(err, ErrNote):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		http.Error(w, "the witness cannot cosign now", http.StatusInternalServerError)
	}
}

// Add answers a submission with signature lines.
func (s *WitnessService) Add(submission []byte) (lines []byte, err error) {
	old, proof, signed, err := parseSubmission(submission)
	if err != nil {
		return nil, err
	}
	origin, _, err := ParseNote(signed)
	if err != nil {
		return nil, err
	}
	var keys []note.Verifier
	for _, k := range s.Keys {
		if k.Name() == origin {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errUnknownLog
	}
	_, tree, err := OpenNote(signed, keys)
	if err != nil {
		return nil, errNotSigned
	}
	if old > tree.N {
		return nil, fmt.Errorf("%w: the old size %d is greater than %d", ErrNote, old, tree.N)
	}
	lines, err = s.cosign(origin, tree, old, proof, signed)
	if err != nil && s.Report != nil {
		if _, conflict := errors.AsType[conflictError](err); !conflict {
			s.Report(origin, err)
		}
	}
	return lines, err
}

// cosign compares a tree with the one that was cosigned before, stores it and cosigns it.
func (s *WitnessService) cosign(origin string, tree tlog.Tree, old int64, proof tlog.TreeProof, signed []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := SeenFile(s.Dir, origin)
	unlock, err := lock(file + ".lock")
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, err := seen(file, origin)
	if err != nil {
		return nil, err
	}
	switch {
	case before.N != old:
		return nil, conflictError{before.N}
	case tree.N == old && old > 0 && tree.Hash != before.Hash:
		if s.Report != nil {
			s.Report(origin, fmt.Errorf("%w: it has signed two trees of %d versions", ErrForked, tree.N))
		}
		return nil, conflictError{before.N}
	case tree.N == 0 && tree.Hash != emptyRoot(), (old == 0 || tree.N == old) && len(proof) > 0:
		return nil, errInconsistent
	case old > 0 && tree.N > old && tlog.CheckTree(proof, tree.N, tree.Hash, old, before.Hash) != nil:
		return nil, errInconsistent
	}
	if err := disk.WriteFile(disk.OS{}, file, signed, 0o600); err != nil {
		return nil, err
	}
	sigs, err := s.By.cosign(signed)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, one := range sigs {
		b = fmt.Appendf(b, "— %s %s\n", one.Name, one.Base64)
	}
	return b, nil
}

// seen returns the tree in a file of a witness; an empty one if there is no file.
func seen(file, origin string) (tree tlog.Tree, err error) {
	signed, err := disk.ReadFile(disk.OS{}, file, maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return tree, nil
	}
	if err != nil {
		return tree, err
	}
	before, tree, err := ParseNote(signed)
	switch {
	case err != nil:
		return tree, fmt.Errorf("%s cannot be read: %v", file, err) // not the fault of a request, so its chain ends here
	case before != origin:
		return tree, fmt.Errorf("%s is about the log %s, and this one is %s", file, before, origin)
	}
	return tree, nil
}

// parseSubmission reads the body of a request: the old size, the proof, an empty line, and the signed checkpoint.
func parseSubmission(b []byte) (old int64, proof tlog.TreeProof, signed []byte, err error) {
	bad := func(why string) (int64, tlog.TreeProof, []byte, error) {
		return 0, nil, nil, fmt.Errorf("%w: %s", ErrNote, why)
	}
	head, rest, found := strings.Cut(string(b), "\n\n")
	lines := strings.Split(head, "\n")
	size, ok := strings.CutPrefix(lines[0], "old ")
	old, err = strconv.ParseInt(size, 10, 64)
	if !found || !ok || err != nil || old < 0 || strconv.FormatInt(old, 10) != size {
		return bad("expected a line such as \"old 5\"")
	}
	if len(lines)-1 > maxProofHashes {
		return bad("the proof is too long")
	}
	for _, line := range lines[1:] {
		raw, err := base64.StdEncoding.Strict().DecodeString(line)
		if err != nil || len(raw) != tlog.HashSize {
			return bad("a line of the proof is not a hash")
		}
		proof = append(proof, tlog.Hash(raw))
	}
	return old, proof, []byte(rest), nil
}
