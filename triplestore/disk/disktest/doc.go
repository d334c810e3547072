// Package disktest has file systems for tests: one whose n-th operation fails, and one in memory that loses what was not
// synced when it crashes.
package disktest
