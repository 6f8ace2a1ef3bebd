//go:build !race

package snapshot

const raceFactor = 1
