package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"odarchive/cmd/internal/store"
	"odarchive/crawler/inspect/examine"

	"github.com/spf13/cobra"
)

// localFile is a file of this machine that is being examined.
type localFile struct {
	*os.File
	name string
	size int64
	doc  *examine.Document
}

// known returns what is known of the file before it is examined.
func (f localFile) known() examine.File { return examine.File{Name: f.name} }

// eachFile opens the files one after another and calls f with each. If there are several, it prints failures at once,
// and returns an error at the end.
func (c *cli) eachFile(ctx context.Context, names []string, f func(file localFile) error) error {
	pool, err := store.NewExaminer(c.cfg, slog.New(slog.DiscardHandler), 1, "")
	if err != nil {
		return err
	}
	defer pool.Close()
	failed := 0
	for _, name := range names {
		err := oneFile(ctx, pool, name, f)
		if len(names) == 1 || ctx.Err() != nil {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintf(c.stderr, "odarchive: %s\n", sentence(err))
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d files could not be read", failed, len(names))
	}
	return nil
}

func oneFile(ctx context.Context, pool *examine.Pool, name string, f func(localFile) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return usagef("%s is a directory; expected files", name)
	}
	doc, err := pool.Open(ctx, examine.Crawl, examine.About{}, examine.Body{Size: info.Size(), R: file})
	if err != nil {
		return err
	}
	defer doc.Close()
	if err := f(localFile{file, name, info.Size(), doc}); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (c *cli) detect() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "detect FILE...",
		Short:   "Detect the types of files",
		Example: "  odarchive detect *.csv\n  odarchive detect --json data.bin",
		Args:    atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.eachFile(cmd.Context(), args, func(file localFile) error {
				known := file.known()
				known.Alone = true
				name := file.name
				found, err := file.doc.Detect(cmd.Context(), known)
				if err != nil {
					return err
				}
				if c.json {
					return c.line(found.Line(name))
				}
				kind := found.Type
				for _, more := range []string{found.Charset, found.Compression} {
					if more != "" {
						kind += ", " + more
					}
				}
				_, err = fmt.Fprintf(c.stdout, "%s: %s (%s)\n", printable(name), kind, found.Because)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "print one JSON object for each file")
	return cmd
}

func (c *cli) line(raw []byte, err error) error {
	if err == nil {
		_, err = fmt.Fprintf(c.stdout, "%s\n", raw)
	}
	return err
}
