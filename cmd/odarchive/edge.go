package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"odarchive/cmd/internal/listen"

	"github.com/spf13/pflag"
)

// edge is where a server meets its clients and the system's manager.
type edge struct {
	listeners []net.Listener
	cert      *listen.Certificate // nil for plain HTTP
	notify    *listen.Notifier
}

// watchCertificate is how often a renewed certificate is looked for.
const watchCertificate = 30 * time.Second

// openEdge opens the listeners of the settings. The caller closes them.
func (c *cli) openEdge(flags *pflag.FlagSet) (e *edge, err error) {
	e = &edge{notify: listen.NewNotifier()}
	settings := c.cfg.Serve
	if settings.TLSCert != "" {
		if e.cert, err = listen.LoadCertificate(settings.TLSCert, settings.TLSKey); err != nil {
			return nil, err
		}
	}
	address := settings.Listen
	if !flags.Changed("listen") && listen.Passed() {
		address = "systemd"
	}
	mode, err := settings.Mode()
	if err != nil {
		return nil, err
	}
	if e.listeners, err = listen.Open(address, mode); err != nil {
		return nil, err
	}
	for i, l := range e.listeners {
		if e.cert != nil && l.Addr().Network() == "tcp" { // whoever reaches a unix socket is on this machine
			e.listeners[i] = e.cert.Listener(l)
		}
	}
	return e, nil
}

func (e *edge) close() (err error) {
	for _, l := range e.listeners {
		if closed := l.Close(); closed != nil && !errors.Is(closed, net.ErrClosed) {
			err = errors.Join(err, closed)
		}
	}
	return err
}

// places names what the server listens on.
func (e *edge) places() string {
	var names []string
	for _, l := range e.listeners {
		name := l.Addr().String()
		if l.Addr().Network() == "unix" {
			name = "a unix socket"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// base returns the address of the server for clients on this machine, "" if it listens on unix sockets only.
func (e *edge) base() string {
	for _, l := range e.listeners {
		if _, port, err := net.SplitHostPort(l.Addr().String()); err == nil {
			scheme := "http"
			if e.cert != nil {
				scheme = "https"
			}
			return scheme + "://localhost:" + port + "/"
		}
	}
	return ""
}

// watch does what listeners need beside the server, until ctx ends.
func (c *cli) watch(ctx context.Context, e *edge) {
	var group sync.WaitGroup
	group.Go(func() { e.notify.Watch(ctx) })
	if e.cert != nil {
		c.sayCertificate(e.cert, nil)
		group.Go(func() {
			e.cert.Watch(ctx, watchCertificate, func(err error) { c.sayCertificate(e.cert, err) })
		})
	}
	group.Wait()
}

// sayCertificate logs that a certificate was read, or why not.
func (c *cli) sayCertificate(cert *listen.Certificate, err error) {
	leaf := cert.Leaf()
	switch {
	case err != nil:
		c.log.Error("the certificate stays as it was", "err", err, "ends", leaf.NotAfter)
	case time.Now().After(leaf.NotAfter):
		c.log.Error("the certificate has ended", "names", leaf.DNSNames, "ends", leaf.NotAfter)
	default:
		c.log.Info("certificate", "names", leaf.DNSNames, "ends", leaf.NotAfter)
	}
}

// isLocal reports whether an address is one of this machine or of a private network.
func isLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return true
	}
	name := u.Hostname()
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
}

// portOf returns the port of a base; "" if it has none.
func portOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Port()
}

// servedElsewhere says what it means that an archive whose addresses begin with one local base is served at another.
func servedElsewhere(base, at string) string {
	return fmt.Sprintf("The addresses in this archive begin with %s, where nothing of it answers now; it is served at %s. "+
		"--listen 127.0.0.1:%s listens there, and 'odarchive admin rebase --base %s' makes them begin as they are served.", base, at,
		cmp.Or(portOf(base), "80"), at)
}
