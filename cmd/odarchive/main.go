// Command odarchive is the whole archive in one program: it harvests catalogs, crawls files, keeps every version, serves
// them with their description, and answers queries from the command line.
//
// Each subcommand is one file. Exit status: 0 done, 1 failed, 2 wrong usage. Data goes to standard output, everything
// meant for people to standard error.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
