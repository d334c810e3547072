package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/crawler/inspect/examine"
	"odarchive/testdata"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// TestMain runs the test binary as the program itself in scripts, and in tests that kill it.
func TestMain(m *testing.M) {
	if examine.IsChild() {
		os.Exit(examine.Serve())
	}
	// The race detector delays the exit of each program by a second, to see races with it. The tests run a thousand
	// programs.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=50")
	}
	// In the background of a shell script, interrupts are ignored, and programs inherit that: one that is interrupted
	// before it handles interrupts would not end.
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	testscript.Main(m, map[string]func(){"odarchive": main})
}

// Each script is a story of a user at the command line.
func TestStories(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"front": cmdFront, "witness": cmdWitness, "proxy": cmdProxy, "nowhere": cmdNowhere, "tsa": cmdTSA,
			"web": cmdWeb, "host": cmdHost, "status": cmdStatus, "flip": cmdFlip, "free": cmdFree, "terminal": cmdOnTerminal,
			"http": cmdHTTP, "lastline": cmdLastLine,
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("ODARCHIVE_DATA", filepath.Join(env.WorkDir, "archive"))
			env.Setenv("ODARCHIVE_LOG_LEVEL", "warn")
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Values[webKey{}] = new(scriptWeb)
			return nil
		},
	})
}

// scriptWeb is the sample web of a script, after its start.
type scriptWeb struct {
	started bool
	state   atomic.Int64
}

type webKey struct{}

// cmdWeb implements "web N", which serves state N of every file of the sample web. Its first use starts the web, and
// sets CITY, REGION, LIBRARY and PORTALWATCH to the addresses of the hosts, CITYHOST and so on to their names, and WEB
// to a folder with every state of every file.
func cmdWeb(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: web STATE")
	}
	state, err := strconv.Atoi(args[0])
	ts.Check(err)
	web := ts.Value(webKey{}).(*scriptWeb)
	web.state.Store(int64(state))
	if !web.started {
		web.started = true
		web.start(ts)
	}
}

func (s *scriptWeb) start(ts *testscript.TestScript) {
	endpoint, err := faces.NewEndpoint(slog.New(slog.DiscardHandler))
	ts.Check(err)
	web, err := sampleweb.Start(sampleweb.Options{State: func() int { return int(s.state.Load()) }, Handlers: endpoint.Handlers()})
	ts.Check(err)
	ts.Defer(func() {
		web.Close()
		ts.Check(endpoint.Close())
	})
	catalog, err := web.Catalog()
	ts.Check(err)
	ts.Check(endpoint.Load(context.Background(), catalog))
	for _, host := range sampleweb.All() {
		base := strings.TrimSuffix(web.Base(host), "/")
		ts.Setenv(strings.ToUpper(host), base)
		ts.Setenv(strings.ToUpper(host)+"HOST", strings.TrimPrefix(base, "http://"))
	}
	ts.Setenv("WEB", ts.MkAbs("web"))
	for _, file := range []string{"city/bevoelkerung/bezirke.csv", "city/environment/trees.csv", "city/transport/stops.tsv",
		"library/loans/branches.csv"} {
		for n, bytes := range sampleStates(file) {
			name := ts.MkAbs("web/" + file + "." + strconv.Itoa(n))
			ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
			ts.Check(os.WriteFile(name, bytes, 0o644))
		}
	}
}

// sampleStates returns the bytes of all states of a file of the sample web, such as "city/environment/trees.csv".
func sampleStates(file string) (all [][]byte) {
	for {
		state, err := testdata.Demo.ReadFile(fmt.Sprintf("demo/%s.%d", file, len(all)))
		if err != nil {
			return all
		}
		all = append(all, state)
	}
}

// cmdHost implements "host VAR DIR", which serves the files of a folder at a new address and sets VAR to it. In the
// files, @HOST@ is replaced by the address. index.html is the home page. An OAI-PMH request is
// answered with VERB.xml or VERB-TOKEN.xml in the folder of its path.
func cmdHost(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: host VAR DIR")
	}
	dir := ts.MkAbs(args[1])
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.Join(dir, filepath.FromSlash(path.Clean("/"+r.URL.Path)))
		if verb := r.FormValue("verb"); verb != "" {
			if token := r.FormValue("resumptionToken"); token != "" {
				verb += "-" + filepath.Base(token)
			}
			name = filepath.Join(name, filepath.Base(verb)+".xml")
		}
		if r.URL.Path == "/" {
			name = filepath.Join(dir, "index.html")
		}
		body, err := os.ReadFile(name)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", mime.TypeByExtension(filepath.Ext(name)))
		w.Write(bytes.ReplaceAll(body, []byte("@HOST@"), []byte("http://"+r.Host)))
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
	ts.Setenv(args[0]+"HOST", strings.TrimPrefix(server.URL, "http://"))
}

// cmdFree implements "free VAR", which sets a variable to an unused loopback address.
func cmdFree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: free VAR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], l.Addr().String())
	ts.Check(l.Close())
}

// cmdLastLine implements "lastline VAR", which puts the last line that was printed into a variable.
func cmdLastLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lastline VAR")
	}
	text := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Setenv(args[0], strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]))
}

// cmdHTTP implements "http METHOD URL [BODY]", which sends a request with the token "secret" and prints status and
// body. It waits for a server that is starting. With "until TEXT" at the end it repeats the request until the answer
// contains the text.
func cmdHTTP(ts *testscript.TestScript, neg bool, args []string) {
	until := ""
	if n := len(args); n >= 4 && args[n-2] == "until" {
		until, args = args[n-1], args[:n-2]
	}
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: http METHOD URL [BODY] [until TEXT]")
	}
	body := strings.Join(args[2:], "")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		request, err := http.NewRequest(args[0], args[1], strings.NewReader(body))
		ts.Check(err)
		request.Header.Set("Authorization", "Bearer secret")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			if time.Now().After(deadline) {
				ts.Fatalf("%v", err)
			}
			continue
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		ts.Check(err)
		if !strings.Contains(string(text), until) && time.Now().Before(deadline) {
			continue
		}
		fmt.Fprintf(ts.Stdout(), "%d\n%s", answer.StatusCode, text)
		return
	}
}

// cmdStatus implements "status 2 odarchive ...", which runs a command that must end with the given exit status.
func cmdStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		got = -1
		if exit, ok := err.(interface{ ExitCode() int }); ok {
			got = exit.ExitCode()
		}
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit status %d (%v), want %s", strings.Join(args[1:], " "), got, err, args[0])
	}
}

// cmdFlip implements "flip PATTERN", which flips a bit in the middle of the first file that matches.
func cmdFlip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip PATTERN")
	}
	names, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	if len(names) == 0 {
		ts.Fatalf("%s: no such file", args[0])
	}
	raw, err := os.ReadFile(names[0])
	ts.Check(err)
	raw[len(raw)/2] ^= 1
	ts.Check(os.Chmod(names[0], 0o600))
	ts.Check(os.WriteFile(names[0], raw, 0o600))
}
