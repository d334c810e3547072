//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAUsedPortLeavesTheDirectoryAlone(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dir := t.TempDir()
	used := filepath.Join(dir, "used")
	if err := os.WriteFile(used, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	for address, says := range map[string]string{l.Addr().String(): "in use by another program", "unix:" + used: "not a socket",
		"systemd": "systemd"} {
		var stderr bytes.Buffer
		if status := run(t.Context(), []string{"serve", "--data", data, "--listen", address}, strings.NewReader(""), io.Discard,
			&stderr); status != 1 || !strings.Contains(stderr.String(), says) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: status %d, %s", address, status, &stderr)
		}
	}
	if _, err := os.Lstat(data); err == nil {
		t.Error("the directory was made")
	}
}

func TestAProxyAtAUnixSocketSaysWhoAsks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, log := filepath.Join(dir, "web.sock"), filepath.Join(dir, "log")
	start(t, []string{"serve", "--data", filepath.Join(dir, "data"), "--no-crawl", "--listen", "unix:" + file, "--socket-mode", "0666",
		"--trust-proxy", "unix", "--log-file", log, "--base", "https://a.example/archive/"})
	if info, err := os.Stat(file); err != nil || info.Mode() != fs.ModeSocket|0o666 {
		t.Errorf("%v, %v", info, err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", file)
	}}
	defer transport.CloseIdleConnections()
	ask := func(method, path string) (int, string) {
		r, err := http.NewRequest(method, "http://a.example"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Forwarded-For", "198.51.100.7")
		r.Header.Set("X-Request-Id", "from-the-proxy")
		answer, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode, answer.Header.Get("X-Request-Id")
	}
	if status, id := ask("GET", "/archive/"); status != 200 || id != "from-the-proxy" {
		t.Errorf("%d, id %q", status, id)
	}
	if status, _ := ask("POST", "/crawl/pause"); status != http.StatusForbidden && status != http.StatusUnauthorized {
		// it is not the archive's own socket
		t.Errorf("whoever reaches the socket may pause the crawl: %d", status)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) { // the line follows the answer
		text, err := os.ReadFile(log)
		if err == nil && strings.Contains(string(text), "from=198.51.100.7") && strings.Contains(string(text), "id=from-the-proxy") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s, %v", text, err)
		}
	}
}

func TestHTTPSIsServedWithACertificateThatIsRenewed(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile, log := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "log")
	h := newHangups(t, "", log)
	writePair(t, "first.example", certFile, keyFile)
	address := strings.TrimPrefix(start(t,
		[]string{"serve", "--data", filepath.Join(dir, "data"), "--no-crawl", "--listen", "127.0.0.1:0", "--tls-cert", certFile,
			"--tls-key", keyFile, "--log-file", log}), "http://")
	get := func() (protocol, name, page string) {
		t.Helper()
		transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
		defer transport.CloseIdleConnections()
		answer, err := (&http.Client{Transport: transport}).Get("https://" + address + "/openapi.json")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Proto, answer.TLS.PeerCertificates[0].Subject.CommonName, string(body)
	}
	if protocol, name, page := get(); protocol != "HTTP/2.0" || name != "first.example" || !strings.Contains(page, "openapi") {
		t.Errorf("%s, %s, %.100s", protocol, name, page)
	}
	answer, err := http.Get("http://" + address + "/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP: %d", answer.StatusCode)
	}
	writePair(t, "second.example", certFile, keyFile)
	h.until("certificate", "second.example")
	if _, name, _ := get(); name != "second.example" {
		t.Errorf("after a hangup: %s", name)
	}
	if err := os.WriteFile(keyFile, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.until("the certificate stays as it was", "--tls-key")
	if _, name, _ := get(); name != "second.example" {
		t.Errorf("with a broken key: %s", name)
	}
}

// writePair writes a certificate for a name and its key.
func writePair(t *testing.T, name, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der},
		keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
