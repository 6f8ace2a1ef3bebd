// Package hll counts distinct elements, such as visitors, in little memory and
// from any number of goroutines.
package hll
