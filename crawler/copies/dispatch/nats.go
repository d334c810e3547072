package dispatch

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/triplestore/disk"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// defaultName is the name of an archive on a server, unless the path of the URL gives another.
const defaultName = "odarchive"

// Subjects below the name of an archive.
const (
	subjectHello  = ".hello"
	subjectAsk    = ".ask"
	subjectRenew  = ".renew"
	subjectBorrow = ".borrow"
	subjectReturn = ".return"
	subjectDone   = ".done."   // and the worker
	subjectResult = ".result." // and the worker

	subjectClosing = ".closing" // the writer ends: leases should be returned
)

// Address is where the NATS server of an archive is.
type Address struct {
	Servers string // URLs, without the name, separated by commas
	Name    string // of the archive on the server
}

// ParseAddress parses nats://HOST:PORT/NAME, or tls:// or ws:// instead; several servers of a cluster are separated by
// commas. Without a name, it is "odarchive". Users, passwords and tokens may be in the URL.
func ParseAddress(text string) (a Address, err error) {
	var servers []string
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || u.Host == "" || u.Scheme != "nats" && u.Scheme != "tls" && u.Scheme != "ws" && u.Scheme != "wss" ||
			u.RawQuery != "" || u.Fragment != "" {
			return a, fmt.Errorf("%q is not an address such as nats://HOST:4222", withoutPassword(u, one))
		}
		if name := strings.Trim(u.Path, "/"); name != "" {
			if a.Name != "" && a.Name != name {
				return a, fmt.Errorf("two names of archives, %q and %q", a.Name, name)
			}
			a.Name = name
		}
		u.Path, u.RawPath = "", ""
		servers = append(servers, u.String())
	}
	if a.Name == "" {
		a.Name = defaultName
	}
	if strings.Trim(a.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || len(a.Name) > 64 {
		return a, fmt.Errorf("%q is not a name of an archive: expected letters, digits, - and _", a.Name)
	}
	a.Servers = strings.Join(servers, ",")
	return a, nil
}

func withoutPassword(u *url.URL, text string) string {
	if u == nil || u.User == nil {
		return text
	}
	return u.Redacted()
}

func (a Address) String() string {
	var shown []string
	for one := range strings.SplitSeq(a.Servers, ",") {
		if u, err := url.Parse(one); err == nil {
			u.User = nil
			one = u.String()
		}
		shown = append(shown, one)
	}
	return strings.Join(shown, ",")
}

// Credentials are how a process is known to a NATS server, beside what the URL has. The zero value is none.
type Credentials struct {
	Token    string
	User     string
	Password string
	NKeyFile string // seed of an NKey
	File     string // credentials of a user (JWT and seed), as nsc writes them
	CA       string // file of certificates of authorities; "" for those of the system
	Cert     string // file of a client's certificate
	Key      string // file of its key
}

// maxCredentials bounds a file of credentials, in bytes.
const maxCredentials = 1 << 20

// Check returns an error that says which file does not have what it should have. The NATS server is not asked.
func (c Credentials) Check() error {
	if c.NKeyFile != "" {
		if _, err := nats.NkeyOptionFromSeed(c.NKeyFile); err != nil {
			return fmt.Errorf("the NKey of NATS: %s does not have the seed of a user (SU...): %w", c.NKeyFile, err)
		}
	}
	if c.File != "" {
		raw, err := disk.ReadFile(disk.OS{}, c.File, maxCredentials)
		if err == nil {
			_, err = nkeys.ParseDecoratedJWT(raw)
		}
		if err == nil {
			_, err = nkeys.ParseDecoratedUserNKey(raw)
		}
		if err != nil {
			return fmt.Errorf("the credentials of NATS: %s does not have a JWT and the seed of a user: %w", c.File, err)
		}
	}
	if c.CA != "" {
		raw, err := disk.ReadFile(disk.OS{}, c.CA, maxCredentials)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(raw) {
			err = errors.New("it has no certificate as PEM")
		}
		if err != nil {
			return fmt.Errorf("the authorities of NATS: %s: %w", c.CA, err)
		}
	}
	return checkCertificate(c.Cert, c.Key)
}

// connection is a connection to NATS that stays: it connects again for ever.
type connection struct {
	name string
	nc   *nats.Conn
	js   jetstream.JetStream
	log  *slog.Logger

	unreached atomic.Pointer[error] // why the last try to connect failed
}

// maxReconnectWait bounds the pause between two tries to connect again.
const maxReconnectWait = 15 * time.Second

// connect connects. If the server is not there, the connection is made when it is.
func connect(a Address, c Credentials, who string, log *slog.Logger, more ...nats.Option) (*connection, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	con := &connection{name: a.Name, log: log}
	options := []nats.Option{
		nats.Name(who), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.Timeout(5 * time.Second),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay(func(attempts int) time.Duration {
			return min(100*time.Millisecond<<min(attempts, 10), maxReconnectWait)
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { con.unreached.Store(&err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { log.Debug("NATS", "error", err) }),
	}
	if c.Token != "" {
		options = append(options, nats.Token(c.Token))
	}
	if c.User != "" {
		options = append(options, nats.UserInfo(c.User, c.Password))
	}
	if c.NKeyFile != "" {
		o, err := nats.NkeyOptionFromSeed(c.NKeyFile)
		if err != nil {
			return nil, fmt.Errorf("the NKey of NATS: %w", err)
		}
		options = append(options, o)
	}
	if c.File != "" {
		options = append(options, nats.UserCredentials(c.File))
	}
	if c.CA != "" {
		options = append(options, nats.RootCAs(c.CA))
	}
	if c.Cert != "" {
		options = append(options, nats.ClientCert(c.Cert, c.Key))
	}
	nc, err := nats.Connect(a.Servers, append(options, more...)...)
	if err != nil {
		return nil, fmt.Errorf("NATS at %s: %w", a, err)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("NATS at %s: %w", a, err)
	}
	con.nc, con.js = nc, js
	return con, nil
}

// why returns what is wrong with the connection, or else err.
func (c *connection) why(err error) error {
	if !c.nc.IsConnected() {
		if last := c.failure(); last != nil {
			return last
		}
		return nats.ErrNoServers
	}
	if errors.Is(err, nats.ErrNoResponders) {
		return errors.New("the NATS server is there, the archive is not")
	}
	return err
}

// failure returns why the server was not reached; nil if that is not known yet. That a message could not be sent
// without a connection is not the reason.
func (c *connection) failure() error {
	if last := c.unreached.Load(); last != nil {
		return *last
	}
	if last := c.nc.LastError(); !errors.Is(last, nats.ErrReconnectBufExceeded) {
		return last
	}
	return nil
}

// tried reports whether the server was reached, or could not be.
func (c *connection) tried() bool { return c.nc.IsConnected() || c.failure() != nil }

// ask sends a request and decodes the answer.
func (c *connection) ask(ctx context.Context, subject string, question, answer any) error {
	b, err := json.Marshal(question)
	if err != nil {
		return fmt.Errorf("dispatch: %w", err)
	}
	m, err := c.nc.RequestWithContext(ctx, c.name+subject, b)
	if err != nil {
		return err
	}
	return decode(m.Data, answer)
}

// answer answers requests, each in a goroutine, as many at a time as there are slots. The returned function stops that
// and waits for those under way.
func answer[Q, A any](c *connection, subject string, slots int, f func(Q) A) (stop func(), err error) {
	free := make(chan struct{}, slots)
	sub, err := c.nc.Subscribe(c.name+subject, func(m *nats.Msg) {
		free <- struct{}{}
		go func() {
			defer func() { <-free }()
			var q Q
			if err := decode(m.Data, &q); err != nil {
				c.log.Warn("a message of a worker is dropped", "subject", m.Subject, "error", err)
				return
			}
			b, err := json.Marshal(f(q))
			if err == nil && m.Reply != "" {
				err = m.Respond(b)
			}
			if err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
				c.log.Debug("an answer was not sent", "subject", m.Subject, "error", err)
			}
		}()
	})
	if err != nil {
		return nil, err
	}
	return func() {
		_ = sub.Unsubscribe() // a closed connection has none
		for range slots {
			free <- struct{}{}
		}
	}, nil
}

// Names of what JetStream has for an archive.
func (c *connection) stream() string { return strings.ToUpper(c.name) + "_RESULTS" }
func (c *connection) bucket() string { return c.name + "-parcels" }

// Limits of what JetStream keeps. It is nothing that matters: a result that is lost is fetched again.
const (
	maxResults     = 4096
	maxResultBytes = 256 << 20
	maxInMemory    = 48 << 20 // of results, in a server of this process
	maxObjectBytes = 4 << 30
	resultAge      = time.Hour
)

// setUp makes the stream and the bucket, or adjusts them. With embedded, the server is in this process: results that it
// keeps are worth nothing once the process has ended, so they are in memory, which takes less time.
func (c *connection) setUp(ctx context.Context, dedup time.Duration, embedded bool) (jetstream.Consumer, jetstream.ObjectStore, error) {
	storage, bytes := jetstream.FileStorage, int64(maxResultBytes)
	if embedded {
		storage, bytes = jetstream.MemoryStorage, maxInMemory
	}
	stream, err := c.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: c.stream(), Subjects: []string{c.name + subjectResult + "*"}, Retention: jetstream.WorkQueuePolicy, Storage: storage,
		MaxMsgs: maxResults, MaxBytes: bytes, MaxAge: resultAge, Discard: jetstream.DiscardNew, Duplicates: dedup,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the stream of results: %w", err)
	}
	consumer, err := stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "writer", AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Minute, MaxAckPending: 256, MemoryStorage: embedded,
	})
	if err != nil {
		return nil, nil, fmt.Errorf("the consumer of results: %w", err)
	}
	objects, err := c.js.CreateOrUpdateObjectStore(ctx,
		jetstream.ObjectStoreConfig{Bucket: c.bucket(), TTL: resultAge, MaxBytes: maxObjectBytes, Storage: jetstream.FileStorage})
	if err != nil {
		return nil, nil, fmt.Errorf("the store of parcels: %w", err)
	}
	return consumer, objects, nil
}
