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

// stamp is what the linker says of the program where Go does not know it: VERSION,REVISION,TIME (cmd/deploy/release).
var stamp string

// build describes this binary. JSON names are stable.
type build struct {
	Version  string `json:"version"`  // "devel" if it was built without version control
	Revision string `json:"revision"` // of the source; empty if unknown
	Time     string `json:"time"`     // of the revision, RFC 3339; empty if unknown
	Modified bool   `json:"modified"` // the source differed from the revision
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuild() build {
	b := build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
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

// told returns the build with what a stamp says, if Go does not know its version.
func (b build) told(stamp string) build {
	if parts := strings.Split(stamp, ","); b.Version == "devel" && len(parts) == 3 {
		b.Version, b.Revision, b.Time = parts[0], parts[1], parts[2]
		b.Modified = strings.HasSuffix(b.Version, "+dirty")
	}
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
