//go:build unix

package listen

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe in the place of a renewed certificate is an error, and nothing waits for what comes out of it.
func TestCertificatePipe(t *testing.T) {
	dir := t.TempDir()
	pipe, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here:", err)
	}
	for _, names := range [][2]string{{pipe, key}, {key, pipe}} {
		if err := os.WriteFile(key, []byte("any"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadCertificate(names[0], names[1]); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("certificate %s, key %s: %v", names[0], names[1], err)
		}
	}
}

// A file that is far too large is not read.
func TestCertificateLarge(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cert.pem")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, maxPEM+1); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadCertificate(name, name); err == nil || !strings.Contains(err.Error(), "may have") {
		t.Errorf("LoadCertificate of a large file: %v", err)
	}
}
