// Package sampleweb serves a small web of open-data hosts on loopback addresses, for the demo and for tests of commands
// that need a whole web: several hosts, robots.txt, ETags, files that change over time, an error page with status 200.
//
// It serves only the files of testdata/demo. An empty state of a file means that the file is gone. For servers that
// misbehave, see crawler/web/webtest.
package sampleweb

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"odarchive/testdata"

	"golang.org/x/sync/errgroup"
)

// Web is the running sample web.
type Web struct {
	hosts  map[string]*host
	named  bool
	server errgroup.Group
	stop   []func(context.Context) error
}

type host struct {
	name   string
	base   string // http://127.0.0.2:41234/, or http://city.example/
	at     string // 127.0.0.2:41234
	files  map[string][]state
	robots []byte
	age    func() int
}

// state is one state of a file, with its entity tag.
type state struct {
	bytes []byte
	etag  string
}

// Options of Start. The zero value serves the first state of every file.
type Options struct {
	// Step is how long each state of a file is served. The last one is served until the end.
	Step time.Duration
	// State, if not nil, returns the number of the state to serve instead. Greater numbers mean the last state.
	State func() int
	// Named gives hosts names, such as city.example, in their base addresses and in the catalog. Only clients that are
	// told where these hosts are can reach them.
	Named bool
	// At has the addresses that hosts with names get if they are free, by the name that Hosts returns; those without
	// one have a fixed address (see places).
	At map[string]string
	// Handlers are served by the host "portalwatch", by path: usually its SPARQL endpoint.
	Handlers map[string]http.Handler
}

// Start serves the web until Close. Every host gets a free port, and its own loopback address if the system has
// several.
func Start(opts Options) (*Web, error) {
	w := &Web{hosts: map[string]*host{}, named: opts.Named}
	started := time.Now()
	age := opts.State
	if age == nil {
		age = func() int { return int(time.Since(started) / max(opts.Step, 1)) }
		if opts.Step <= 0 {
			age = func() int { return 0 }
		}
	}
	for i, name := range All() {
		h := &host{name: name, age: age, files: map[string][]state{}}
		if err := h.read(testdata.Demo); err != nil {
			return nil, fmt.Errorf("sample web: host %s: %w", name, err)
		}
		mux := http.NewServeMux()
		mux.Handle("/", h)
		if name == "portalwatch" {
			for p, handler := range opts.Handlers {
				mux.Handle(p, handler)
			}
		}
		if err := w.listen(h, opts.places(name, i), mux); err != nil {
			w.Close()
			return nil, err
		}
	}
	return w, nil
}

// All returns the names of all hosts: those that serve files, and "portalwatch", which lists these.
func All() []string { return append(Names(), "portalwatch") }

// Names returns the names of the hosts that serve files, sorted.
func Names() (names []string) {
	entries, _ := testdata.Demo.ReadDir("demo") // it is part of the program
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}

// places returns where the i-th host may listen, best first: hosts with names on 127.0.0.2:8081, 127.0.0.3:8082 and so
// on, if these are free.
func (o Options) places(name string, i int) []string {
	free := []string{fmt.Sprintf("127.0.0.%d:0", i+2), "127.0.0.1:0"} // the latter for a system with a single loopback address
	if !o.Named {
		return free
	}
	fixed := o.At[name]
	if fixed == "" {
		fixed = fmt.Sprintf("127.0.0.%d:%d", i+2, 8081+i)
	}
	return append([]string{fixed}, free...)
}

func (w *Web) listen(h *host, places []string, handler http.Handler) error {
	var l net.Listener
	var err error
	for _, place := range places {
		if l, err = net.Listen("tcp", place); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("sample web: host %s: %w", h.name, err)
	}
	h.at = l.Addr().String()
	if h.base = "http://" + h.at + "/"; w.named {
		h.base = "http://" + Name(h.name) + "/"
	}
	w.hosts[h.name] = h
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	w.server.Go(func() error { return server.Serve(l) })
	w.stop = append(w.stop, server.Shutdown)
	return nil
}

// Close stops all hosts.
func (w *Web) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, stop := range w.stop {
		_ = stop(ctx) // remaining connections end with the process
	}
	_ = w.server.Wait() // always http.ErrServerClosed
}

// Base returns the base address of a host, with a final '/'.
func (w *Web) Base(name string) string { return w.hosts[name].base }

// Name returns the name of a host in the Domain Name System, where nobody has it: city.example.
func Name(host string) string { return host + ".example" }

// At returns the address and port on which a host listens.
func (w *Web) At(name string) string { return w.hosts[name].at }

// Catalog returns the TriG document that lists the files of the web as Portal Watch would, with the addresses of this
// run.
func (w *Web) Catalog() (string, error) { return w.document("catalog") }

// More returns what the demo's catalog lists, too, in the order of its harvests: what stays listed, and what only the
// first harvest finds.
func (w *Web) More() (stays, first string, err error) {
	if stays, err = w.document("more"); err == nil {
		first, err = w.document("briefly")
	}
	return stays, first, err
}

func (w *Web) document(name string) (string, error) {
	text, err := testdata.Demo.ReadFile("demo/" + name + ".trig")
	if err != nil {
		return "", fmt.Errorf("sample web: %w", err)
	}
	var pairs []string
	for name, h := range w.hosts {
		pairs = append(pairs, "{{"+name+"}}", h.base)
	}
	return strings.NewReplacer(pairs...).Replace(string(text)), nil
}

// read reads the host's files from demo/NAME. A host without a folder has no files.
func (h *host) read(fsys fs.FS) error {
	if robots, err := fs.ReadFile(fsys, "demo/robots-"+h.name+".txt"); err == nil {
		h.robots = robots
	}
	root := path.Join("demo", h.name)
	if _, err := fs.Stat(fsys, root); err != nil {
		return nil
	}
	return fs.WalkDir(fsys, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		bytes, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		url := strings.TrimPrefix(name, root)
		n, err := strconv.Atoi(strings.TrimPrefix(path.Ext(url), "."))
		url = strings.TrimSuffix(url, path.Ext(url))
		if err != nil || n != len(h.files[url]) { // WalkDir walks in lexical order, so state 0 comes first
			return fmt.Errorf("%s: the states are not numbered from 0 without a gap", name)
		}
		h.files[url] = append(h.files[url], state{bytes, fmt.Sprintf(`"%x"`, sha256.Sum256(bytes))[:18] + `"`})
		return nil
	})
}

var contentTypes = map[string]string{
	".csv": "text/csv", ".tsv": "text/tab-separated-values", ".json": "application/json", ".xml": "application/xml",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".zip": "application/zip", ".ttl": "text/turtle",
	".html": "text/html; charset=utf-8",
}

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/robots.txt" && h.robots != nil {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(h.robots) // the client may have disconnected
		return
	}
	name := r.URL.Path
	if name == "/" {
		name = "/index.html"
	}
	states := h.files[name]
	if len(states) == 0 {
		http.NotFound(w, r)
		return
	}
	current := states[min(h.age(), len(states)-1)]
	if len(current.bytes) == 0 {
		http.Error(w, "This file is gone.", http.StatusGone)
		return
	}
	w.Header().Set("ETag", current.etag)
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(current.bytes)))
}
