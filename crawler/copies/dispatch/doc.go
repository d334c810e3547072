// Package dispatch lets other processes make the fetching half of visits: workers.
//
// One process, the writer, has the archive and its frontier. Its Desk leases hosts to workers, and commits what they
// found. A Worker asks the Desk for leases, has a Visitor make the visits, and sends the results. They speak over NATS:
// leases by request and reply, since they live in the writer's memory; results through a JetStream work queue, from
// which they are removed when they are committed. FORMAT.md describes the messages.
//
// Promises: A worker counts a lease from when it asked for it, by its own clock, and makes no request under one that
// has ended. The Desk counts the same lease from when it granted it, which was later; until that is over, or the worker
// has returned the host, nobody else asks the host. So there are never two requests to one host at a time, whichever
// process stops, dies, or loses the network. A result of a lease that has ended is refused. A result that is delivered
// twice is committed once. What a worker sends is checked before it is used.
//
// The package does not fetch, examine or store. It is the only one that knows NATS.
package dispatch
