package timestamp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/exchange/timestamp/tsatest"
)

func authority(t testing.TB) (*tsatest.Authority, *x509.CertPool) {
	t.Helper()
	a, err := tsatest.New()
	if err != nil {
		t.Fatal(err)
	}
	roots, err := Roots(a.Roots)
	if err != nil {
		t.Fatal(err)
	}
	return a, roots
}

func TestAnAuthorityIsAskedAndItsStampHolds(t *testing.T) {
	a, roots := authority(t)
	server := httptest.NewServer(a)
	defer server.Close()
	digest := sha256.Sum256([]byte("checkpoint"))
	response, s, err := Ask(t.Context(), server.Client(), server.URL, digest, roots, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if !s.Trusted || s.Authority != "CN=Time Stamps of Tests" || time.Since(s.Time) > time.Hour {
		t.Errorf("%+v", s)
	}
	again, err := Verify(response, Expected{Digest: digest})
	if err != nil || again.Trusted || again.Time != s.Time {
		t.Errorf("without roots: %+v %v", again, err)
	}
	_, others := authority(t)
	for name, want := range map[string]Expected{
		"another digest": {Digest: sha256.Sum256([]byte("another")), Roots: roots},
		"another nonce":  {Digest: digest, Nonce: big.NewInt(1), Roots: roots},
		"other roots":    {Digest: digest, Roots: others},
		"no roots":       {Digest: digest, Roots: x509.NewCertPool()},
	} {
		if s, err := Verify(response, want); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
}

// Each bit of a response matters, or says nothing that is believed.
func TestAFlippedBitNeverChangesWhatAStampSays(t *testing.T) {
	a, roots := authority(t)
	digest := sha256.Sum256([]byte("checkpoint"))
	question, err := Request(digest, big.NewInt(7))
	if err != nil {
		t.Fatal(err)
	}
	response, err := a.Answer(question)
	if err != nil {
		t.Fatal(err)
	}
	want := Expected{Digest: digest, Nonce: big.NewInt(7), Roots: roots}
	whole, err := Verify(response, want)
	if err != nil {
		t.Fatal(err)
	}
	for i := range response {
		bad := bytes.Clone(response)
		bad[i] ^= 1 << (i % 8)
		if s, err := Verify(bad, want); err == nil && s != whole {
			t.Errorf("with byte %d flipped: %+v", i, s)
		}
		if _, err := Verify(response[:i], want); err == nil {
			t.Errorf("cut to %d bytes it holds", i)
		}
	}
}

func TestAnAuthorityThatLiesIsRefused(t *testing.T) {
	a, roots := authority(t)
	digest := sha256.Sum256([]byte("checkpoint"))
	other := sha256.Sum256([]byte("other"))
	server := httptest.NewServer(a)
	defer server.Close()
	for name, distort := range map[string]func(*tsatest.Info){
		"another time":  func(i *tsatest.Info) { i.Time = i.Time.AddDate(0, -2, 0) },
		"another nonce": func(i *tsatest.Info) { i.Nonce = big.NewInt(5) },
		"no nonce":      func(i *tsatest.Info) { i.Nonce = nil },
		"another digest": func(i *tsatest.Info) {
			i.Imprint.FullBytes = bytes.Replace(i.Imprint.FullBytes, digest[:], other[:], 1)
		},
		"a short digest": func(i *tsatest.Info) {
			i.Imprint.FullBytes = []byte{0x30, 4, 0x30, 0, 4, 0}
		},
	} {
		a.Distort = distort
		if _, s, err := Ask(t.Context(), server.Client(), server.URL, digest, roots, time.Now()); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %+v %v", name, s, err)
		}
	}
}

// endless answers with more and more zeros.
type endless struct{ read int64 }

func (e *endless) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Status: "200 OK", Body: io.NopCloser(e), Request: r}, nil
}

func (e *endless) Read(b []byte) (int, error) {
	e.read += int64(len(b))
	return len(b), nil
}

func TestAnAuthorityThatMisbehavesIsBounded(t *testing.T) {
	_, roots := authority(t)
	e := &endless{}
	if _, _, err := Ask(t.Context(), &http.Client{Transport: e}, "http://tsa.example/", [32]byte{}, roots, time.Now()); !errors.Is(err,
		ErrInvalid) {
		t.Error(err)
	}
	if e.read > 2*MaxResponse {
		t.Errorf("%d bytes were read", e.read)
	}
	stalled := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer stalled.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := Ask(ctx, stalled.Client(), stalled.URL, [32]byte{}, roots, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		raw, _ := asn1.Marshal(struct {
			Status struct {
				Code int
				Text []asn1.RawValue
			}
		}{struct {
			Code int
			Text []asn1.RawValue
		}{2, []asn1.RawValue{{Tag: asn1.TagUTF8String, Bytes: []byte("closed on Mondays")}}}})
		_, _ = w.Write(raw)
	}))
	defer refusing.Close()
	if _, _, err := Ask(t.Context(), refusing.Client(), refusing.URL, [32]byte{}, roots, time.Now()); err == nil ||
		!strings.Contains(err.Error(), "closed on Mondays") {
		t.Error(err)
	}
}

// OpenSSL is a peer by another hand: it accepts the stamps of tsatest, and its own are accepted here.
func TestOpenSSLAgrees(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	write := func(name string, content []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	data := []byte("archive.example/log\n3\nAAAA\n")
	digest := sha256.Sum256(data)
	question, err := Request(digest, big.NewInt(1234567))
	if err != nil {
		t.Fatal(err)
	}
	write("data", data)
	write("request", question)

	a, _ := authority(t)
	response, err := a.Answer(question)
	if err != nil {
		t.Fatal(err)
	}
	write("response", response)
	write("roots.pem", a.Roots)
	run("ts", "-verify", "-data", "data", "-in", "response", "-CAfile", "roots.pem")
	run("ts", "-verify", "-queryfile", "request", "-in", "response", "-CAfile", "roots.pem")

	write("ca.cnf",
		[]byte(
			"[req]\ndistinguished_name=dn\nprompt=no\n[dn]\nCN=Root of "+
				"OpenSSL\n[v3_ca]\nbasicConstraints=critical,CA:true\nkeyUsage=critical,keyCertSign\n"+
				"[v3_tsa]\nextendedKeyUsage=critical,timeStamping\nkeyUsage=critical,digitalSignature\n"+
				"[tsa]\ndefault_tsa=t\n[t]\nserial=serial\nsigner_cert=tsa.pem\nsigner_key=tsa.key\ncerts=ca.pem\ndefault_policy=1.2.3.4"+
				"\ndig"+
				"ests"+
				"=sha256\nsigner_digest=sha512\naccuracy=secs:1,millisecs:500\nclock_precision_digits=3\nordering=yes\ntsa_name=yes\ness_"+
				"cert"+
				"_id_chain=yes\n"))
	for _, kind := range [][]string{{"rsa:2048"}, {"ec", "-pkeyopt", "ec_paramgen_curve:P-384"}} {
		write("serial", []byte("01\n"))
		run("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-config", "ca.cnf", "-extensions",
			"v3_ca", "-days", "100")
		run(append(append([]string{"req", "-newkey"}, kind...), "-nodes", "-keyout", "tsa.key", "-out", "tsa.csr", "-config", "ca.cnf",
			"-subj", "/CN=TSA of OpenSSL")...)
		run("x509", "-req", "-in", "tsa.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "ca.cnf", "-extensions",
			"v3_tsa", "-out", "tsa.pem", "-days", "50")
		run("ts", "-reply", "-config", "ca.cnf", "-section", "t", "-queryfile", "request", "-out", "reply")
		roots, err := Roots(read("ca.pem"))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Verify(read("reply"), Expected{Digest: digest, Nonce: big.NewInt(1234567), Roots: roots})
		if err != nil || !s.Trusted || s.Authority != "CN=TSA of OpenSSL" || s.Policy != "1.2.3.4" {
			t.Errorf("%v: %+v %v", kind, s, err)
		}
	}
}

func FuzzVerify(f *testing.F) {
	a, roots := authority(f)
	digest := sha256.Sum256([]byte("checkpoint"))
	question, err := Request(digest, big.NewInt(7))
	if err != nil {
		f.Fatal(err)
	}
	response, err := a.Answer(question)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(response)
	f.Add([]byte{0x30, 5, 0x30, 3, 2, 1, 2})
	other := sha256.Sum256([]byte("another"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := Verify(b, Expected{Digest: other, Roots: roots}); err == nil { // nobody has signed it
			t.Error("a stamp of another digest holds")
		}
		_, _ = Verify(b, Expected{Digest: digest})
	})
}
