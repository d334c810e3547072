package main

import (
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdFront implements "front VAR ADDRESS...", which listens at a new address and sets VAR to it. Connections are led to
// the first of the addresses at which the writer of an archive is ready; there are none while that is nowhere.
func cmdFront(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: front VAR ADDRESS...")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = l.Close() })
	ts.Setenv(args[0], l.Addr().String())
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go leadToWriter(conn, args[1:])
		}
	}()
}

func leadToWriter(conn net.Conn, addresses []string) {
	defer conn.Close()
	asks := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, address := range addresses {
		answer, err := asks.Get("http://" + address + "/readyz")
		if err != nil {
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || strings.Contains(string(text), "replica of") {
			continue
		}
		to, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		defer to.Close()
		go func() {
			defer conn.Close() // ends the other direction
			_, _ = io.Copy(conn, to)
		}()
		_, _ = io.Copy(to, conn)
		return
	}
}
