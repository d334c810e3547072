// Command release builds what is given to others: a tarball for each platform, a .deb for each Linux, a bill of
// materials for each, an image of containers for all Linux platforms (OCI), and their checksums.
//
//	release -out bin/packages
//
// It runs in the root of a checkout whose modules are downloaded and whose pages are built ("make package" sees to
// both). The same revision gives the same bytes, wherever and by whomever it is built with the same Go: files have the
// time of the revision, and nothing else of the machine is in them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

func (p platform) String() string { return p.os + "_" + p.arch }

// platforms are those that packages are built for.
func platforms() []platform {
	return []platform{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	r := release{root: ".", log: log}
	var only string
	f := flag.NewFlagSet("release", flag.ContinueOnError)
	f.SetOutput(log)
	f.StringVar(&r.out, "out", "bin/packages", "directory to write to; what a former release wrote there is replaced")
	f.StringVar(&r.version, "version", "", "version of a source without git; with git, the program knows it")
	f.StringVar(&r.maintainer, "maintainer", "The ODArchive authors <odarchive@localhost>", "who answers for the .deb")
	f.StringVar(&only, "only", "", "platforms to build for, as linux_amd64,linux_arm64 (default all)")
	f.BoolVar(&r.noImage, "no-image", false, "build no image of containers")
	f.BoolVar(&r.imageOnly, "image-only", false, "build the image of containers only")
	f.BoolVar(&r.noDeb, "no-deb", false, "build tarballs only")
	if err := f.Parse(args); err != nil {
		return err
	}
	for _, p := range platforms() {
		if only == "" || strings.Contains(","+only+",", ","+p.String()+",") {
			r.platforms = append(r.platforms, p)
		}
	}
	if len(r.platforms) == 0 {
		return fmt.Errorf("-only %s: expected some of %v", only, platforms())
	}
	return r.run(ctx)
}
