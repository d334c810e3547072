package config

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"odarchive/triplestore/bucket"

	"github.com/spf13/pflag"
)

// Backup has the settings of the continuous backup.
type Backup struct {
	To        string        // URL of a bucket; "" for the one that the directory remembers, NoBackup for none
	Days      int           // how far back every moment can be restored
	Every     time.Duration // how often what was committed is copied
	Wait      bool          // commits wait until they are copied
	Advertise string        // address of this server, for others; "" for Base
	Promote   bool          // become the writer, whoever is it
	// PromoteAfter is how long a follower must not have heard of the writer before it becomes the writer; 0 for never.
	PromoteAfter time.Duration
}

// NoBackup is the value of Backup.To with which an archive has no continuous backup any more.
const NoBackup = "none"

// On reports whether a continuous backup is named.
func (b Backup) On() bool { return b.To != "" && b.To != NoBackup }

// maxBackupDays bounds Backup.Days.
const maxBackupDays = 3650

// minPromoteAfter is several times as long as the pause between two signs of a writer.
const minPromoteAfter = 15 * time.Second

// BackupFlags adds the flags of commands that copy the archive while they write it.
func (c *Config) BackupFlags(f *pflag.FlagSet) {
	b := &c.Backup
	f.StringVar(&b.To, "backup-to", b.To,
		"bucket into which the archive is copied continuously, as s3://BUCKET/PREFIX?endpoint=https://HOST or file:///DIR: it can be "+
			"restored from there as it was at any moment ('odarchive restore -h'). The directory remembers it, for all that writes "+
			"there; none ends that")
	f.IntVar(&b.Days, "backup-days", b.Days, "how many days back every moment can be restored")
	f.DurationVar(&b.Every, "backup-every", b.Every,
		"how often what was committed is copied: this much, and the time of an upload, can be lost with the machine")
	f.BoolVar(&b.Wait, "backup-wait", b.Wait,
		"acknowledge nothing before the bucket has it: then nothing acknowledged is lost with the machine, and each commit takes an "+
			"upload longer")
}

// WriterFlags adds the flags of servers that may replace one another as the writer.
func (c *Config) WriterFlags(f *pflag.FlagSet) {
	b := &c.Backup
	f.StringVar(&b.Advertise, "advertise", b.Advertise, "address at which others reach this server when it is the writer (default --base)")
	f.BoolVar(&b.Promote, "promote", b.Promote,
		"become the writer of the archive in --backup-to, also if another server is: that one stops writing")
	f.DurationVar(&b.PromoteAfter, "promote-after", b.PromoteAfter,
		"with --follow: become the writer when the one in --backup-to has not been heard of for this long, at least 15s; 0 for never")
}

func (b Backup) check() error {
	if !b.On() {
		if b.Wait || b.Promote || b.PromoteAfter != 0 {
			return errors.New("--backup-wait, --promote and --promote-after need --backup-to")
		}
		return nil
	}
	if err := bucket.Check(b.To); err != nil {
		return fmt.Errorf("--backup-to: %w", err)
	}
	if b.Days < 1 || b.Days > maxBackupDays {
		return fmt.Errorf("--backup-days %d: expected a number from 1 to %d", b.Days, maxBackupDays)
	}
	if b.Every < 10*time.Millisecond || b.Every > time.Hour {
		return fmt.Errorf("--backup-every %s: expected a time from 10ms to 1h", b.Every)
	}
	if b.PromoteAfter != 0 && b.PromoteAfter < minPromoteAfter {
		return fmt.Errorf("--promote-after %s: expected at least %s, or 0 for never: a writer is heard of every 5 seconds", b.PromoteAfter,
			minPromoteAfter)
	}
	if b.Advertise != "" {
		if u, err := url.Parse(b.Advertise); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
			return fmt.Errorf("--advertise %.200q: expected an address such as https://archive.example.org/", b.Advertise)
		}
	}
	return nil
}

// checkPlaces returns an error if the continuous backup would be among the files of the archive, or among its packs.
func (c Config) checkPlaces() error {
	if !c.Backup.On() {
		return nil
	}
	data, err := bucket.FileURL(c.Data)
	if err != nil {
		return fmt.Errorf("--data: %w", err)
	}
	if bucket.Overlap(c.Backup.To, data) {
		return fmt.Errorf(
			"--backup-to %s: a backup must not be in the data directory (%s), nor contain it: name another directory, best on another disk",
			c.Backup.To, c.Data)
	}
	if bucket.Overlap(c.Backup.To, c.Bytes) {
		return fmt.Errorf(
			"--backup-to %s: a backup must not be in the bucket of --bytes (%s), nor contain it: give each a prefix of its own, such as "+
				"/backup and /packs", c.Backup.To, c.Bytes)
	}
	return nil
}
