package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
)

// batch is consecutive entries of a list.
type batch struct {
	seeds   []catalog.Seed
	sorted  bool // the seeds are clean, and in the order of crawler.SortSeeds
	bad     []*badLine
	secrets int   // number of URLs from which a user or a password was removed
	read    int64 // bytes of the file read so far
	err     error // reading failed; nothing follows
}

// Bounds of a batch. It is sorted, and the larger it is, the fewer transactions write to the same host. A list that
// comes in slowly is registered in smaller batches.
const (
	maxBatch      = 32 * crawler.SeedsPerTxn
	maxBatchBytes = 16 << 20 // of text
	maxBatchTime  = time.Second
)

// Bounds of what add registers at a time, a part of a batch.
const (
	maxAdded      = 4 * crawler.SeedsPerTxn
	maxAddedBytes = 4 << 20 // of text
)

// textOf returns the bytes of a seed's text.
func textOf(s catalog.Seed) int {
	return len(s.URL) + len(s.Portal) + len(s.Dataset) + len(s.Title) + len(s.Format)
}

// parts yields seeds in parts that can be registered at a time.
func parts(seeds []catalog.Seed) iter.Seq[[]catalog.Seed] {
	return func(yield func([]catalog.Seed) bool) {
		for len(seeds) > 0 {
			n, text := 0, 0
			for n < min(len(seeds), maxAdded) && (n == 0 || text+textOf(seeds[n]) <= maxAddedBytes) {
				text += textOf(seeds[n])
				n++
			}
			if !yield(seeds[:n]) {
				return
			}
			seeds = seeds[n:]
		}
	}
}

// batches are read while the batch before is registered.
type batches struct {
	name string
	size int64 // bytes of the list; -1 if unknown
	ch   chan batch
}

// batchesOf reads a list of a size, -1 if unknown. When ctx ends, reading stops after the current read, which may wait
// for standard input for ever: the goroutine then ends with the process.
func batchesOf(ctx context.Context, list *seedList, size int64) *batches {
	b := &batches{name: list.name, size: size, ch: make(chan batch, 1)}
	go func() {
		defer close(b.ch)
		expected := 0 // as many as before
		for {
			next, more := readBatch(list, expected)
			expected = len(next.seeds)
			next.seeds, _ = crawler.SortSeeds(next.seeds)
			next.sorted = true
			select {
			case b.ch <- next:
			case <-ctx.Done():
				return
			}
			if !more {
				return
			}
		}
	}()
	return b
}

// next returns the next batch. ok is false after the last one, when ctx has ended, and if b is nil.
func (b *batches) next(ctx context.Context) (next batch, ok bool) {
	if b == nil {
		return batch{}, false
	}
	select {
	case next, ok = <-b.ch:
		return next, ok
	case <-ctx.Done():
		return batch{}, false
	}
}

// readBatch reads entries, probably about as many as expected, until a batch is full. more is false at the end of the
// list.
func readBatch(list *seedList, expected int) (b batch, more bool) {
	b.seeds = make([]catalog.Seed, 0, expected)
	text, began := 0, time.Now()
	list.secrets = 0
	for n := 0; n < maxBatch && text < maxBatchBytes && (n < crawler.SeedsPerTxn || time.Since(began) < maxBatchTime); n++ {
		s, err := list.next()
		var bad *badLine
		switch {
		case err == nil:
			b.seeds = append(b.seeds, s)
			text += textOf(s)
			continue
		case errors.As(err, &bad):
			b.bad = append(b.bad, bad)
			text += len(bad.Error())
			continue
		case !errors.Is(err, io.EOF):
			b.err = err
		}
		b.read, b.secrets = list.text.source.n, list.secrets
		return b, false
	}
	b.read, b.secrets = list.text.source.n, list.secrets
	return b, true
}

// badLines prints the bad lines of a list: the first shownBad to stderr, or all as a list in a JSON object.
type badLines struct {
	name  string // of the list
	count int
	first error

	cli *cli
}

const shownBad = 10

// begin must be called before the other methods. A second call has no effect.
func (l *badLines) begin(c *cli, name string) error {
	if l.cli != nil {
		return nil
	}
	l.cli, l.name = c, name
	if !c.json {
		return nil
	}
	_, err := io.WriteString(c.stdout, `{"bad": [`)
	return err
}

// add prints bad lines, or counts them.
func (l *badLines) add(bad []*badLine) error {
	for _, line := range bad {
		if l.count++; l.count == 1 {
			l.first = fmt.Errorf("%s:%d: %s", l.name, line.Line, shortError(line.Err))
		}
		var err error
		switch {
		case l.cli.json:
			err = l.addJSON(line)
		case l.count <= shownBad:
			_, err = fmt.Fprintf(l.cli.stderr, "odarchive: %s:%d: %s\n", l.name, line.Line, shortError(line.Err))
		case l.count == shownBad+1:
			_, err = fmt.Fprintf(l.cli.stderr, "odarchive: further bad lines are counted only; --json lists them\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l *badLines) addJSON(line *badLine) error {
	text, err := json.Marshal(map[string]any{"line": line.Line, "error": shortError(line.Err)})
	if err != nil {
		return err
	}
	separator := ",\n"
	if l.count == 1 {
		separator = "\n"
	}
	_, err = fmt.Fprintf(l.cli.stdout, "%s%s", separator, text)
	return err
}

// end ends the JSON object with figures.
func (l *badLines) end(given, added int) error {
	_, err := fmt.Fprintf(l.cli.stdout, "],\n \"given\": %d, \"added\": %d, \"skipped\": %d}\n", given, added, l.count)
	return err
}

// shortError returns an error's text on one line, cut to what a person reads: bad lines can be long.
func shortError(err error) string {
	const most = 300
	text := sentence(err)
	if len(text) <= most {
		return text
	}
	cut := most
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimSpace(text[:cut]) + "…"
}
