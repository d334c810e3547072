// Package operate takes the orders of operators over HTTP, and records who gave them.
package operate
