package listen

const (
	defaultFiles   = 1024
	ownFiles       = 1024  // that the archive and the crawl need
	maxConnections = 16384 // each idle one takes about 15 KB
)

// MaxConnections returns how many connections a server may have, such that a good part of the files that this process
// may open is left for the archive.
func MaxConnections() int { return connectionsOf(openFiles()) }

func connectionsOf(files int) int {
	return max(16, min(max(files-max(ownFiles, files/4), files/4), maxConnections))
}
