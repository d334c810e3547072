// Package disktest provides file systems and frames for tests of what is written to disk.
//
// Errors passes operations on to another file system and makes the n-th fail. Crash keeps files in memory and knows
// what is durable: Crash.Crash returns what a power failure leaves. Together they show how a program handles a failing
// disk, and whether what it acknowledged is durable:
//
//	power := disktest.NewCrash(seed)
//	faults := disktest.NewErrors(power)
//	faults.FailAt(20, syscall.EIO)
//	// write to faults; then reopen on power.Crash() and compare with what was acknowledged
//
// The same seed and the same operations in the same order leave the same bytes. RunModels is the frame of model tests.
package disktest
