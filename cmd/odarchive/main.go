// Command odarchive is the archive in one program: it harvests catalogs, crawls files, keeps every version, serves
// versions and their descriptions, and answers queries.
//
// Each subcommand has its own file. The exit status is 0 for success, 1 for failure, 2 for wrong usage. Data goes to
// standard output, messages for people go to standard error.
package main

import (
	"os"

	"odarchive/cmd/internal/memory"
	"odarchive/crawler/inspect/examine"
)

func main() {
	if examine.IsChild() { // before anything else: this process is for the bytes of others alone
		os.Exit(examine.Serve())
	}
	ctx := untilStopped() // first, since without it a signal ends the process
	go memory.Govern(ctx) // these end with the process
	go memory.Watch(ctx)
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
