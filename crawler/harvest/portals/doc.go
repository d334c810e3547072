// Package portals harvests the software of portals that has a JSON interface of its own: one file each.
package portals
