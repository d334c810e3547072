//go:build unix

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTheExamplesOfProxiesServe runs each installed proxy server with its example configuration.
func TestTheExamplesOfProxiesServe(t *testing.T) {
	for name, c := range map[string]struct {
		example string
		around  func(example, address string) string
		args    func(file, dir string) []string
	}{
		"nginx": {"nginx.conf", func(example, address string) string {
			return "daemon off;\nmaster_process off;\npid pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log " +
				"off;\nclient_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path " +
				"s;\nserver {\nlisten " + address + ";\n" + example + "\n}\n}\n"
		}, func(file, dir string) []string { return []string{"-e", "stderr", "-p", dir + "/", "-c", file} }},
		"caddy": {"Caddyfile", func(example, address string) string {
			return "{\nadmin off\npersist_config off\nauto_https off\n}\n" + strings.Replace(example, "example.org {",
				"http://"+address+" {", 1)
		}, func(file, _ string) []string { return []string{"run", "--adapter", "caddyfile", "--config", file} }},
	} {
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name)
			}
			example, err := os.ReadFile(filepath.Join("..", "deploy", "proxies", c.example))
			if err != nil {
				t.Fatal(err)
			}
			dir, err := os.MkdirTemp("", "oda") // a socket's path must be short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			socket := filepath.Join(dir, "web.sock")
			start(t, []string{"serve", "--data", filepath.Join(dir, "data"), "--no-crawl", "--listen", "unix:" + socket, "--socket-mode",
				"0666", "--trust-proxy", "unix", "--base", "https://example.org/archive/", "--log-level", "error"})
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := free.Addr().String()
			free.Close()
			file := filepath.Join(dir, c.example)
			text := c.around(strings.ReplaceAll(string(example), "/run/odarchive/web.sock", socket), address)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			cmd := exec.CommandContext(ctx, program, c.args(file, dir)...)
			var said strings.Builder
			cmd.Stderr = &said
			cmd.Env = append(os.Environ(), "HOME="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { defer close(ended); _ = cmd.Wait() }()
			defer func() { stop(); <-ended }()
			ask := func(path string) (int, string) {
				for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
					answer, err := http.Get("http://" + address + path)
					if err != nil && time.Now().Before(deadline) {
						select {
						case <-ended:
							t.Fatalf("it ended: %s", said.String())
						default:
						}
						continue // it does not listen yet
					}
					if err != nil {
						t.Fatal(err)
					}
					defer answer.Body.Close()
					body, err := io.ReadAll(answer.Body)
					if err != nil {
						t.Fatal(err)
					}
					return answer.StatusCode, string(body)
				}
			}
			if status, body := ask("/archive/"); status != 200 || !strings.Contains(body, `href="/archive/search"`) {
				t.Errorf("the home page: %d, %.300s", status, body)
			}
			for _, path := range []string{"/archive/get/file/http://a.example//b/../c%2Fd?x=1",
				"/archive/get/file/http%3A%2F%2Fa.example%2F%2Fb%2F..%2Fc%252Fd%3Fx%3D1"} {
				if status, body := ask(path); status != 404 || !strings.Contains(body, "a.example//b/../c%2Fd?x=1") &&
					!strings.Contains(body, "a.example//c%2Fd?x=1") {
					t.Errorf("%s: %d, %s", path, status, body)
				}
			}
		})
	}
}
