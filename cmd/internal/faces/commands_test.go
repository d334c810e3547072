package faces

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/cmd/internal/store"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/operate/access"
)

// commandServer runs commands for clients.
func commandServer(t *testing.T, all map[string]Command) *Remote {
	t.Helper()
	guard := sparqlapi.NewGuard(access.NewTokens(access.Single("secret")), sparqlapi.Site{Base: "http://archive.example/"})
	c := newCommands(all, guard, &Faces{store: &store.Store{Log: slog.New(slog.DiscardHandler)}})
	server := httptest.NewServer(sparqlapi.New(sparqlapi.Options{Guard: c.guard, Commands: c}))
	t.Cleanup(server.Close)
	return NewRemote(server.URL, "secret")
}

// terminal returns a client's side without inputs, and what is printed.
func terminal() (t Terminal, out *bytes.Buffer) {
	out = new(bytes.Buffer)
	return Terminal{Stdout: out, Stderr: out, File: out, Progress: func(CommandProgress) {},
		Open: func(name string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("bytes of " + name)), nil
		}}, out
}

func TestACommandReadsItsInputsAndPrints(t *testing.T) {
	t.Parallel()
	r := commandServer(t, map[string]Command{"cat": {Right: access.Update, Run: func(_ context.Context, call *Call) CommandResult {
		for _, name := range call.Order.Arguments {
			in, err := call.Open(name)
			if err == nil {
				_, err = io.Copy(call.Stdout(), in)
			}
			if err != nil {
				return CommandResult{Status: 1, Error: err.Error()}
			}
		}
		return CommandResult{}
	}}})
	term, out := terminal()
	if result, err := r.RunCommand(t.Context(), "cat", CommandOrder{Arguments: []string{"a", "c"}, Inputs: []string{"a", "b", "c"}},
		term); err != nil || result.Error != `the client did not send "c"` || out.String() != "bytes of a" {
		t.Errorf("%+v, %v: %q", result, err, out)
	}
	out.Reset()
	big := strings.Repeat("0123456789", maxFrame)
	term.Open = func(name string) (io.ReadCloser, error) {
		if name == "lost" {
			return nil, errors.New("open lost: no such file")
		}
		return io.NopCloser(strings.NewReader(big)), nil
	}
	if result, err := r.RunCommand(t.Context(), "cat", CommandOrder{Arguments: []string{"a", "b"}, Inputs: []string{"a", "b"}},
		term); err != nil || result.Status != 0 || out.String() != big+big {
		t.Errorf("%+v, %v: %d bytes", result, err, out.Len())
	}
	if result, err := r.RunCommand(t.Context(), "cat", CommandOrder{Arguments: []string{"lost"}, Inputs: []string{"lost", "b"}},
		term); err != nil || result.Error != "open lost: no such file" {
		t.Errorf("%+v, %v", result, err)
	}
	r.token = "wrong"
	if _, err := r.RunCommand(t.Context(), "cat", CommandOrder{Arguments: []string{"a"}, Inputs: []string{"a"}}, term); err == nil ||
		!strings.Contains(err.Error(), "Wrong token") {
		t.Errorf("with a wrong token: %v", err)
	}
	if _, err := r.RunCommand(t.Context(), "nonsense", CommandOrder{}, term); !errors.Is(err, ErrNotServed) {
		t.Errorf("an unknown command: %v", err)
	}
}

func TestAnInterruptedClientStopsItsCommandAndHearsOfItsEnd(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{})
	r := commandServer(t, map[string]Command{"wait": {Run: func(ctx context.Context, call *Call) CommandResult {
		close(begun)
		<-ctx.Done()
		io.WriteString(call.Stderr(), "tidied up")
		return CommandResult{Status: 1, Error: ctx.Err().Error()}
	}}})
	term, out := terminal()
	ctx, interrupt := context.WithCancel(t.Context())
	go func() { <-begun; interrupt() }()
	if result, err := r.RunCommand(ctx, "wait", CommandOrder{}, term); err != nil || !result.Stopped || out.String() != "tidied up" {
		t.Errorf("%+v, %v, %q", result, err, out)
	}
}

func TestAnInterruptedClientThatHasSentLittleHearsOfTheEnd(t *testing.T) {
	t.Parallel()
	r := commandServer(t, map[string]Command{"read": {Run: func(_ context.Context, call *Call) CommandResult {
		in, err := call.Open("-")
		if err == nil {
			_, err = io.Copy(io.Discard, in)
		}
		if err == nil {
			return CommandResult{}
		}
		return CommandResult{Status: 1, Error: err.Error()}
	}}})
	term, _ := terminal()
	ctx, interrupt := context.WithCancel(t.Context())
	never, feed := io.Pipe()
	t.Cleanup(func() { feed.Close() })
	term.Open = func(string) (io.ReadCloser, error) {
		go func() {
			io.WriteString(feed, "some") // returns when it is read
			interrupt()
		}()
		return never, nil
	}
	if result, err := r.RunCommand(ctx, "read", CommandOrder{Inputs: []string{"-"}}, term); err != nil || !result.Stopped {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestACommandEndsWhenItsClientHasGone(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	r := commandServer(t, map[string]Command{"wait": {Run: func(ctx context.Context, _ *Call) CommandResult {
		defer close(ended)
		close(begun)
		<-ctx.Done()
		return CommandResult{Status: 1}
	}}})
	ctx, kill := context.WithCancel(t.Context())
	go func() { <-begun; kill() }()
	body := `{"id":"0123456789012345678901"}` + "\n"
	if in, err := r.stream(ctx, "/api/v1/commands/wait", strings.NewReader(body)); err == nil {
		in.Close()
	}
	<-ended
}

func TestAPanicIsTheCommandsFailure(t *testing.T) {
	t.Parallel()
	r := commandServer(t, map[string]Command{"panic": {Run: func(context.Context, *Call) CommandResult { panic("oh") }}})
	term, _ := terminal()
	if result, err := r.RunCommand(t.Context(), "panic", CommandOrder{}, term); err != nil || result.Status != 1 ||
		!strings.Contains(result.Error, "internal error") {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestWhatIsNoCommandIsRefused(t *testing.T) {
	t.Parallel()
	r := commandServer(t, map[string]Command{"cat": {Run: func(_ context.Context, call *Call) CommandResult {
		_, err := call.Open("a")
		if err == nil {
			return CommandResult{}
		}
		return CommandResult{Status: 1, Error: err.Error()}
	}}})
	for body, want := range map[string]string{
		"":                                   "400",
		"nonsense\n":                         "400",
		`{"id":"short"}` + "\n":              "400",
		`{"id":` + "\n":                      "400",
		`{"id":"0123456789012345"`:           "400",
		`{"id":"ID","inputs":["a"]}` + "\n":  "broke off",
		`{"id":"ID","inputs":["a"]}` + "\nb": "broke off",
		`{"id":"ID","inputs":["a"]}` + "\nz\x00\x00\x00\x00":                            "not a frame",
		`{"id":"ID","inputs":["a"]}` + "\nb\xff\xff\xff\xff":                            "not a frame",
		`{"id":"ID","inputs":["a"]}` + "\nx\x00\x00\x00\x02no":                          "no",
		`{"id":"ID","inputs":["b"]}` + "\nb\x00\x00\x00\x00":                            "did not send",
		`{"id":"ID","inputs":["a"],"flags":{"x":1}}` + "\n":                             "400",
		`{"id":"` + strings.Repeat("0", 1000) + `","inputs":["a"],"flags":null}` + "\n": "400",
	} {
		// what ran before may not have left yet
		resp, err := http.Post(r.base+"/api/v1/commands/cat", "application/octet-stream",
			strings.NewReader(strings.Replace(body, `"ID"`, `"`+rand.Text()+`"`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got := resp.Status
		if resp.StatusCode == http.StatusOK {
			term, _ := terminal()
			result, err := term.follow(resp.Body)
			if err != nil {
				t.Errorf("%q: %v", body, err)
			}
			got = result.Error
		}
		resp.Body.Close()
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", body, got, want)
		}
	}
}

func TestAResponseThatBreaksOffIsNoSuccess(t *testing.T) {
	t.Parallel()
	var whole bytes.Buffer
	frames := frameWriter{bufio.NewWriter(&whole)}
	if err := errors.Join(frames.write(frameStdout, []byte("some")), frames.writeJSON(frameResult, CommandResult{}),
		frames.w.Flush()); err != nil {
		t.Fatal(err)
	}
	for n := range whole.Len() {
		term, _ := terminal()
		if _, err := term.follow(bytes.NewReader(whole.Bytes()[:n])); err == nil {
			t.Fatalf("%d bytes of %d are a success", n, whole.Len())
		}
	}
}

func FuzzInputs(f *testing.F) {
	f.Add([]byte("b\x00\x00\x00\x00d\x00\x00\x00\x03abcz\x00\x00\x00\x00"))
	f.Add([]byte("x\x00\x00\x00\x02no"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		in := &inputs{frames: &frameReader{r: bufio.NewReader(bytes.NewReader(raw))}, names: []string{"a", "b"}}
		total := 0
		for _, name := range []string{"a", "b"} {
			body, err := in.Open(name)
			if err != nil {
				continue
			}
			n, _ := io.Copy(io.Discard, body)
			total += int(n)
		}
		if total > len(raw) {
			t.Errorf("%d bytes of %d", total, len(raw))
		}
	})
}
