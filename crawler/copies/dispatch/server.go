package dispatch

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// ServerOptions configure an embedded NATS server.
type ServerOptions struct {
	Listen string // HOST:PORT
	Dir    string // of JetStream; it is emptied, since what it holds is of no use to another process
	// Token and User with Password are what clients need; without any of them, only a loopback address is listened on.
	Token          string
	User, Password string
	NKeys          []string // public keys of users
	Cert, Key      string   // files of TLS; "" for none
}

// CheckListen returns an error that says why the server would not be started with these options.
func (o ServerOptions) CheckListen() error {
	host, _, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return fmt.Errorf("%q: expected HOST:PORT", o.Listen)
	}
	if o.Token != "" || o.User != "" || len(o.NKeys) > 0 {
		return nil
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf(
			"%s can be reached from other machines, where anybody could act as a worker: set a token, a user with a password, or NKeys",
			o.Listen)
	}
	return nil
}

// Check returns an error that says why the server would not be started with these options, or would admit nobody.
func (o ServerOptions) Check() error {
	if err := o.CheckListen(); err != nil {
		return err
	}
	for _, key := range o.NKeys {
		if !nkeys.IsValidPublicUserKey(key) {
			return fmt.Errorf("the NKey %.80q is not the public key of a user, which begins with U and has %d characters", key,
				publicKeyLen)
		}
	}
	return checkCertificate(o.Cert, o.Key)
}

// publicKeyLen is the length of a public NKey.
const publicKeyLen = 56

// checkCertificate returns an error unless files have a certificate and its key; none is no error.
func checkCertificate(cert, key string) error {
	if cert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
		return fmt.Errorf("the certificate of NATS: %w", err)
	}
	return nil
}

// Limits of the embedded server. JetStream holds results in flight and nothing else.
const (
	serverStore  = 6 << 30
	serverMemory = 64 << 20
	startTime    = 10 * time.Second
)

// Server is a NATS server in this process.
type Server struct {
	ns     *server.Server
	opt    ServerOptions
	own    nkeys.KeyPair // of this process, if clients need NKeys
	ownKey string        // the public one
	cert   []byte        // its certificate, DER; nil without TLS
}

// StartServer starts a server. Its directory is emptied first.
func StartServer(o ServerOptions, log *slog.Logger) (*Server, error) {
	if err := o.CheckListen(); err != nil {
		return nil, err
	}
	host, port, _ := net.SplitHostPort(o.Listen)
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%q: expected HOST:PORT", o.Listen)
	}
	if err := errors.Join(os.RemoveAll(o.Dir), os.MkdirAll(o.Dir, 0o700)); err != nil {
		return nil, fmt.Errorf("the directory of NATS: %w", err)
	}
	opts := &server.Options{
		ServerName: "odarchive", Host: host, Port: int(number), NoSigs: true, NoLog: true, MaxPayload: 1 << 20, MaxPending: 32 << 20,
		JetStream: true, StoreDir: o.Dir, JetStreamMaxStore: serverStore, JetStreamMaxMemory: serverMemory,
		Authorization: o.Token, Username: o.User, Password: o.Password, DisableShortFirstPing: true,
		WriteDeadline: 10 * time.Second, SyncInterval: 5 * time.Minute,
	}
	if number == 0 {
		opts.Port = server.RANDOM_PORT
	}
	s := &Server{opt: o}
	if len(o.NKeys) > 0 {
		if s.own, err = nkeys.CreateUser(); err == nil {
			s.ownKey, err = s.own.PublicKey()
		}
		if err != nil {
			return nil, fmt.Errorf("NATS: %w", err)
		}
		for _, key := range append([]string{s.ownKey}, o.NKeys...) {
			opts.Nkeys = append(opts.Nkeys, &server.NkeyUser{Nkey: key})
		}
	}
	if o.Cert != "" {
		t, err := server.GenTLSConfig(&server.TLSConfigOpts{CertFile: o.Cert, KeyFile: o.Key})
		if err != nil {
			return nil, fmt.Errorf("the certificate of NATS: %w", err)
		}
		opts.TLS, opts.TLSConfig, opts.AllowNonTLS = true, t, false
		s.cert = t.Certificates[0].Certificate[0]
	}
	ns, err := server.NewServer(opts)
	if err != nil {
		return nil, fmt.Errorf("NATS: %w", err)
	}
	ns.SetLoggerV2(serverLog{log}, false, false, false)
	listened, err := net.Listen("tcp", o.Listen) // the server ends the process if it cannot listen
	if err != nil {
		return nil, fmt.Errorf("NATS cannot listen on %s: %w", o.Listen, err)
	}
	if err := listened.Close(); err != nil {
		return nil, fmt.Errorf("NATS cannot listen on %s: %w", o.Listen, err)
	}
	ns.Start()
	if !ns.ReadyForConnections(startTime) {
		ns.Shutdown()
		return nil, fmt.Errorf("NATS on %s was not ready within %s", o.Listen, startTime)
	}
	s.ns = ns
	return s, nil
}

// URL returns the address of the server.
func (s *Server) URL() string { return s.ns.ClientURL() }

// inProcess returns the options of a connection of this process, which goes by no network.
func (s *Server) inProcess() []nats.Option {
	o := []nats.Option{nats.InProcessServer(s.ns)}
	if s.cert != nil { // whoever signed it, and for which name
		o = append(o, nats.Secure(&tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: s.isOwn}))
	}
	switch {
	case s.own != nil:
		o = append(o, nats.Nkey(s.ownKey, s.own.Sign))
	case s.opt.Token != "":
		o = append(o, nats.Token(s.opt.Token))
	case s.opt.User != "":
		o = append(o, nats.UserInfo(s.opt.User, s.opt.Password))
	}
	return o
}

// isOwn returns an error unless a connection of this process leads to the server.
func (s *Server) isOwn(c tls.ConnectionState) error {
	if len(c.PeerCertificates) == 0 || !bytes.Equal(c.PeerCertificates[0].Raw, s.cert) {
		return errors.New("the certificate is not that of the server in this process")
	}
	return nil
}

// Works reports whether the server keeps messages: a disk that is full, or fails, ends that.
func (s *Server) Works() bool { return s.ns.JetStreamEnabled() }

// Close ends the server.
func (s *Server) Close() {
	s.ns.Shutdown()
	s.ns.WaitForShutdown()
}

// serverLog passes on what the server logs. Fatal errors do not end the process.
type serverLog struct{ log *slog.Logger }

func (l serverLog) Noticef(format string, v ...any) {
	l.log.Debug("NATS: " + fmt.Sprintf(format, v...))
}
func (l serverLog) Warnf(format string, v ...any)  { l.log.Warn("NATS: " + fmt.Sprintf(format, v...)) }
func (l serverLog) Fatalf(format string, v ...any) { l.log.Error("NATS: " + fmt.Sprintf(format, v...)) }
func (l serverLog) Errorf(format string, v ...any) { l.log.Warn("NATS: " + fmt.Sprintf(format, v...)) }
func (l serverLog) Debugf(string, ...any)          {}
func (l serverLog) Tracef(string, ...any)          {}
