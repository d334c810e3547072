package config

import (
	"fmt"

	"odarchive/triplestore/bucket"

	"github.com/spf13/pflag"
)

// BytesHere is the value of Config.Bytes with which all packs are fetched from their bucket, which is used no more.
const BytesHere = "none"

// bytesFlags adds the flags of an archive whose closed packs are in a bucket.
func (c *Config) bytesFlags(f *pflag.FlagSet) {
	f.StringVar(&c.Bytes, "bytes", c.Bytes,
		"keep packs that are full in a bucket, as s3://BUCKET/PREFIX?endpoint=http://HOST:PORT&region=REGION or file:///DIR; the archive "+
			"remembers it; none fetches them all back")
	f.Var(&c.Cache, "cache", "size of what is in the bucket of --bytes and on this disk, too; 0 for 10 GiB")
	f.BoolVar(&c.TakeBytes, "take-bytes", c.TakeBytes,
		"take the bucket of --bytes from another copy of this archive, which must not run any more")
}

// checkBytes returns what is wrong with the settings of the bucket.
func (c Config) checkBytes() error {
	if c.Bytes != "" && c.Bytes != BytesHere {
		if err := bucket.Check(c.Bytes); err != nil {
			return fmt.Errorf("--bytes: %w", err)
		}
	}
	if c.Cache < 0 {
		return fmt.Errorf("--cache %s: must not be negative", c.Cache)
	}
	return nil
}
