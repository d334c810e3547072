package listen

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
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair writes a certificate for a name and its key.
func pair(t *testing.T, name, certFile, keyFile string) {
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

func TestARenewedCertificateIsTakenAndABrokenOneIsNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := LoadCertificate(certFile, keyFile); err == nil || !strings.Contains(err.Error(), "--tls-cert") {
		t.Fatalf("without files: %v", err)
	}
	pair(t, "first.example", certFile, keyFile)
	c, err := LoadCertificate(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	tcp, err := TCP("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	l := c.Listener(tcp)
	go func() { // ends when l is closed
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = conn.(*tls.Conn).Handshake()
				conn.Close()
			}()
		}
	}()
	serves := func() (name, protocol string) {
		conn, err := tls.Dial("tcp", tcp.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		state := conn.ConnectionState()
		return state.PeerCertificates[0].Subject.CommonName, state.NegotiatedProtocol
	}
	if name, protocol := serves(); name != "first.example" || protocol != "h2" {
		t.Fatal(name, protocol)
	}
	key, err := os.ReadFile(keyFile)
	if err != nil {
		t.Fatal(err)
	}
	for i, c2 := range []struct {
		change  func()
		changed bool
		says    string
		name    string
	}{
		{func() {}, false, "", "first.example"},
		{func() { pair(t, "second.example", certFile, keyFile) }, true, "", "second.example"},
		{func() { pair(t, "third.example", certFile, keyFile); os.WriteFile(keyFile, key, 0o600) }, false, "private key does not match",
			"second.example"},
		{func() {}, false, "", "second.example"}, // it is said once
		{func() { os.WriteFile(certFile, []byte("nonsense"), 0o600) }, false, "PEM", "second.example"},
		{func() { os.Remove(certFile) }, false, "no such file", "second.example"},
		{func() { pair(t, "fourth.example", certFile, keyFile) }, true, "", "fourth.example"},
	} {
		c2.change()
		changed, err := c.Reload()
		if changed != c2.changed || (err != nil) != (c2.says != "") || err != nil && !strings.Contains(err.Error(), c2.says) {
			t.Errorf("%d: changed %v, %v; want %v, %q", i, changed, err, c2.changed, c2.says)
		}
		if name, _ := serves(); name != c2.name || c.Leaf().Subject.CommonName != name {
			t.Errorf("%d: it serves the certificate of %s, want %s", i, name, c2.name)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	reported := make(chan error, 1)
	done := make(chan struct{})
	go func() { defer close(done); c.Watch(ctx, time.Millisecond, func(err error) { reported <- err }) }()
	pair(t, "fifth.example", certFile, keyFile)
	for err := range reported {
		if err == nil { // one file may have been read before the other was written
			break
		}
	}
	stop()
	<-done
	if name, _ := serves(); name != "fifth.example" {
		t.Error(name)
	}
}

func TestASocketReplacesAStaleOneAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, deep := range map[string]string{"short": dir,
		"long": filepath.Join(dir, strings.Repeat("x", 100), strings.Repeat("y", 100))} {
		if err := os.MkdirAll(deep, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(deep, "s")
		open := func() []net.Listener {
			t.Helper()
			l, err := Open("unix:"+file, 0o660)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			return l
		}
		l := open()
		if info, err := os.Lstat(file); err != nil || info.Mode() != fs.ModeSocket|0o660 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
		if _, err := Open("unix:"+file, 0o660); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("%s: a second one: %v", name, err)
		}
		l[0].(*socket).Listener.Close() // as if the process were killed
		again := open()
		l[0].Close() // the file is another's now
		if _, err := os.Lstat(file); err != nil {
			t.Errorf("%s: the file of another was removed: %v", name, err)
		}
		if err := again[0].Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if entries, err := os.ReadDir(deep); err != nil || name == "long" && len(entries) != 0 {
			t.Errorf("%s: left: %v, %v", name, entries, err)
		}
		if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open("unix:"+file, 0o660); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("%s: over a file: %v", name, err)
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != "precious" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		os.Remove(file)
	}
	for _, address := range []string{"unix:", "unix:/nowhere/at/all", "nonsense", "127.0.0.1:99999"} {
		if l, err := Open(address, 0o660); err == nil {
			t.Errorf("%s: %v", address, l[0].Addr())
		}
	}
}

// TestSystemdIsToldHowTheServiceIs changes the environment, so that it runs alone.
func TestSystemdIsToldHowTheServiceIs(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	manager, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Skipf("no datagram sockets: %v", err)
	}
	defer manager.Close()
	t.Setenv("NOTIFY_SOCKET", name)
	t.Setenv("WATCHDOG_USEC", "3000")
	n := NewNotifier()
	if os.Getenv("NOTIFY_SOCKET") != "" || os.Getenv("WATCHDOG_USEC") != "" {
		t.Error("children inherit the variables")
	}
	said := func() string {
		t.Helper()
		b := make([]byte, 4096)
		size, err := manager.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:size])
	}
	n.Ready("at home")
	if got := said(); got != "READY=1\nSTATUS=at home" {
		t.Errorf("%q", got)
	}
	n.Reloading()
	if got := said(); !strings.HasPrefix(got, "RELOADING=1\nMONOTONIC_USEC=") {
		t.Errorf("%q", got)
	}
	n.Stopping()
	if got := said(); !strings.HasPrefix(got, "STOPPING=1\n") {
		t.Errorf("%q", got)
	}
	for what, repeat := range map[string]func(context.Context){"EXTEND_TIMEOUT_USEC=30000000": n.Opening, "WATCHDOG=1": n.Watch} {
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); repeat(ctx) }()
		if got := said(); !strings.Contains(got, what) {
			t.Errorf("%q, want %s", got, what)
		}
		stop()
		for range 2 { // the manager may be full
			select {
			case <-done:
			case <-time.After(10 * time.Millisecond):
			}
		}
		<-done
		if err := manager.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		for b := make([]byte, 4096); ; { // what was said more than once
			if _, err := manager.Read(b); err != nil {
				break
			}
		}
		if err := manager.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	var nobody *Notifier
	nobody.Ready("")
	nobody.Watch(t.Context())
	manager.Close()
	n.Ready("nobody listens")
}

// TestASocketOfSystemdIsServed starts this test again with a socket at file descriptor 3, as systemd does.
func TestASocketOfSystemdIsServed(t *testing.T) {
	if os.Getenv("ODARCHIVE_TEST_PASSED") != "" {
		os.Setenv("LISTEN_PID", itoa(os.Getpid()))
		if _, err := Open("systemd:other", 0); err == nil || !strings.Contains(err.Error(), "web") {
			t.Fatalf("a name that is not there: %v", err)
		}
		os.Setenv("LISTEN_PID", itoa(os.Getpid())) // Open has taken them
		address := os.Getenv("ODARCHIVE_TEST_ADDRESS")
		os.Setenv("LISTEN_FDS", "1")
		os.Setenv("LISTEN_FDNAMES", "web")
		if address == "systemd:web" {
			os.Setenv("LISTEN_FDS", "2")
			os.Setenv("LISTEN_FDNAMES", "web:more")
		}
		l, err := Open(address, 0)
		if err != nil || len(l) != 1 || Passed() {
			t.Fatalf("%v, %v", l, err)
		}
		conn, err := l[0].Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, err = conn.Write([]byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		return
	}
	if Passed() {
		t.Fatal("sockets are passed without a variable")
	}
	if _, err := Open("systemd", 0); err == nil {
		t.Error("no error without systemd")
	}
	for _, name := range []string{"systemd:web", "systemd"} {
		t.Setenv("ODARCHIVE_TEST_ADDRESS", name)
		passAndRun(t, func(address string) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // a child that failed answers never
				t.Fatal(err)
			}
			var b bytes.Buffer
			if _, err := b.ReadFrom(conn); err != nil || b.String() != "hello" {
				t.Errorf("%q, %v", b.String(), err)
			}
		})
	}
}
