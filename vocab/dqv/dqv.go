// Package dqv names the terms of Data Quality Vocabulary that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package dqv

// NS is the namespace; every other constant is a term in it.
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
	InDimension           = NS + "inDimension"
	InCategory            = NS + "inCategory"
	ExpectedDataType      = NS + "expectedDataType"
)
