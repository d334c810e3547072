package config

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Follow has the settings of read replicas.
type Follow struct {
	Writer string        // address of the archive to follow; "" if this is no replica
	MaxLag time.Duration // beyond it the replica is not ready; 0 for no limit
}

// FollowFlags adds the flags of read replicas.
func (c *Config) FollowFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Follow.Writer, "follow", c.Follow.Writer,
		"address of an archive to be a read replica of; its token, with the right replicate, is that of --token, and --data is a "+
			"directory of the replica's own")
	f.DurationVar(&c.Follow.MaxLag, "max-lag", c.Follow.MaxLag, "how far a read replica may be behind before /readyz fails, 0 for no limit")
}

// Check returns an error if the address is not one of HTTP.
func (f Follow) Check() error {
	u, err := url.Parse(f.Writer)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("--follow %q: expected an address such as http://localhost:8080/", f.Writer)
	}
	if f.MaxLag < 0 {
		return fmt.Errorf("--max-lag %v: expected 0 or more", f.MaxLag)
	}
	return nil
}

// Address returns the writer's address with a final '/'.
func (f Follow) Address() string { return strings.TrimSuffix(f.Writer, "/") + "/" }
