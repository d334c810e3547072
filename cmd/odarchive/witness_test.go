package main

import (
	"bufio"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/exchange/timestamp/tsatest"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdWitness implements "witness VAR FILE", which serves files at a new address, sets VAR to it and VARHOST to its
// host, and appends a line to FILE for each request: path, User-Agent, login, cookies and X-Key. /private/ is forbidden
// by robots.txt, /to/ADDRESS/PATH redirects there, and /fails/ has status 500.
func cmdWitness(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: witness VAR FILE")
	}
	note := noteTo(ts, args[1])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		note("%s agent=%s user=%s cookie=%s key=%s", r.URL.Path, r.UserAgent(), user, r.Header.Get("Cookie"), r.Header.Get("X-Key"))
		to, redirects := strings.CutPrefix(r.URL.Path, "/to/")
		switch {
		case r.URL.Path == "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /private/\n")
		case redirects:
			http.Redirect(w, r, "http://"+to, http.StatusFound)
		case strings.HasPrefix(r.URL.Path, "/fails/"):
			http.Error(w, "no", http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "text/csv")
			fmt.Fprintf(w, "path,length\n%s,%d\n", r.URL.Path, len(r.URL.Path))
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
	ts.Setenv(args[0]+"HOST", strings.TrimPrefix(server.URL, "http://"))
}

// cmdProxy implements "proxy VAR FILE", which starts an HTTP proxy that wants the login proxyuser:hunterproxy, sets VAR
// to its address, and appends a line to FILE for each tunnel.
func cmdProxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: proxy VAR FILE")
	}
	note := noteTo(ts, args[1])
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], "http://"+l.Addr().String())
	serve := func(conn net.Conn) {
		defer conn.Close()
		from := bufio.NewReader(conn)
		req, err := http.ReadRequest(from)
		if err != nil {
			return
		}
		if login := base64.StdEncoding.EncodeToString([]byte("proxyuser:hunterproxy")); req.Header.Get("Proxy-Authorization") != "Basic "+
			login {
			note("refused")
			fmt.Fprint(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			return
		}
		note("%s %s", req.Method, req.RequestURI)
		to, err := net.Dial("tcp", req.RequestURI)
		if err != nil {
			fmt.Fprint(conn, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			return
		}
		defer to.Close()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, from) }()
		_, _ = io.Copy(conn, to)
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go serve(conn)
		}
	}()
}

// noteTo returns a function that appends lines to a file, which it creates.
func noteTo(ts *testscript.TestScript, name string) func(format string, args ...any) {
	file, err := os.Create(ts.MkAbs(name))
	ts.Check(err)
	ts.Defer(func() { _ = file.Close() })
	var mu sync.Mutex
	return func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(file, format+"\n", args...)
	}
}

// cmdNowhere implements "nowhere TEXT... -- PATH...", which fails if a file below a path contains one of the texts, or
// has it in its name. It looks into gzip files, too.
func cmdNowhere(ts *testscript.TestScript, neg bool, args []string) {
	texts := args
	for i, a := range args {
		if a == "--" {
			texts, args = args[:i], args[i+1:]
			break
		}
	}
	if neg || len(texts) == 0 || len(args) == 0 {
		ts.Fatalf("usage: nowhere TEXT... -- PATH...")
	}
	for _, root := range args {
		seen := 0
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			seen++
			raw, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			plain := name + "\n" + string(raw)
			if z, err := gzip.NewReader(strings.NewReader(string(raw))); err == nil {
				unpacked, err := io.ReadAll(z)
				if err != nil {
					return err
				}
				plain += string(unpacked)
			}
			for _, text := range texts {
				if strings.Contains(plain, text) {
					ts.Fatalf("%s contains %q", name, text)
				}
			}
			return nil
		}))
		if seen == 0 {
			ts.Fatalf("%s has no files", root)
		}
	}
}

// cmdTSA implements "tsa VAR FILE", which starts a time-stamping authority, sets VAR to its address, and writes its
// root certificate to FILE. At /late it stamps with a time long ago, and at /big it answers with zeros without end.
func cmdTSA(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tsa VAR FILE")
	}
	good, err := tsatest.New()
	ts.Check(err)
	late := *good
	late.Clock = func() time.Time { return time.Now().AddDate(0, -3, 0) }
	mux := http.NewServeMux()
	mux.Handle("/", good)
	mux.Handle("/late", &late)
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		for zeros := make([]byte, 1<<16); ; {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), good.Roots, 0o600))
}
