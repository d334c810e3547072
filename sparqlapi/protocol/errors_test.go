package protocol

import (
	"errors"
	"fmt"
	"testing"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/sparql"
)

func TestAnUpdateThatWaitsForTheBackupUntilItsTimeIsOverBlamesTheBackup(t *testing.T) {
	t.Parallel()
	var p *problem.Error
	err := ProblemOf(fmt.Errorf("update: %w: %w", kv.ErrUnacknowledged, sparql.ErrTimeout))
	if !errors.As(err, &p) || p.Title != "The backup does not have it" || p.Status != 503 || p.RetryAfter == 0 ||
		p.Fields["timedOut"] != nil {
		t.Errorf("%+v", err)
	}
}
