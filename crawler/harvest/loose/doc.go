// Package loose reads JSON and XML as portals write them.
package loose
