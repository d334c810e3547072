package vocab

// DQVNS is the namespace of the terms.
const DQVNS = "http://www.w3.org/ns/dqv#"

const (
	DQVQualityMeasurement    = DQVNS + "QualityMeasurement"
	DQVMetric                = DQVNS + "Metric"
	DQVDimension             = DQVNS + "Dimension"
	DQVCategory              = DQVNS + "Category"
	DQVHasQualityMeasurement = DQVNS + "hasQualityMeasurement"
	DQVIsMeasurementOf       = DQVNS + "isMeasurementOf"
	DQVComputedOn            = DQVNS + "computedOn"
	DQVValue                 = DQVNS + "value"
)
