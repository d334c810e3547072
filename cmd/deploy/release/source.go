package main

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// unknown is the version of a program whose source Go found no revision for.
const unknown = "devel"

// noTime is the time of files whose revision is not known: the first that every archive format can have.
const noTime = "1980-01-01T00:00:00Z"

// buildHost builds the program for this machine, and asks it for its version and time. Where Go does not find them,
// which it does not in a source without git, nor in a work tree beside a clone, the linker tells the program. Whether
// Go finds them is seen in a smaller program, inventory, which is needed anyway.
func (r *release) buildHost(ctx context.Context, host, inventory string) error {
	here := platform{runtime.GOOS, runtime.GOARCH}
	if err := r.build(ctx, here, inventory, "./cmd/internal/licences/inventory"); err != nil {
		return err
	}
	info, err := buildinfo.ReadFile(inventory)
	if err != nil {
		return err
	}
	if info.Main.Version == "" || info.Main.Version == "(devel)" {
		r.stamp = r.found(ctx)
	}
	if err := r.build(ctx, here, host, "./cmd/odarchive"); err != nil {
		return err
	}
	text, err := r.output(ctx, nil, host, "version", "--json")
	if err != nil {
		return err
	}
	var b struct {
		Version, Revision, Time string
		Modified                bool
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("odarchive version --json: %w", err)
	}
	if b.Modified {
		fmt.Fprintf(r.log, "release: the source differs from revision %s: nobody else can build the same\n", b.Revision)
	}
	r.version = strings.TrimPrefix(b.Version, "v")
	return r.setTime(cmp.Or(b.Time, noTime))
}

// setTime sets the time of all files, unless the environment does as
// https://reproducible-builds.org/specs/source-date-epoch/ says.
func (r *release) setTime(text string) (err error) {
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
		}
		r.time = time.Unix(seconds, 0).UTC()
		return nil
	}
	if r.time, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("odarchive version --json: %w", err)
	}
	r.time = r.time.UTC()
	return nil
}

// found returns the version that the build records in the program, as VERSION,REVISION,TIME: the version that was
// given, or what git says, as Go would say it. It returns "" if nothing is known.
func (r *release) found(ctx context.Context) string {
	if r.version != "" {
		return r.version + ",,"
	}
	line, err := r.output(ctx, []string{"TZ=UTC"}, "git", "log", "-1", "--format=%H %cd", "--date=format-local:%Y%m%d%H%M%S")
	revision, date, ok := strings.Cut(strings.TrimSpace(string(line)), " ")
	at, timeErr := time.Parse("20060102150405", date)
	if err != nil || !ok || timeErr != nil || len(revision) < 12 {
		return ""
	}
	version := "v0.0.0-" + date + "-" + revision[:12]
	if tag, err := r.output(ctx, nil, "git", "describe", "--tags", "--exact-match", "--match", "v[0-9]*"); err == nil {
		version = strings.TrimSpace(string(tag))
	}
	if changed, err := r.output(ctx, nil, "git", "status", "--porcelain"); err != nil || len(changed) > 0 {
		version += "+dirty"
	}
	return version + "," + revision + "," + at.Format(time.RFC3339)
}
