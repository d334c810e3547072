package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// TokenFlags defines the flags for the token, which usage describes.
func (c *Config) TokenFlags(f *pflag.FlagSet, usage string) {
	f.StringVar(&c.Serve.Token, "token", c.Serve.Token,
		usage+"; other users of this machine see it in lists of processes: better are --token-file and ODARCHIVE_TOKEN")
	f.Var(&lineOfFile{into: &c.Serve.Token}, "token-file", "file whose only line is the token")
}

// lineOfFile is a flag that takes the name of a file and sets a string to its only line.
type lineOfFile struct {
	into *string
	name string
}

const maxLineOfFile = 4 << 10 // bytes

func (l *lineOfFile) Set(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxLineOfFile+1))
	if err != nil {
		return err
	}
	line := strings.TrimSpace(string(b))
	switch {
	case len(b) > maxLineOfFile:
		return fmt.Errorf("it has more than %d bytes", maxLineOfFile)
	case line == "":
		return errors.New("it is empty")
	case strings.ContainsAny(line, "\r\n"):
		return errors.New("it has more than one line")
	}
	*l.into, l.name = line, name
	return nil
}

func (l *lineOfFile) String() string { return l.name }

func (l *lineOfFile) Type() string { return "file" }
