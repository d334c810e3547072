package quality

import (
	"fmt"

	"odarchive/ns"
)

// Query returns a SPARQL query for the means of a portal: ?metric ?mean.
func Query(m ns.Mint, portal string) string {
	return fmt.Sprintf(`PREFIX dqv: <http://www.w3.org/ns/dqv#>
SELECT ?metric ?mean {
  GRAPH <%s> {
    ?measurement dqv:computedOn <%s> ; dqv:isMeasurementOf ?metric ; dqv:value ?mean
  }
}`, Graph(m, portal), portal)
}
