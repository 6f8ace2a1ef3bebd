//go:build race

package main

// slow: the race detector makes a trial ten times as long, and a program of one
// goroutine has no race.
const slow = true
