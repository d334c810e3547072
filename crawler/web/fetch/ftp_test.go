package fetch

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

// ftpServer is a server with one file, "data", and the quirks of a case.
type ftpServer struct {
	greeting string // "" for a good one
	size     int    // said of the file; -1: not known
	send     string // of the file
	last     string // after the data
	epsv     bool
	pasv     string // what PASV says instead of the truth, "" for the truth
	data     net.Listener
}

func (s *ftpServer) start(t *testing.T) (address string) {
	t.Helper()
	control, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if s.data, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := control.Accept()
			if err != nil {
				return
			}
			s.talk(conn)
		}
	}()
	t.Cleanup(func() { control.Close(); s.data.Close(); <-done })
	return control.Addr().String()
}

func (s *ftpServer) talk(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	if s.greeting != "" {
		say("%s", s.greeting)
		if !strings.HasPrefix(s.greeting, "220") {
			return
		}
	} else {
		say("220 welcome")
	}
	_, port, _ := net.SplitHostPort(s.data.Addr().String())
	var n int
	fmt.Sscan(port, &n)
	for in := bufio.NewScanner(conn); in.Scan(); {
		word, arg, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "USER":
			say("331 password?")
		case "PASS":
			say("230 in")
		case "FEAT":
			say("211-features\r\n MDTM\r\n SIZE\r\n211 end")
		case "MDTM":
			say("213 20260102030405")
		case "SIZE":
			if s.size < 0 {
				say("550 no")
			} else {
				say("213 %d", s.size)
			}
		case "EPSV":
			if s.epsv {
				say("229 here (|||%d|)", n)
			} else {
				say("502 no")
			}
		case "PASV":
			if s.pasv != "" {
				say("227 here (%s)", s.pasv)
			} else {
				say("227 here (10,0,0,1,%d,%d)", n/256, n%256) // another host's address
			}
		case "RETR":
			if arg != "/pub/data.csv" {
				say("550 no such file")
				continue
			}
			data, err := s.data.Accept()
			if err != nil {
				return
			}
			say("150 here it comes")
			fmt.Fprint(data, s.send)
			data.Close()
			say("%s", s.last)
		case "QUIT":
			say("221 bye")
			return
		default:
			say("200 fine")
		}
	}
}

func TestFilesComeByFTP(t *testing.T) {
	t.Parallel()
	good := ftpServer{size: 8, send: "a,b\n1,2\n", last: "226 done", epsv: true}
	for _, c := range []struct {
		name, path, want string
		change           func(*ftpServer)
	}{
		{"a file", "/pub/data.csv", "ok", func(*ftpServer) {}},
		{"passive mode of old, with a false address", "/pub/data.csv", "ok", func(s *ftpServer) { s.epsv = false }},
		{"a data port of another service", "/pub/data.csv", "no-version protocol",
			func(s *ftpServer) { s.epsv, s.pasv = false, "127,0,0,1,0,25" }},
		{"no such file", "/pub/other.csv", "no-version http-status", func(*ftpServer) {}},
		{"less than announced", "/pub/data.csv", "no-version truncated", func(s *ftpServer) { s.size = 100 }},
		{"given up in the middle", "/pub/data.csv", "no-version truncated", func(s *ftpServer) { s.last = "426 aborted" }},
		{"more than allowed", "/pub/data.csv", "no-version too-large", func(s *ftpServer) { s.size = 2000 }},
		{"more than allowed, unannounced", "/pub/data.csv", "no-version too-large",
			func(s *ftpServer) { s.size, s.send = -1, strings.Repeat("x", 2000) }},
		{"empty", "/pub/data.csv", "no-version empty-body", func(s *ftpServer) { s.size, s.send = 0, "" }},
		{"too many users", "/pub/data.csv", "retry-later http-status", func(s *ftpServer) { s.greeting = "421 too many" }},
		{"no FTP at all", "/pub/data.csv", "no-version protocol", func(s *ftpServer) { s.greeting = "HTTP/1.1 400 Bad Request" }},
		{"a talkative server", "/pub/data.csv", "no-version protocol",
			func(s *ftpServer) { s.greeting = "220-" + strings.Repeat("welcome", maxControl/7+1) }},
		{"a line break in the name", "/pub/data.csv%0d%0aDELE%20x", "no-version bad-url", func(*ftpServer) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := good
			c.change(&s)
			f := newFetcher(t, Options{MaxBody: 1000, Timeouts: quick})
			ex := get(t, f, Request{URL: "ftp://" + s.start(t) + c.path})
			got := strings.TrimSpace(string(ex.Outcome) + " " + string(ex.ErrorClass))
			if ex.Body != nil {
				got = "ok"
			}
			if got != c.want {
				t.Errorf("got %q (%s), want %q", got, ex.Why, c.want)
			}
			if got != "ok" {
				return
			}
			if text(t, ex) != "a,b\n1,2\n" || ex.FileName != "data.csv" || ex.LastModified != "Fri, 02 Jan 2026 03:04:05 GMT" {
				t.Errorf("got %+v", ex)
			}
			again := get(t, f, Request{URL: ex.URL, LastModified: ex.LastModified})
			if again.Outcome != catalog.Unchanged {
				t.Errorf("the second time: %+v", again)
			}
		})
	}
}
