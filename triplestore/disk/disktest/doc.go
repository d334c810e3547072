// Package disktest has the file systems for tests of what is written to disk.
//
// Errors passes everything on to another file system, and the n-th operation fails. Crash keeps everything in memory and
// knows what is durable: Crash.Crash returns what a power failure leaves of it. Both together show what a program makes of
// a disk that fails, and whether what it acknowledged was true:
//
//	power := disktest.NewCrash(seed)
//	faults := disktest.NewErrors(power)
//	faults.FailAt(20, syscall.EIO)
//	// write to faults; then open again on power.Crash() and compare with what was acknowledged
//
// The same seed and the same operations in the same order leave the same bytes.
package disktest
