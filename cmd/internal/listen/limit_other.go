//go:build !unix

package listen

func openFiles() int { return defaultFiles }
