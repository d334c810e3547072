package vocab

// SPDXNS is the namespace of the terms.
const SPDXNS = "http://spdx.org/rdf/terms#"

const (
	SPDXChecksum        = SPDXNS + "Checksum"
	SPDXChecksumProp    = SPDXNS + "checksum"
	SPDXAlgorithm       = SPDXNS + "algorithm"
	SPDXChecksumValue   = SPDXNS + "checksumValue"
	SPDXAlgorithmSHA256 = SPDXNS + "checksumAlgorithm_sha256"
)
