//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The system sends the signal of a closed pipe for a connection, too: only the reader of the output ends a demo
// by going away.
func TestTheDemoEndsWhenNobodyReadsItAndNotWhenAVisitorHangsUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	read, written := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		args := []string{"demo", "--listen", "127.0.0.1:0", "--data", filepath.Join(t.TempDir(), "archive")}
		ended <- run(ctx, args, strings.NewReader(""), written, io.Discard)
	}()
	lines, address := bufio.NewScanner(read), ""
	for address == "" && lines.Scan() {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasSuffix(fields[0], "/console") {
			address = strings.TrimPrefix(strings.TrimSuffix(fields[0], "/console"), "http://")
		}
	}
	for range 20 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal("a visitor who hung up ended the demo: ", err)
		}
		fmt.Fprintf(c, "GET /console HTTP/1.1\r\nHost: %[1]s\r\n\r\nGET /console HTTP/1.1\r\nHost: %[1]s\r\n\r\n", address)
		c.(*net.TCPConn).SetLinger(0)
		c.Close()
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGPIPE); err != nil { // what the system sends then, if a write comes too late
		t.Fatal(err)
	}
	if res, err := http.Get("http://" + address + "/readyz"); err != nil || res.StatusCode != 200 {
		t.Fatal("a visitor who hung up ended the demo: ", err)
	}
	read.Close()
	if status := <-ended; status != 0 {
		t.Errorf("status %d after the reader of the output went away", status)
	}
}
