package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
)

// eachPart calls f with the targets of the command line and of --file, orderPart at a time.
func (c *cli) eachPart(o *orderFlags, args []string, f func([]string) error) error {
	for part := range slices.Chunk(o.withPatterns(args), orderPart) {
		if err := f(part); err != nil {
			return err
		}
	}
	if o.file == "" {
		return nil
	}
	return c.eachLine(o.file, orderPart, f)
}

// maxTargetLine is the maximum length of a line of a list of targets, in bytes.
const maxTargetLine = 8 << 10

// eachLine calls f with the lines of a file, n at a time, without empty ones and those that begin with #. "-" is
// standard input.
func (c *cli) eachLine(name string, n int, f func([]string) error) error {
	in, err := c.openInput(name)
	if err != nil {
		return err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxTargetLine)
	var part []string
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if part = append(part, line); len(part) == n {
			if err := f(part); err != nil {
				return err
			}
			part = part[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("list: %w", err)
	}
	if len(part) == 0 {
		return nil
	}
	return f(part)
}
