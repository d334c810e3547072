package dispatch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"odarchive/crawler/web/politeness"
)

// authority makes an authority and a certificate of it for 127.0.0.1, as PEM files.
func authority(t *testing.T) (ca, cert, key string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	root := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, caKey.Public(), caKey)
	must(err)
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "NATS"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), caKey)
	must(err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
	must(err)
	return write("ca.pem", "CERTIFICATE", rootDER), write("cert.pem", "CERTIFICATE", leafDER), write("key.pem", "PRIVATE KEY", keyDER)
}

// user makes an NKey of a user.
func user(t *testing.T) (public, seedFile string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := pair.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = pair.PublicKey(); err != nil {
		t.Fatal(err)
	}
	seedFile = filepath.Join(t.TempDir(), "seed.nk")
	if err := os.WriteFile(seedFile, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	return public, seedFile
}

func TestOnlyWorkersWithTheirKeyWorkOverTLS(t *testing.T) {
	ca, cert, key := authority(t)
	otherCA, _, _ := authority(t)
	public, seed := user(t)
	_, stranger := user(t)
	b := newBench(t, 2*time.Second, "http://a.example/1", "http://b.example/2")
	address := freePort(t)
	w := NewWriter(WriterOptions{DeskOptions: b.o,
		Embedded: &ServerOptions{Listen: address, Dir: t.TempDir(), Cert: cert, Key: key, NKeys: []string{public}}})
	b.Desk = w.Desk
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	// works reports whether a worker joins within a time.
	works := func(server string, c Credentials, within time.Duration) bool {
		t.Helper()
		a, err := ParseAddress(server)
		if err != nil {
			t.Fatal(err)
		}
		work := NewWorker(WorkerOptions{Address: a, Credentials: c, Name: "worker", Hosts: 2, Log: slog.New(slog.DiscardHandler),
			Build: func(w *Worker, _ Welcome) (Kit, error) {
				gate := politeness.New(politeness.Options{Delay: -1, Borrow: w.Borrow, Fetched: w.Fetched})
				return Kit{Gate: gate, Visit: func(_ context.Context, j Job) (*Sent, error) {
					r := resultFor("", &Grant{Jobs: []Job{j}}, true)
					return &Sent{Ended: time.Now(), Finding: r.Finding}, nil
				}, Outage: func() (string, time.Time) { return "", time.Time{} }, Close: func() error { return nil }}, nil
			}})
		working, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- work.Run(working) }()
		joined := false
		for until := time.Now().Add(within); !joined && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
			joined = work.Status().State == "working"
		}
		end()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", server, err)
		}
		return joined
	}
	if !works("tls://"+address, Credentials{CA: ca, NKeyFile: seed}, 20*time.Second) {
		t.Error("a worker with the authority and its key does not work")
	}
	for name, c := range map[string]Credentials{
		"no key": {CA: ca}, "the key of a stranger": {CA: ca, NKeyFile: stranger}, "another authority": {CA: otherCA, NKeyFile: seed},
		"no authority": {NKeyFile: seed},
	} {
		if works("tls://"+address, c, time.Second) {
			t.Errorf("%s: the worker was admitted", name)
		}
	}
	stop()
	if err := <-ran; err != nil {
		t.Errorf("the writer: %v", err)
	}
}
