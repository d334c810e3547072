// Command odarchive is the archive in one program: it harvests catalogs, crawls files, keeps every version, serves
// versions and their descriptions, and answers queries.
//
// Each subcommand has its own file. The exit status is 0 for success, 1 for failure, 2 for wrong usage. Data goes to
// standard output, messages for people go to standard error.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"odarchive/cmd/internal/memory"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	go memory.Govern(ctx)        // ends with the process
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
