// Package dqv defines the terms of the Data Quality Vocabulary that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package dqv

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/dqv#"

const (
	QualityMeasurement    = NS + "QualityMeasurement"
	Metric                = NS + "Metric"
	Dimension             = NS + "Dimension"
	Category              = NS + "Category"
	HasQualityMeasurement = NS + "hasQualityMeasurement"
	IsMeasurementOf       = NS + "isMeasurementOf"
	ComputedOn            = NS + "computedOn"
	Value                 = NS + "value"
)
