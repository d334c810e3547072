package quality

import (
	"fmt"

	"odarchive/ns"
)

// QueryOf returns a SPARQL query for what was measured of a dataset of a portal, or of the portal itself: ?metric
// ?mean.
func QueryOf(m ns.Mint, portal, thing string) string {
	return fmt.Sprintf(`PREFIX dqv: <http://www.w3.org/ns/dqv#>
SELECT ?metric ?mean {
  GRAPH <%s> {
    ?measurement dqv:computedOn <%s> ; dqv:isMeasurementOf ?metric ; dqv:value ?mean
  }
}`, Graph(m, portal), thing)
}
