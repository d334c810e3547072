package fields

import "fmt"

// OtherFormat returns the error of a reader that meets a format which it does not read.
func OtherFormat(what string, its, read uint64) error {
	return fmt.Errorf(
		"%s has format %d, and this program reads format %d: use the program that wrote it, or export with that one and import here", what,
		its, read)
}
