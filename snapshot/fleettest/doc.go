// Package fleettest is the proof that the totals of a fleet are exact, whatever
// happens to its processes, to the store and to what is between them. It has tests
// and benchmarks only, and is no part of any program.
//
// They start servers of their own, of Debian's redis-server, postgresql and
// nats-server, on free ports of loopback, and skip what is not installed:
//
//	go test ./snapshot/fleettest                          a minute in all
//	go test ./snapshot/fleettest -run TestKill -chaos 1m -v
//	go test ./snapshot/fleettest -run TestOutage -outage 10m -v
//	go test ./snapshot/fleettest -run '^$' -bench Flush -benchtime 1x -samples 6
//	go test ./snapshot/fleettest -run '^$' -bench AddBeside -benchtime 1x -samples 6
//
// # What TestKillUnderChaos shows
//
// Eight processes count streams that are known in advance: counters with and
// without labels, up and down, and distinct elements. Each has a directory of its
// own and exports through a proxy that loses requests and answers, delays them,
// repeats them where the protocol allows, and cuts connections. Processes are
// killed at any moment and started again from their directories; the server is
// stopped, killed and started again.
//
// A process writes down how far its stream has got before it counts, and how far
// it had got when a Flush returned nil. So of each run that was killed, each
// series of the directory must be a sum over the beginning of the stream that is
// no shorter than what was flushed and no longer than what was begun. In the end
// all processes are started once more and closed, and then the fleet's totals must
// be the sums of those values, series by series, and its sketches those of the
// streams' elements, register for register.
//
// An exporter writes to the directory and to the store side by side, so of a
// process that is killed either may have the newer snapshot. Here the store gets
// each snapshot after the directory: what the directory holds is then what the
// fleet has to hold, and not at least that.
package fleettest
