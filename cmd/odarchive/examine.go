package main

import (
	"context"
	"fmt"
	"os"

	"odarchive/crawler/inspect/detect"

	"github.com/spf13/cobra"
)

// eachFile opens the files one after another and calls f with each. If there are several, it prints failures at once,
// and returns an error at the end.
func (c *cli) eachFile(ctx context.Context, names []string, f func(name string, file *os.File, size int64) error) error {
	failed := 0
	for _, name := range names {
		err := oneFile(name, f)
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

func oneFile(name string, f func(string, *os.File, int64) error) error {
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
	if err := f(name, file, info.Size()); err != nil {
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
			return c.eachFile(cmd.Context(), args, func(name string, file *os.File, size int64) error {
				found, err := detect.File(cmd.Context(), detect.Input{Name: name, Size: size, Body: file})
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
