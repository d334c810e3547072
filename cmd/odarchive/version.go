package main

import (
	"encoding/json"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"odarchive/cmd/internal/licences"

	"github.com/spf13/cobra"
)

// release is the version of this source, where neither git nor the linker knows a better one.
const release = "1.0.0-rc.1"

// stamp is what the linker says of the program where Go does not know it: VERSION,REVISION,TIME (cmd/deploy/release).
var stamp string

// build describes this binary. JSON names are stable.
type build struct {
	Version  string `json:"version"`  // release if neither git nor the linker names one
	Revision string `json:"revision"` // of the source; empty if unknown
	Time     string `json:"time"`     // of the revision, RFC 3339; empty if unknown
	Modified bool   `json:"modified"` // the source differed from the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuild() build {
	b := build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if isOfTag(info.Main.Version) {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b.told(stamp)
}

// isOfTag reports whether a version comes from a tag, and is not made of a commit alone.
func isOfTag(version string) bool {
	version = strings.TrimPrefix(version, "v")
	return version != "" && version != "devel" && version != "(devel)" && !strings.HasPrefix(version, "0.0.0-")
}

// told returns the build with what a stamp says, if Go does not know its version and revision.
func (b build) told(stamp string) build {
	parts := strings.Split(stamp, ",")
	if b.Version != release || b.Revision != "" || len(parts) != 3 {
		return b
	}
	if isOfTag(parts[0]) {
		b.Version = parts[0]
	}
	b.Revision, b.Time, b.Modified = parts[1], parts[2], strings.HasSuffix(parts[0], "+dirty")
	return b
}

// String returns the text of the command.
func (b build) String() string {
	text := "odarchive " + b.Version + "\n"
	if b.Revision != "" {
		text += "revision " + b.Revision + " of " + b.Time
		if b.Modified {
			text += ", modified"
		}
		text += "\n"
	}
	return text + "built with " + b.Go + " for " + b.Platform + "\n"
}

func (c *cli) version() *cobra.Command {
	var texts bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show the version of this program, or the licences of what it contains",
		Example: `  odarchive version
  odarchive version --json
  odarchive version --licences | less`,
		Args: exactly(),
		RunE: func(*cobra.Command, []string) error {
			switch {
			case texts:
				_, err := io.WriteString(c.stdout, licences.ThirdParty())
				return err
			case c.json:
				return json.NewEncoder(c.stdout).Encode(readBuild())
			}
			_, err := io.WriteString(c.stdout, readBuild().String())
			return err
		},
	}
	cmd.Flags().BoolVar(&texts, "licences", false, "show the third-party software in the program and its licences")
	cmd.Flags().BoolVar(&c.json, "json", false, "machine-readable output")
	return cmd
}
