// Command schedsim runs the archive's scheduler in a simulator of re-crawling, so that it can be compared with other
// schedulers. It reads the lines INIT, URL, READY, FETCH and TICK from standard input, and writes NEXT and END to
// standard output.
//
// It keeps one history per URL, as the frontier does, and calls package schedule. It has no clock, network or store.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"slices"
)

func main() {
	rule := flag.String("schedule", "adaptive",
		"adaptive: the planner, which has the budget and moves queued visits; serve: the rule of a crawl; paper: the rule of the paper")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr,
			"usage: schedsim [-schedule adaptive|serve|paper]\nSpeaks the line protocol of a re-crawl simulator on standard input and "+
				"output.\nExit status: 0 at the end of input, 1 on a bad line, 2 on wrong usage.")
	}
	flag.Parse()
	if flag.NArg() > 0 || !slices.Contains([]string{"adaptive", "serve", "paper"}, *rule) {
		flag.Usage()
		os.Exit(2)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	s := &simulation{name: *rule, out: out}
	for in.Scan() {
		if err := s.line(in.Text()); err != nil {
			fmt.Fprintf(os.Stderr, "schedsim: %v\n", err)
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintf(os.Stderr, "schedsim: %v\n", err)
		os.Exit(1)
	}
}
