package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
)

// logFile is the file of --log-file. Programs that rotate logs rename it and send SIGHUP, at which it is opened again.
type logFile struct {
	name string

	mu   sync.Mutex // guards file
	file *os.File
}

// openLog opens a file to append to, which only this user may read: a log has the addresses of clients.
func openLog(name string) (*logFile, error) {
	l := &logFile{name: name}
	return l, l.reopen()
}

// reopen opens the file again, which another program may have renamed. After an error, the one before stays open. A
// pipe that nobody reads is an error; to wait for a reader would hold up the reload and the end of a server. It does
// nothing if l is nil.
func (l *logFile) reopen() error {
	if l == nil {
		return nil
	}
	f, err := os.OpenFile(l.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ENXIO) {
		err = fmt.Errorf("%s is a pipe that nobody reads", l.name)
	}
	if err != nil {
		return fmt.Errorf("--log-file: %w", err)
	}
	l.mu.Lock()
	before := l.file
	l.file = f
	l.mu.Unlock()
	if before != nil {
		return before.Close()
	}
	return nil
}

func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Write(p)
}

// close closes the file when the program has nothing more to log.
func (l *logFile) close() error {
	if l == nil {
		return nil
	}
	return l.file.Close()
}

var _ io.Writer = (*logFile)(nil)
