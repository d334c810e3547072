package quality

import (
	"fmt"

	"odarchive/ns"
)

// Query gives the means of a portal: ?metric ?mean, where it was measured.
func Query(m ns.Mint, portal string) string {
	return fmt.Sprintf(`PREFIX dqv: <http://www.w3.org/ns/dqv#>
SELECT ?metric ?mean {
  GRAPH <%s> {
    ?measurement dqv:computedOn <%s> ; dqv:isMeasurementOf ?metric ; dqv:value ?mean
  }
}`, Graph(m, portal), portal)
}
