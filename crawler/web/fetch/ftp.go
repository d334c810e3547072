package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"

	"github.com/jlaffaye/ftp"
)

// maxControl is the maximum number of bytes that an FTP server may send on the control connection.
const maxControl = 256 << 10

// ftp retrieves a file over a new connection. The data connection goes to the address of the control connection,
// whatever address the server names.
func (f *Fetcher) ftp(ctx context.Context, ex *Exchange, u address.URL, req Request) (err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ex.StatusLine, ex.ResponseHeader, ex.Status = "", nil, 0
	defer func() {
		if r := recover(); r != nil { // the client library may panic on odd answers
			ex.fail(catalog.NoVersion, catalog.ErrProtocol, fmt.Sprintf("ftp: the answers cannot be parsed: %.200v", r))
		}
	}()
	name, err := url.PathUnescape(u.Path)
	if err != nil || strings.ContainsAny(name, "\r\n\x00") {
		ex.fail(catalog.NoVersion, catalog.ErrBadURL, "ftp: the path contains characters that no file name can have")
		return nil
	}
	ex.RequestLine, ex.RemoteAddr = "RETR "+name, "" // that of a redirect is another host's

	set := f.opts.Settings(u.Group())
	var named atomic.Bool // a lookup may outlive the fetch
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{DNSDone: func(d httptrace.DNSDoneInfo) {
		if lookupAnswered(d) {
			named.Store(true)
		}
	}})
	defer func() { ex.Named = ex.Named || named.Load() }()
	dialer := &ftpDialer{f: f, ctx: ctx, ex: ex, via: set.Proxy}
	host, port := u.Address()
	conn, err := ftp.Dial(net.JoinHostPort(host, port), ftp.DialWithDialFunc(dialer.dial), ftp.DialWithShutTimeout(f.opts.Timeouts.Idle))
	if err != nil {
		return f.classifyFTP(ctx, ex, err)
	}
	defer func() { _ = conn.Quit() }() // nothing depends on it
	user, pass, ok := credentials(u)
	if !ok && set.Secret.Permits(false) {
		user, pass, ok = set.Secret.Login()
	}
	if !ok {
		user, pass = "anonymous", "anonymous@"
	}
	if err := conn.Login(user, pass); err != nil {
		return f.classifyFTP(ctx, ex, err)
	}
	if t, err := conn.GetTime(name); err == nil {
		ex.LastModified = t.UTC().Format(http.TimeFormat)
		if ex.LastModified == req.LastModified {
			ex.fail(catalog.Unchanged, "", "the modification time of the file has not changed")
			return nil
		}
	}
	size, sizeErr := conn.FileSize(name)
	if sizeErr == nil && size > f.limit(req) && !req.CutOff {
		ex.fail(catalog.NoVersion, catalog.ErrTooLarge, fmt.Sprintf("the server announces %d bytes, the limit is %d", size, f.limit(req)))
		return nil
	}
	data, err := conn.Retr(name)
	if err != nil {
		return f.classifyFTP(ctx, ex, err)
	}
	ex.FirstByte = f.opts.Now()
	ex.FileName = fileName("", u)
	return f.receiveFTP(ctx, cancel, ex, data, size, sizeErr == nil, req)
}

func (f *Fetcher) receiveFTP(ctx context.Context, cancel context.CancelCauseFunc, ex *Exchange, data *ftp.Response, size int64, sized bool,
	req Request) error {
	body := &incoming{ctx: ctx, cancel: cancel, src: data, f: f}
	body.begin()
	defer body.close()
	file := f.opts.Spool.Create()
	err := f.copyBody(file, body, body, f.limit(req), req.CutOff)
	ex.Received = body.received
	if err == nil {
		err = data.Close() // reads the final reply: 226 or an error
		if err == nil && sized && size != file.Size() && !req.CutOff {
			err = fmt.Errorf("received %d of %d bytes: %w", file.Size(), size, io.ErrUnexpectedEOF)
		}
	}
	if err == nil && file.Size() > 0 {
		ex.Body = file
		return file.Finish()
	}
	if removing := file.Remove(); removing != nil {
		return removing
	}
	var ours *spoolError
	var said *textproto.Error
	switch {
	case err == nil:
		ex.fail(catalog.NoVersion, catalog.ErrEmptyBody, "the file is empty")
	case errors.As(err, &ours):
		return spoolTrouble(ours)
	case errors.As(err, &said):
		ex.fail(catalog.NoVersion, catalog.ErrTruncated, "ftp: "+said.Error())
	default:
		return f.classifyBody(ex, body, err)
	}
	return nil
}

// classifyFTP is classifyRequest, extended to replies of FTP servers.
func (f *Fetcher) classifyFTP(ctx context.Context, ex *Exchange, err error) error {
	var said *textproto.Error
	if !errors.As(err, &said) || context.Cause(ctx) != nil {
		return f.classifyRequest(ctx, ex, err)
	}
	switch {
	case said.Code == 421:
		ex.fail(catalog.RetryLater, catalog.ErrHTTPStatus, "ftp: "+said.Error())
	case said.Code >= 400 && said.Code < 600:
		ex.fail(catalog.NoVersion, catalog.ErrHTTPStatus, "ftp: "+said.Error())
	default:
		ex.fail(catalog.NoVersion, catalog.ErrProtocol, "ftp: "+said.Error())
	}
	return nil
}

// ftpDialer makes guarded connections: first the control connection, then those for data.
type ftpDialer struct {
	f       *Fetcher
	ctx     context.Context // of the fetch; the client library's callback has none
	ex      *Exchange
	via     *hosts.Proxy // nil for none
	control net.Addr
	host    string // of the control connection
}

func (d *ftpDialer) dial(network, address string) (net.Conn, error) {
	if d.control == nil {
		conn, err := d.f.dialVia(d.ctx, network, address, d.via)
		if err != nil {
			return nil, err
		}
		d.host, _, _ = net.SplitHostPort(address)
		d.control = conn.RemoteAddr()
		d.ex.RemoteAddr, d.ex.Reached = d.control.String(), d.f.opts.Now()
		context.AfterFunc(d.ctx, func() { _ = conn.Close() })
		return &controlConn{Conn: conn, idle: d.f.opts.Timeouts.Header}, nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1024 {
		return nil, fmt.Errorf("ftp: the server offers data on port %s", port)
	}
	host, _, err := net.SplitHostPort(d.control.String())
	if err != nil { // only the proxy knows it
		host = d.host
	}
	dial := d.f.dialOne
	if d.via != nil {
		dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return d.f.dialVia(ctx, network, address, d.via)
		}
	}
	conn, err := dial(d.ctx, network, net.JoinHostPort(host, port))
	if err != nil {
		return nil, err
	}
	context.AfterFunc(d.ctx, func() { _ = conn.Close() })
	return conn, nil
}

// controlConn limits how much an FTP server sends on the control connection, and the time until it answers.
type controlConn struct {
	net.Conn
	idle time.Duration
	read atomic.Int64
}

var errControlSize = errors.New("ftp: the server sends too much on the control connection")

func (c *controlConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Read(p)
	if c.read.Add(int64(n)) > maxControl {
		return 0, errControlSize
	}
	return n, err
}
