//go:build !race

package pgsink

const raceEnabled = false
