package harvest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Each calls do with the index of every address, at most parallel calls at a time and one at a time per host, so that
// many repositories on one server are read politely. It returns when all calls have, or skips the rest if ctx ends.
func Each(ctx context.Context, addresses []string, parallel int, do func(ctx context.Context, i int)) {
	hosts := map[string][]int{}
	var order []string
	for i, address := range addresses {
		host := address
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			host = strings.ToLower(u.Hostname())
		}
		if hosts[host] == nil {
			order = append(order, host)
		}
		hosts[host] = append(hosts[host], i)
	}
	var group errgroup.Group
	group.SetLimit(max(1, parallel))
	for _, host := range order {
		group.Go(func() error {
			for _, i := range hosts[host] {
				if ctx.Err() != nil {
					return nil
				}
				do(ctx, i)
			}
			return nil
		})
	}
	group.Wait() // no function returns an error
}

// maxList is the maximum number of sources in a list.
const maxList = 100_000

// ReadList reads addresses, one per line. It skips empty lines and lines that begin with #.
func ReadList(r io.Reader) ([]string, error) {
	var list []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if len(list) == maxList {
			return nil, fmt.Errorf("the list holds more than %d sources", maxList)
		}
		list = append(list, line)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read the list: %w", err)
	}
	return list, nil
}
