package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"odarchive/crawler/frontier"
)

// Receiver is a server that takes orders.
type Receiver struct {
	Endpoint string // its address
	Token    string
}

// Order is what control.API's Requeue and Drop are asked.
type Order struct {
	Targets []string `json:"targets"`
	Why     string   `json:"why,omitempty"`
}

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 20

// Order posts an order to a path of the server.
func (r Receiver) Order(ctx context.Context, path string, o Order) (done frontier.Ordered, err error) {
	body, err := json.Marshal(o)
	if err != nil {
		return done, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(r.Endpoint, "/")+path, bytes.NewReader(body))
	if err != nil {
		return done, fmt.Errorf("--endpoint %q: expected an address such as http://localhost:8080/: %w", r.Endpoint, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.Token != "" {
		req.Header.Set("Authorization", "Bearer "+r.Token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return done, fmt.Errorf("endpoint: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return done, fmt.Errorf("endpoint: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		var problem struct{ Title, Detail string }
		if json.Unmarshal(answer, &problem) != nil || problem.Title == "" {
			problem.Title = fmt.Sprintf("%.200s", answer)
		}
		return done, fmt.Errorf("%s answered %s: %s", r.Endpoint, resp.Status, strings.TrimSuffix(problem.Title+": "+problem.Detail, ": "))
	}
	if err := json.Unmarshal(answer, &done); err != nil {
		return done, fmt.Errorf("endpoint: what %s answered is not an archive's answer: %w", r.Endpoint, err)
	}
	return done, nil
}
