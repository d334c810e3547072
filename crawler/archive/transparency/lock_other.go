//go:build !unix

package transparency

// lock does nothing: this system has no advisory locks that end with their process.
func lock(string) (unlock func(), err error) { return func() {}, nil }
