package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/archive/transparency"
	"odarchive/triplestore/kv"
)

// killedLog is a log whose versions are numbers; fork makes the leaves of another history.
type killedLog struct {
	db   *kv.DB
	sign *transparency.Signer
	fork byte
	size int
}

func newKilledLog(t *testing.T, key string, fork byte) *killedLog {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return &killedLog{db: db, sign: &transparency.Signer{DB: db, File: key}, fork: fork}
}

// checkpoint grows the log to a size, and returns its signed checkpoint.
func (l *killedLog) checkpoint(t *testing.T, size int) []byte {
	t.Helper()
	err := l.db.Update(t.Context(), func(txn *kv.Txn) error {
		for ; l.size < size; l.size++ {
			leaf := transparency.Leaf{At: time.Unix(int64(l.size), 0), N: l.size, SHA256: [32]byte{byte(l.size), l.fork}}
			if _, err := (transparency.Txn{Txn: txn}).Append(fmt.Sprint(l.size), leaf); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.sign.Sign(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c.Note
}

// A witness that is killed (SIGKILL) while it cosigns goes on with the history that it cosigned, and cosigns no other.
func TestAKilledWitnessNeverCosignsTwoHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for seconds")
	}
	t.Parallel()
	dir, err := os.MkdirTemp("", "w") // short, for the socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := func(name string) string { return filepath.Join(dir, name) }
	key, err := transparency.NewKey(file("log.key"), "archive.example/log")
	if err != nil {
		t.Fatal(err)
	}
	secret, err := transparency.NewCosigner("witness.example/w1")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"witness.key": secret, "log.pub": strings.Join(key.Public, "\n")} {
		if err := os.WriteFile(file(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own, err := transparency.ParseCosigner(secret, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	known, err := transparency.Verifiers([]string{own.Public})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file("log.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file("stolen.key"), raw, 0o600); err != nil { // it signs another history, since it has no memory of its own
		t.Fatal(err)
	}
	honest, fork := newKilledLog(t, file("log.key"), 0), newKilledLog(t, file("stolen.key"), 1)
	client := &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", file("sock"))
		}}}
	submit := func(l *killedLog, note []byte, last int) error {
		ctx, cancel := context.WithTimeout(t.Context(), signTime)
		defer cancel()
		_, err := transparency.Submit(ctx, client, "http://witness/", known[0], note, int64(last), transparency.ProverOf(l.db))
		return err
	}
	cosigned := 0
	for round := range 5 {
		witness := launch(t, "log", "witness", "serve", "--key", file("log.pub"), "--witness-key", file("witness.key"), "--state",
			file("seen"), "--listen", "unix:"+file("sock"))
		var once sync.Once
		kill := func() {
			once.Do(func() {
				_ = witness.Process.Kill()
				_ = witness.Wait()
			})
		}
		t.Cleanup(kill)
		if cosigned > 0 {
			awaitSocket(t, file("sock"))
			if err := submit(fork, fork.checkpoint(t, cosigned+1), cosigned); err == nil {
				t.Fatal("another history is cosigned")
			}
		}
		killed := make(chan struct{})
		begun := time.Now()
		for n := 0; ; {
			next := cosigned + 1
			err := submit(honest, honest.checkpoint(t, next), cosigned)
			if err == nil {
				cosigned = next
				n++
			}
			select {
			case <-killed:
			default:
				switch {
				case err != nil && time.Since(begun) > signTime:
					t.Fatalf("the witness does not cosign: %v", err)
				case err != nil:
					time.Sleep(time.Millisecond) // it is starting, or being killed
				case n == 1+round:
					go func() {
						defer close(killed)
						time.Sleep(time.Duration(round) * time.Millisecond) // the moment is the point of the test
						kill()
					}()
				}
				continue
			}
			break
		}
	}
	if cosigned < 5 {
		t.Errorf("%d were cosigned", cosigned)
	}
}

// awaitSocket waits until a process listens on a socket.
func awaitSocket(t *testing.T, name string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("unix", name)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Since(begun) > signTime {
			t.Fatal(err)
		}
	}
}
