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

// Each calls do for every address: at most parallel at a time, and one at a time of each host, so that a list of many
// repositories on one server is read politely. It ends with the context, or when all have been called.
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
	group.Wait() // nobody returns an error
}

// maxList bounds a list of sources.
const maxList = 100_000

// ReadList reads addresses, one a line; empty lines and what follows a # at the beginning of a line are passed over.
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
		return nil, fmt.Errorf("the list cannot be read: %w", err)
	}
	return list, nil
}
