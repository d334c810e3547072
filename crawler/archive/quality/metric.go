// Package quality measures the quality of dataset metadata, in the dimensions of Neumaier, Umbrich and Polleres,
// "Automated Quality Assessment of Metadata across Open Data Portals" (JDIQ 8(1), 2016): whether information exists,
// whether it conforms to what it should be, whether it is true of the files, and whether the data can be retrieved and
// used.
//
// Measure is a pure function of the DCAT statements about one dataset and of what the archive knows of its files, so it
// works for every kind of source. Every value is between 0 and 1. A metric that does not apply (whether dates conform,
// if there are none) has no value, so that nothing counts twice.
//
// A Keeper measures portals: it writes a dqv:QualityMeasurement for each dataset, and the means for the portal, into a
// graph next to the portal's own, where values changed. It fetches nothing.
package quality

import "odarchive/vocab"

// Metric is one metric. Its IRI is documented in the archive's own vocabulary.
type Metric struct {
	Name      string // local name of the IRI
	Dimension string // local name of the dimension's IRI
	Label     string
}

// IRI returns the IRI of the metric.
func (m Metric) IRI() string { return vocab.ArcNS + m.Name }

// The metrics, in the order of the paper.
var (
	ExistenceAccess       = Metric{"ExistenceAccess", "Existence", "access information"}
	ExistenceDiscovery    = Metric{"ExistenceDiscovery", "Existence", "discovery information"}
	ExistenceContact      = Metric{"ExistenceContact", "Existence", "contact information"}
	ExistenceRights       = Metric{"ExistenceRights", "Existence", "rights information"}
	ExistencePreservation = Metric{"ExistencePreservation", "Existence", "preservation information"}
	ExistenceDate         = Metric{"ExistenceDate", "Existence", "date information"}
	ExistenceTemporal     = Metric{"ExistenceTemporal", "Existence", "temporal information"}
	ExistenceSpatial      = Metric{"ExistenceSpatial", "Existence", "spatial information"}

	ConformanceAccess  = Metric{"ConformanceAccess", "Conformance", "addresses are URLs"}
	ConformanceEmail   = Metric{"ConformanceEmail", "Conformance", "contact e-mail is an address"}
	ConformanceURL     = Metric{"ConformanceURL", "Conformance", "contact address is a URL"}
	ConformanceDate    = Metric{"ConformanceDate", "Conformance", "dates are dates"}
	ConformanceLicense = Metric{"ConformanceLicense", "Conformance", "licence is a known one"}
	ConformanceFormat  = Metric{"ConformanceFormat", "Conformance", "formats are known"}

	RetrievabilityDataset      = Metric{"RetrievabilityDataset", "Retrievability", "dataset's page can be had"}
	RetrievabilityDistribution = Metric{"RetrievabilityDistribution", "Retrievability", "files can be had"}

	AccuracyFormat = Metric{"AccuracyFormat", "Accuracy", "declared format is the file's"}
	AccuracySize   = Metric{"AccuracySize", "Accuracy", "declared size is the file's"}

	OpennessFormat          = Metric{"OpennessFormat", "Openness", "formats are open"}
	OpennessMachineReadable = Metric{"OpennessMachineReadable", "Openness", "formats are machine-readable"}
	OpennessLicense         = Metric{"OpennessLicense", "Openness", "licence is open"}
)

// Metrics returns all metrics.
func Metrics() []Metric {
	return []Metric{
		ExistenceAccess, ExistenceDiscovery, ExistenceContact, ExistenceRights, ExistencePreservation, ExistenceDate, ExistenceTemporal,
		ExistenceSpatial,
		ConformanceAccess, ConformanceEmail, ConformanceURL, ConformanceDate, ConformanceLicense, ConformanceFormat,
		RetrievabilityDataset, RetrievabilityDistribution, AccuracyFormat, AccuracySize,
		OpennessFormat, OpennessMachineReadable, OpennessLicense,
	}
}

// Measurement is one value, from 0 to 1.
type Measurement struct {
	Metric Metric
	Value  float64
}
