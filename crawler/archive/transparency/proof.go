package transparency

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/exchange/timestamp"
	"odarchive/ns"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// ProofType is the first line of a proof, as C2SP tlog-proof has it, and ProofSuffix the end of its file's name.
const (
	ProofType   = "c2sp.org/tlog-proof@v1"
	ProofSuffix = ".tlog-proof"
)

// ErrNoProof is in the chain of errors about proofs that do not prove what they should.
var ErrNoProof = errors.New("the proof does not hold")

// Proof shows that a leaf is in a signed tree.
type Proof struct {
	Subject    Subject
	Index      int64       // of the leaf
	Hashes     []tlog.Hash // from the leaf's sibling to the root's child
	Checkpoint []byte      // signed note
}

// Subject is what a proof is about. Nothing of it is believed unless the leaf commits to it.
type Subject struct {
	Version string   `json:"version"`       // IRI
	URL     string   `json:"url,omitempty"` // "" if the URL can no longer be shown
	Head    string   `json:"head,omitempty"`
	Leaf    []byte   `json:"leaf"`
	Keys    []string `json:"keys,omitempty"` // verifier keys, to be compared with those that the archive publishes
	// TimeStamp is a response of a time-stamping authority (RFC 3161, DER) over the checkpoint's body.
	TimeStamp []byte `json:"timestamp,omitempty"`
}

// SetHead sets the digest of the HTTP head.
func (s *Subject) SetHead(digest [32]byte) {
	if digest != [32]byte{} {
		s.Head = hex.EncodeToString(digest[:])
	}
}

func (s Subject) head() (digest [32]byte, err error) {
	if s.Head == "" {
		return digest, nil
	}
	raw, err := hex.DecodeString(s.Head)
	if err != nil || len(raw) != len(digest) {
		return digest, fmt.Errorf("%w: %.80q is not a digest", ErrNoProof, s.Head)
	}
	return [32]byte(raw), nil
}

// Prove returns a proof that the tree of a checkpoint has the leaf with an index. The error is ErrNotLogged if the tree
// is too small.
func (t Txn) Prove(index int64, c Checkpoint, subject Subject) (p Proof, err error) {
	if index >= c.Size {
		return p, fmt.Errorf("%w at the checkpoint of %d versions", ErrNotLogged, c.Size)
	}
	subject.TimeStamp = c.TimeStamp
	hashes, err := tlog.ProveRecord(c.Size, index, t)
	return Proof{subject, index, hashes, c.Note}, err
}

// Format returns the proof as text.
func (p Proof) Format() ([]byte, error) {
	extra, err := json.Marshal(p.Subject)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\nextra %s\nindex %d\n", ProofType, base64.StdEncoding.EncodeToString(extra), p.Index)
	for _, h := range p.Hashes {
		fmt.Fprintln(&b, h)
	}
	b.WriteByte('\n')
	b.Write(p.Checkpoint)
	return b.Bytes(), nil
}

// MaxProof bounds a proof, in bytes.
const MaxProof = 256 << 10

// ParseProof reads a proof. It checks the form only.
func ParseProof(text []byte) (p Proof, err error) {
	bad := func(why string) (Proof, error) { return Proof{}, fmt.Errorf("not a proof: %s", why) }
	if len(text) > MaxProof {
		return bad("it is too long")
	}
	head, checkpoint, found := strings.Cut(string(text), "\n\n")
	lines := strings.Split(head, "\n")
	if !found || lines[0] != ProofType || len(lines) < 3 {
		return bad("it does not begin with the line " + ProofType)
	}
	extra, ok := strings.CutPrefix(lines[1], "extra ")
	raw, err := base64.StdEncoding.DecodeString(extra)
	if !ok || err != nil || json.Unmarshal(raw, &p.Subject) != nil {
		return bad("it does not say what it proves")
	}
	index, ok := strings.CutPrefix(lines[2], "index ")
	p.Index, err = strconv.ParseInt(index, 10, 64)
	if !ok || err != nil || p.Index < 0 || strconv.FormatInt(p.Index, 10) != index {
		return bad("it has no index")
	}
	if len(lines) > 3+64 {
		return bad("it has too many hashes")
	}
	for _, line := range lines[3:] {
		h, err := tlog.ParseHash(line)
		if err != nil {
			return bad("a line is not a hash")
		}
		p.Hashes = append(p.Hashes, h)
	}
	p.Checkpoint = []byte(checkpoint)
	if _, _, err := ParseNote(p.Checkpoint); err != nil {
		return bad(err.Error())
	}
	return p, nil
}

// Whom Verify believed that the checkpoint is the archive's.
const (
	TrustKey        = "key"        // a signature is by a key that the caller knows
	TrustCheckpoint = "checkpoint" // the caller has the same checkpoint
	TrustNone       = "none"       // the signature is only by a key that the proof itself names
)

// Verified is what a proof proves.
type Verified struct {
	Version   string           `json:"version"` // IRI, of which the id is proved, not the address of the archive
	URL       string           `json:"url"`     // "" if the proof does not show it
	N         int              `json:"number"`
	At        time.Time        `json:"time"`
	SHA256    string           `json:"sha256"`
	Head      string           `json:"headSHA256,omitempty"`
	Recorded  bool             `json:"fromRecords,omitempty"` // logged later than stored; see FromRecords
	Others    bool             `json:"fromOthers,omitempty"`  // see FromOthers
	Log       string           `json:"log"`                   // origin
	Index     int64            `json:"index"`
	Size      int64            `json:"size"`
	Root      string           `json:"root"`
	Trust     string           `json:"trust"`
	Signed    []string         `json:"signed"` // names of those who signed and were checked
	Witnesses []Witnessed      `json:"witnesses,omitempty"`
	TimeStamp *timestamp.Stamp `json:"timeStamp,omitempty"`
}

// Trusted is what the caller of Verify believes already.
type Trusted struct {
	Keys       []note.Verifier // of the log and of witnesses
	Checkpoint []byte          // a checkpoint that the caller got from elsewhere, or earlier; nil for none
	// Roots are certificates of time-stamping authorities. If they are given, the proof must have a time stamp whose
	// certificate leads to one of them.
	Roots *x509.CertPool
}

// Verify checks that a proof proves that the archive held a file with a digest. It needs nothing but its arguments.
// Errors about what does not hold wrap ErrNoProof.
func (p Proof) Verify(file [32]byte, trusted Trusted) (v Verified, err error) {
	fails := func(format string, args ...any) (Verified, error) {
		return Verified{}, fmt.Errorf("%w: "+format, append([]any{ErrNoProof}, args...)...)
	}
	leaf, err := ParseLeaf(p.Subject.Leaf)
	if err != nil {
		return fails("its leaf cannot be read")
	}
	if leaf.SHA256 != file {
		return fails("it is about a file with SHA-256 %x, and this one has %x", leaf.SHA256, file)
	}
	head, err := p.Subject.head()
	if err != nil {
		return v, err
	}
	if p.Subject.URL != "" && Identity(p.Subject.URL, head) != leaf.Identity {
		return fails("the leaf is not of %s with this head", p.Subject.URL)
	}
	if !isVersion(p.Subject.Version, p.Subject.URL, leaf.N) {
		return fails("the leaf is of version %d, and not of %s", leaf.N, p.Subject.Version)
	}
	origin, tree, err := ParseNote(p.Checkpoint)
	if err != nil {
		return fails("%w", err)
	}
	if p.Index >= tree.N || tlog.CheckRecord(p.Hashes, tree.N, tree.Hash, p.Index, leaf.Hash()) != nil {
		return fails("the tree of the checkpoint does not contain the leaf")
	}
	v = Verified{Version: p.Subject.Version, URL: p.Subject.URL, N: leaf.N, At: leaf.At, SHA256: hex.EncodeToString(file[:]),
		Recorded: leaf.Flags&FromRecords != 0, Others: leaf.Flags&FromOthers != 0,
		Log: origin, Index: p.Index, Size: tree.N, Root: tree.Hash.String(), Trust: TrustNone}
	if v.URL != "" {
		v.Head = p.Subject.Head
	}
	if err := p.stamp(&v, trusted.Roots); err != nil {
		return Verified{}, err
	}
	return v, p.trust(&v, trusted)
}

// stamp checks the time stamp of the checkpoint.
func (p Proof) stamp(v *Verified, roots *x509.CertPool) error {
	if len(p.Subject.TimeStamp) == 0 {
		if roots != nil {
			return fmt.Errorf("%w: its checkpoint has no time stamp", ErrNoProof)
		}
		return nil
	}
	digest, err := StampDigest(p.Checkpoint)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoProof, err)
	}
	s, err := timestamp.Verify(p.Subject.TimeStamp, timestamp.Expected{Digest: digest, Roots: roots})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoProof, err)
	}
	v.TimeStamp = &s
	return nil
}

// trust finds out who vouches for the checkpoint.
func (p Proof) trust(v *Verified, trusted Trusted) error {
	if len(trusted.Checkpoint) > 0 {
		origin, tree, err := ParseNote(trusted.Checkpoint)
		if err != nil {
			return err
		}
		if origin != v.Log {
			return fmt.Errorf("%w: it is of the log %s, and the checkpoint of %s", ErrNoProof, v.Log, origin)
		}
		if tree.N != v.Size {
			return fmt.Errorf(
				"%w against this checkpoint, which is of %d versions, while the proof is for %d: 'odarchive prove --checkpoint FILE' "+
					"makes one for it", ErrNoProof, tree.N, v.Size)
		}
		if tree.Hash.String() != v.Root {
			return fmt.Errorf("%w: the archive has signed another tree of the same size; keep both checkpoints, they prove it", ErrNoProof)
		}
		v.Trust = TrustCheckpoint
	}
	keys := trusted.Keys
	if len(keys) == 0 {
		own, err := Verifiers(p.Subject.Keys)
		if err != nil || len(own) == 0 {
			if v.Trust == TrustCheckpoint {
				return nil
			}
			return fmt.Errorf("%w: nobody is known who signed it; name a key", ErrNoProof)
		}
		keys = own
	}
	known := note.VerifierList(keys...)
	n, err := note.Open(p.Checkpoint, known)
	if err != nil {
		return fmt.Errorf("%w: no signature of the checkpoint is by a key that is trusted: %w", ErrNoProof, err)
	}
	v.Witnesses = witnessed(n, known)
	byLog := false
	for _, s := range n.Sigs {
		v.Signed = append(v.Signed, s.Name)
		byLog = byLog || s.Name == v.Log
	}
	if !byLog && len(trusted.Keys) == 0 {
		return fmt.Errorf("%w: the log itself has not signed the checkpoint", ErrNoProof)
	}
	if len(trusted.Keys) > 0 {
		v.Trust = TrustKey
	}
	return nil
}

// isVersion reports whether an IRI is that of a version with a number, of a URL unless that is "".
func isVersion(iri, link string, n int) bool {
	resource, number, ok := ns.SplitVersionID(iri[strings.LastIndex(iri, "/")+1:])
	if !ok || number != n || link == "" {
		return ok && number == n
	}
	key, err := address.Key(link)
	return err == nil && ns.ResourceID(key) == resource
}

// Describe returns what the proof says of itself, after Verify has found it whole with the digest in its own leaf and
// the keys in the proof, and who of some witnesses has cosigned it. It is for the archive that made the proof.
func (p Proof) Describe(witnesses []note.Verifier) (Verified, error) {
	leaf, err := ParseLeaf(p.Subject.Leaf)
	if err != nil {
		return Verified{}, err
	}
	v, err := p.Verify(leaf.SHA256, Trusted{Checkpoint: p.Checkpoint})
	if err != nil || len(witnesses) == 0 {
		return v, err
	}
	known := note.VerifierList(witnesses...)
	if n, err := note.Open(p.Checkpoint, known); err == nil { // else none has
		v.Witnesses = witnessed(n, known)
	}
	return v, nil
}
