package quality

import (
	"fmt"

	"odarchive/ns"
)

// Query gives the quality of a portal as a table: ?metric ?label ?dimension ?mean ?datasets. Without a portal, a line for
// each portal and metric, with ?portal.
func Query(m ns.Mint, portal string) string {
	if portal == "" {
		return `PREFIX dqv: <http://www.w3.org/ns/dqv#>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
SELECT ?portal ?metric ?mean {
  GRAPH ?g { ?portal a dcat:Catalog }
  GRAPH ?q { ?measurement dqv:computedOn ?portal ; dqv:isMeasurementOf ?metric ; dqv:value ?mean }
} ORDER BY ?portal ?metric`
	}
	return fmt.Sprintf(`PREFIX dqv: <http://www.w3.org/ns/dqv#>
SELECT ?metric (AVG(?value) AS ?mean) (COUNT(?value) AS ?datasets) {
  GRAPH <%s> {
    ?measurement dqv:isMeasurementOf ?metric ; dqv:computedOn ?dataset ; dqv:value ?value
    FILTER (?dataset != <%s>)
  }
} GROUP BY ?metric ORDER BY ?metric`, Graph(m, portal), portal)
}
