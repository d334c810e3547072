package fetch

import "odarchive/crawler/address"

// FileName returns the name of a file that was fetched elsewhere, as Exchange.FileName has it: from Content-Disposition
// or the URL.
func FileName(disposition string, u address.URL) string { return fileName(disposition, u) }
